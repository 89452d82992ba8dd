// Package connect connects the nodes of clusters to private registries: it configures the container runtimes of a node (containerd,
// Docker, CRI-O, several at once) with the address of each registry, its CA and the login.
//
// Apply reads the files of a node, then merges connections into files that others write too. A record on the node lists our parts of
// them, so that later runs can change and remove connections. A service is restarted or reloaded only after a change that it does
// not read by itself. Endpoint checks from a host whether a registry answers.
package connect
