// Package kubernetes keeps the store in one namespace of a Kubernetes cluster: records and
// contents as Secrets, leases as Lease objects. It has no server of its own and no custom
// kinds; whoever may work with Secrets and Leases of the namespace can use it.
//
// # Objects
//
//	vnf-store                   format of the store, and the release that wrote it
//	vnf-<kind>-<hash>           a record; the hash is that of its id
//	vnf-store-key-<hash>        a natural key; it names the id of the record that has it
//	vnf-store-content-<hash>    a content of one chunk, or the manifest of several
//	vnf-store-chunk-<hash>-…    a chunk of a content
//	vnf-lease-<hash>            a Lease
//
// Annotations have the plain kind, id, key, owner, revision and times; labels have what is
// selected by. Other objects of the namespace are not looked at.
//
// # Writes
//
// The API server has no transactions over several objects. It has conditions: a PUT, PATCH or
// DELETE names the resource version that it is for, and is refused when the object has changed
// since. Everything below is made of that. Whoever writes knows the resource version of the
// object first, makes sure of everything else, and writes then; whoever takes something away
// from somebody changes the object that the other one would write to. So a process that was
// stopped before its last request, for however long, is refused.
//
// A record with a natural key, or one that is created under a lease, is first made as
// pending, which nobody sees. A natural key is reserved by a write of its own Secret, and the
// record is committed by a PUT that takes the mark off. A reservation whose record is missing,
// pending for too long, or has another key is taken over, after a change to that record.
//
// A record that is written under a lease carries a label with the hash of the lease's name.
// Who takes a lease that was not given back cleanly changes all objects with that label and
// deletes the pending ones among them before Acquire returns: a write of the former holder
// comes before that, or is refused, whereupon it looks at the Lease and learns that it is lost.
//
// Each write carries a random mark. When its answer is lost and it is sent again, the conflict
// that follows is recognised as the own success by that mark.
//
// # Leases
//
// The clocks of two machines may be hours apart. A lease expires when somebody else has seen
// it unchanged for its whole duration, by a clock that only counts on. Its times only spare
// that wait: a holder that has renewed just now, by the own clock, is taken for alive.
//
// A Lease that was seen free is taken for the resource version that was seen. When that goes, nobody
// has had it since, and what was read since is what is there under the lease.
package kubernetes
