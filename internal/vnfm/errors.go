package vnfm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ErrNotFound is what errors.Is finds in every NotFoundError.
var ErrNotFound = errors.New("not found")

// NotFoundError says that the store has no record of an object.
type NotFoundError struct {
	// Kind is "VIM", "VNF package", "VNF instance", ...
	Kind string
	ID   string
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("%s %q is not in the store", e.Kind, e.ID)
}

// Is makes errors.Is(err, ErrNotFound) true.
func (e *NotFoundError) Is(target error) bool { return target == ErrNotFound }

// ErrCredentials is what errors.Is finds where a VIM answered and refused the credentials.
var ErrCredentials = errors.New("the credentials were refused")

// IsMissing reports whether an error says that the store has no record of an id.
func IsMissing(err error, id string) bool {
	var missing *NotFoundError
	return errors.As(err, &missing) && missing.ID == id
}

// ErrKeyLost is the error of a DigestKey where a VIM has digests of an instance and not, or not
// for this user, the key that they were made with: they cannot be compared.
var ErrKeyLost = errors.New("the key of the digests cannot be read")

// ErrUnopened is what errors.Is finds where secrets or contents of the store do not open: their key is lost, or they are not as they
// were sealed.
var ErrUnopened = errors.New("what the store has sealed cannot be opened")

// EditedError says that the clear part of a record is not the one that its secrets were
// sealed with: somebody who may write the store and has no key has edited it.
type EditedError struct {
	// Doing is what was tried.
	Doing string
	// Fields are the paths in the record that differ.
	Fields []string
	Record EditedRecord
}

// EditedRecord says which secrets of which record an EditedError is about.
type EditedRecord string

const (
	// EditedVIM is a VIM with its credentials.
	EditedVIM EditedRecord = "VIM"
	// EditedRegistry is a private registry with its credentials.
	EditedRegistry EditedRecord = "private registry"
	// EditedInstance is an instance with its additional parameters.
	EditedInstance EditedRecord = "VNF instance"
	// EditedHostKeys is a record whose keys of hosts were forgotten, since they cannot be trusted.
	EditedHostKeys EditedRecord = "keys of hosts"
)

func (e *EditedError) Error() string {
	are := "is"
	if len(e.Fields) > 1 {
		are = "are"
	}
	text := fmt.Sprintf("%s: the record was edited in the store: %s %s not what the secrets were sealed for; the secrets were not sent",
		e.Doing, strings.Join(e.Fields, ", "), are)
	switch {
	case e.Record == EditedHostKeys:
		text += "; the pinned host keys were dropped"
	case e.Record == EditedVIM && slices.ContainsFunc(e.Fields, usesMachine):
		text += ", and nothing on this machine was read or run"
	}
	return text
}

// usesMachine reports whether a field of the record of a VIM is about files or programs of this
// machine.
func usesMachine(field string) bool {
	rest, ok := strings.CutPrefix(field, string(VIMTypeKubernetes)+".")
	name, _, _ := strings.Cut(rest, ".")
	return ok && slices.Contains([]string{ArgumentTokenFile, ArgumentExec, ArgumentKubeconfigPath, ArgumentInCluster}, name)
}

// InUseError says that an object cannot be removed because others need it.
type InUseError struct {
	Kind string
	Name string
	By   []string
}

func (e *InUseError) Error() string {
	return fmt.Sprintf("%s %q is in use by %s", e.Kind, e.Name, strings.Join(e.By, ", "))
}

// StrandedError says that an instance is not terminated, since only its VNFCs process the
// finalizers of objects that others own: these could never be deleted.
type StrandedError struct {
	Instance string
	Objects  []string
}

func (e *StrandedError) Error() string {
	const most = 5
	objects := strings.Join(e.Objects[:min(most, len(e.Objects))], ", ")
	if more := len(e.Objects) - most; more > 0 {
		objects += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("nothing was removed: objects of kinds that VNF instance %q defines, and that only its own VNFCs can remove, still exist: %s; "+
		"delete them first, then terminate", e.Instance, objects)
}

// RolledBackError says that a creation failed and that OnFailureRollback has removed what it
// had made.
type RolledBackError struct{ Err error }

func (e *RolledBackError) Error() string {
	return fmt.Sprintf("%v; everything that was created has been removed", e.Err)
}

func (e *RolledBackError) Unwrap() error { return e.Err }

// ConflictError says that the name or an object belongs to somebody else.
type ConflictError struct {
	// Object is what was tried to make, Owner whose it is.
	Object string
	Owner  string
	// OwnerID is the id of the VNF instance whose it is; empty for none.
	OwnerID string
	Detail  string
}

func (e *ConflictError) Error() string {
	msg := e.Object + " belongs to " + e.Owner
	if e.Detail != "" {
		msg += ": " + e.Detail
	}
	return msg
}

// BusyError says that another process works on the same object.
type BusyError struct {
	Object string
	Holder string
	// Doing is the operation that runs on the object; empty when it is not known.
	Doing OperationType
	Since time.Time
	// Runs is set when the holder is known to be alive: it runs on this machine.
	Runs bool
	// Renewed is the last sign of life of the holder, and Expires when the lock ends without another one, by the clock of this
	// machine. Both are zero when they are not known.
	Renewed, Expires time.Time
}

func (e *BusyError) Error() string {
	text := fmt.Sprintf("%s has been locked by %s since %s", e.Object, e.Holder, e.Since.UTC().Format(time.RFC3339))
	if e.Doing != "" {
		text += ": " + string(e.Doing) + " is in progress"
	}
	return text
}

// CancelledError says that somebody has cancelled an operation from outside of its process.
type CancelledError struct {
	// By says who: "alice on host build-7 (process 4711)".
	By string
}

func (e *CancelledError) Error() string {
	return "the operation was cancelled by " + e.By + "; what was done stays, and the next apply goes on with it"
}

// Interrupted reports whether an error says that somebody wanted the work to stop, in its own run or from outside.
func Interrupted(err error) bool {
	return errors.Is(err, context.Canceled) || errors.As(err, new(*CancelledError))
}

// LeaseLostError says that the right to work on an object was lost: this process was
// stopped for too long, or could not renew its lease in time. It ends the work as it is;
// nothing of it is taken back, for the object may be in the hands of another process.
type LeaseLostError struct {
	Object string
	// Holder is who has had the lease since; empty when it is not known.
	Holder string
	// Cause is that the store does not answer; nil where that is not why.
	Cause error
}

func (e *LeaseLostError) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("stopped the work on %s, because %v; nothing was written after that", e.Object, e.Cause)
	}
	if e.Holder == "" {
		return fmt.Sprintf("lost the lease of %s: it could not be renewed in time, or another process took over; nothing was written after that", e.Object)
	}
	return fmt.Sprintf("lost the lease of %s to %s: nothing was written after that", e.Object, e.Holder)
}

// Peer says in errors whom a client speaks to, and where that is configured.
type Peer struct {
	Name, Settings string
}

// VIMPeer is the peer of the client of a VIM, whose connection is in its resource or comes with the run.
func VIMPeer(vim string, perRun bool) Peer {
	p := Peer{Name: fmt.Sprintf("VIM %q", vim), Settings: "its vnf_vim resource"}
	if perRun {
		p.Settings = PerRunSettings
	}
	return p
}

// UnreachableError says that a VIM did not answer, or whatever else Peer names.
type UnreachableError struct {
	VIM  string
	Peer string
	Err  error
}

func (e *UnreachableError) Error() string {
	if e.Peer != "" {
		return fmt.Sprintf("%s cannot be reached: %v", e.Peer, e.Err)
	}
	return fmt.Sprintf("VIM %q cannot be reached: %v", e.VIM, e.Err)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// ExpiredError says that the credentials of a workload cluster were valid once.
type ExpiredError struct {
	// Cluster is "<namespace>/<name>" on its management cluster.
	Cluster string
	At      time.Time
}

func (e *ExpiredError) Error() string {
	return fmt.Sprintf("the client certificate in the kubeconfig of workload cluster %s expired at %s", e.Cluster, e.At.UTC().Format(time.RFC3339))
}

// OperationError says that an LCM operation stopped. Instance is what exists; it
// is nil when nothing does.
type OperationError struct {
	Operation Operation
	Instance  *Instance
	Err       error
}

func (e *OperationError) Error() string {
	noun, name := nounOf(nil), e.Operation.InstanceID
	if e.Instance != nil {
		noun, name = e.Instance.Noun(), e.Instance.Name
	}
	return fmt.Sprintf("%s of %s %q is %s: %v", e.Operation.Type, noun, name, e.Operation.State, e.Err)
}

func (e *OperationError) Unwrap() error { return e.Err }
