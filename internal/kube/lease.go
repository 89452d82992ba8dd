package kube

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	// leaseDuration is the life of a lease after its last renewal, renewEvery the interval of
	// renewals. Half a minute without the API server, as during its upgrade, must not cost an
	// operation its lease.
	leaseDuration = 60 * time.Second
	renewEvery    = 5 * time.Second
	// answerTimeout bounds the wait for the answer to a cancelled acquisition: a Lease that was
	// created unnoticed would block others for leaseDuration.
	answerTimeout = time.Second
	// leaseMargin is the part of leaseDuration by which a holder that cannot renew stops before
	// another may begin. It is also the tolerated difference of clocks.
	leaseMargin = 5 * time.Second
	// expirySlack is added to the expiry in a *vnfm.BusyError: the server's clock comes from the
	// Date header, which has whole seconds.
	expirySlack = 2 * time.Second
)

// leaseMark begins the part of a holder's identity that AcquireLease appends.
const leaseMark = " lease="

// acquisitions are the marks of the leases that this process acquires or holds. A Lease of this
// process with another mark is stale: a busy API server did not get its deletion.
var acquisitions sync.Map

// holderGone reports whether the holder of a Lease is known to have ended.
func holderGone(identity string) bool {
	name, mark, _ := strings.Cut(identity, leaseMark)
	if name == process.Name() {
		_, held := acquisitions.Load(mark)
		return !held
	}
	return process.Dead(name)
}

var leaseResource = Resource{
	GVK:        schema.GroupVersionKind{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"},
	GVR:        schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"},
	Namespaced: true,
}

// AcquireLease takes the Lease of the given name for holder (see process.Name) and renews it in the
// background until release, which deletes it. The end of ctx does not end the lease.
//
// A *vnfm.BusyError means that a live holder has the lease: another process, or another caller with
// the same holder. A holder loses the lease at once if its process is known to be dead on this
// machine, or if it has ended in this process. Any other holder loses it after 60 seconds without
// renewal, by the clock of the API server. The channel is closed when the lease could not be
// renewed in time or was taken: the work must stop. Missing rights are an error for which
// apierrors.IsForbidden is true, a missing namespace one for which apierrors.IsNotFound is.
func (c *Client) AcquireLease(
	ctx context.Context, namespace, name, holder string, labels map[string]string,
) (release func(context.Context) error, lost <-chan struct{}, err error) {
	ref := Ref{Resource: leaseResource, Namespace: namespace, Name: name}
	// The mark distinguishes this acquisition from others of the same process.
	random := make([]byte, 8)
	if _, err := rand.Read(random); err != nil {
		return nil, nil, fmt.Errorf("acquiring %s: %w", ref, err)
	}
	mark := hex.EncodeToString(random)
	acquisitions.Store(mark, nil)
	defer func() {
		if release == nil {
			acquisitions.Delete(mark)
		}
	}()
	holder += leaseMark + mark
	acquiring, cancel := outliving(ctx, answerTimeout)
	defer cancel()
	// Two rounds more than needed: another process may take or release the lease in between.
	for range 4 {
		var lease *coordinationv1.Lease
		lease, err = c.tryLease(acquiring, ref, holder, labels)
		if ctx.Err() != nil {
			if err == nil {
				// A Lease whose deletion fails expires by itself.
				err = c.deleteLease(acquiring, ref, lease)
			}
			return nil, nil, errors.Join(fmt.Errorf("acquiring %s: %w", ref, ctx.Err()), err)
		}
		if err == nil {
			k := c.keepLease(ctx, ref, holder, lease)
			return func(ctx context.Context) error {
				defer acquisitions.Delete(mark)
				return k.release(ctx)
			}, k.lost, nil
		}
		if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			return nil, nil, err
		}
	}
	return nil, nil, err
}

// outliving returns a context that ends one grace period after ctx.
func outliving(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		_ = poll.Sleep(longer, grace)
		cancel()
	})
	return longer, func() { stop(); cancel() }
}

// tryLease creates the lease or takes it over from a dead holder. A conflict means that the lease
// has changed since it was read. The lease is created without reading it first, because it rarely
// exists.
func (c *Client) tryLease(ctx context.Context, ref Ref, holder string, labels map[string]string) (*coordinationv1.Lease, error) {
	clockKnown := c.answered.Load()
	lease, err := c.createLease(ctx, ref, holder, labels)
	if err == nil && !clockKnown {
		return c.correctLease(ctx, ref, lease)
	}
	if !apierrors.IsAlreadyExists(err) {
		return lease, err
	}
	lease, err = c.readLease(ctx, ref)
	if apierrors.IsNotFound(err) {
		return c.createLease(ctx, ref, holder, labels)
	}
	if err != nil {
		return nil, err
	}
	if owner := leaseHolder(lease); owner != "" && owner != holder && !holderGone(owner) && !c.leaseExpired(lease) {
		owner, _, _ = strings.Cut(owner, leaseMark)
		return nil, &vnfm.BusyError{
			Object: ref.String(), Holder: process.Describe(owner), Since: leaseSince(lease), Runs: process.Runs(owner),
			Renewed: lease.Spec.RenewTime.Time, Expires: time.Now().Add(lease.Spec.RenewTime.Add(durationOf(lease)).Sub(c.serverNow()) + expirySlack),
		}
	}
	if lease.Labels == nil {
		lease.Labels = map[string]string{}
	}
	maps.Copy(lease.Labels, labels)
	c.fillLease(lease, holder)
	return c.writeLease(ctx, ref, http.MethodPut, lease)
}

func (c *Client) createLease(ctx context.Context, ref Ref, holder string, labels map[string]string) (*coordinationv1.Lease, error) {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: ref.Namespace, Name: ref.Name, Labels: labels}}
	c.fillLease(lease, holder)
	return c.writeLease(ctx, ref, http.MethodPost, lease)
}

func (c *Client) fillLease(lease *coordinationv1.Lease, holder string) {
	now := metav1.NewMicroTime(c.serverNow())
	seconds := int32(leaseDuration / time.Second)
	transitions := int32(0)
	if lease.Spec.LeaseTransitions != nil {
		transitions = *lease.Spec.LeaseTransitions + 1
	}
	lease.Spec.HolderIdentity = &holder
	lease.Spec.LeaseDurationSeconds = &seconds
	lease.Spec.AcquireTime = &now
	lease.Spec.RenewTime = &now
	lease.Spec.LeaseTransitions = &transitions
}

// correctLease writes the server's time into a lease that was created before the server's clock was
// known, if the clocks differ: other processes could take the lease for an expired one. A process
// that has already done so keeps the lease, and the error is a conflict.
func (c *Client) correctLease(ctx context.Context, ref Ref, lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	now := metav1.NewMicroTime(c.serverNow())
	if now.Sub(lease.Spec.RenewTime.Time).Abs() <= leaseMargin {
		return lease, nil
	}
	lease.Spec.AcquireTime, lease.Spec.RenewTime = &now, &now
	corrected, err := c.writeLease(ctx, ref, http.MethodPut, lease)
	if apierrors.IsNotFound(err) {
		// Another process took the lease and has released it since.
		return nil, apierrors.NewConflict(ref.Resource.GVR.GroupResource(), ref.Name, err)
	}
	return corrected, err
}

func leaseHolder(l *coordinationv1.Lease) string {
	if l.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.Spec.HolderIdentity
}

func leaseSince(l *coordinationv1.Lease) time.Time {
	if l.Spec.AcquireTime != nil {
		return l.Spec.AcquireTime.Time
	}
	return l.CreationTimestamp.Time
}

func (c *Client) leaseExpired(l *coordinationv1.Lease) bool {
	return l.Spec.RenewTime == nil || c.serverNow().After(l.Spec.RenewTime.Add(durationOf(l)))
}

func durationOf(l *coordinationv1.Lease) time.Duration {
	if l.Spec.LeaseDurationSeconds == nil {
		return leaseDuration
	}
	return time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second
}

func (c *Client) readLease(ctx context.Context, ref Ref) (*coordinationv1.Lease, error) {
	return read(ctx, c, ref, decodeLease)
}

func (c *Client) writeLease(ctx context.Context, ref Ref, method string, lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	lease.TypeMeta = metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"}
	lease.ManagedFields = nil
	body, err := json.Marshal(lease)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", ref, err)
	}
	path := ref.Resource.collectionPath(ref.Namespace)
	if method != http.MethodPost {
		if path, err = ref.path(""); err != nil {
			return nil, err
		}
	}
	res, err := c.do(ctx, request{
		doing: "writing", object: ref.String(), method: method, path: path,
		query: url.Values{"fieldManager": {FieldManager}}, contentType: jsonType, body: body,
	})
	if err != nil {
		return nil, err
	}
	return decodeLease(ref, res.body)
}

func decodeLease(ref Ref, body []byte) (*coordinationv1.Lease, error) {
	lease := &coordinationv1.Lease{}
	if err := json.Unmarshal(body, lease); err != nil {
		return nil, fmt.Errorf("reading the answer for %s: %w", ref, err)
	}
	return lease, nil
}

// leaseKeeper renews one lease.
type leaseKeeper struct {
	client *Client
	ref    Ref
	holder string
	lost   chan struct{}
	stop   context.CancelFunc
	ended  chan struct{}

	mu    sync.Mutex
	lease *coordinationv1.Lease
}

func (c *Client) keepLease(ctx context.Context, ref Ref, holder string, lease *coordinationv1.Lease) *leaseKeeper {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	k := &leaseKeeper{client: c, ref: ref, holder: holder, lease: lease, lost: make(chan struct{}), stop: stop, ended: make(chan struct{})}
	go k.run(background)
	return k
}

func (k *leaseKeeper) run(ctx context.Context) {
	defer close(k.ended)
	renewed := time.Now()
	next := renewEvery
	for {
		if poll.Sleep(ctx, next) != nil {
			return
		}
		deadline := renewed.Add(leaseDuration - leaseMargin)
		begun := time.Now()
		err := k.renew(ctx, deadline)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			renewed, next = begun, renewEvery
			if k.mistimed(begun) {
				// Not at once: the clocks of several API servers may differ.
				next = time.Second
			}
		case errors.Is(err, errLeaseTaken), !time.Now().Before(deadline):
			close(k.lost)
			return
		default:
			next = min(time.Second, time.Until(deadline))
		}
	}
}

// mistimed reports whether the renewal that began at that time wrote another time than the
// server's, because the local clock was set after the previous answer. Others would take such a
// lease for an expired one, or wait too long. The answer to the renewal has corrected the known
// difference of the clocks.
func (k *leaseKeeper) mistimed(begun time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	wrote := k.lease.Spec.RenewTime
	if wrote == nil {
		return true
	}
	off := k.client.serverNow().Sub(wrote.Time) - time.Since(begun)
	return off.Abs() > leaseMargin
}

// errLeaseTaken means that another process holds the lease, or that the lease was deleted.
var errLeaseTaken = errors.New("another process took the lease")

// renew writes a new time. After a conflict, for example with a change of labels, it reads the
// lease and tries once more.
func (k *leaseKeeper) renew(ctx context.Context, deadline time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	k.mu.Lock()
	defer k.mu.Unlock()
	now := metav1.NewMicroTime(k.client.serverNow())
	k.lease.Spec.RenewTime = &now
	lease, err := k.client.writeLease(ctx, k.ref, http.MethodPut, k.lease)
	switch {
	case err == nil:
		k.lease = lease
		return nil
	case apierrors.IsNotFound(err):
		return errLeaseTaken
	case !apierrors.IsConflict(err):
		return err
	}
	if lease, err = k.client.readLease(ctx, k.ref); err != nil {
		if apierrors.IsNotFound(err) {
			return errLeaseTaken
		}
		return err
	}
	if leaseHolder(lease) != k.holder {
		return errLeaseTaken
	}
	lease.Spec.RenewTime = &now
	if lease, err = k.client.writeLease(ctx, k.ref, http.MethodPut, lease); err != nil {
		return err
	}
	k.lease = lease
	return nil
}

// release ends the renewals and deletes the lease, unless another process holds it. It can be
// called again.
func (k *leaseKeeper) release(ctx context.Context) error {
	k.stop()
	<-k.ended
	err := k.client.deleteLease(ctx, k.ref, k.lease)
	if !apierrors.IsConflict(err) {
		return err
	}
	// The lease has changed since the last renewal: another process took it, or a client only
	// labelled it.
	lease, err := k.client.readLease(ctx, k.ref)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case leaseHolder(lease) != k.holder:
		return nil
	}
	if err := k.client.deleteLease(ctx, k.ref, lease); !apierrors.IsConflict(err) {
		return err
	}
	return nil
}

// deleteLease deletes a lease in the state that was last read or written. The resource version
// protects a lease that another process took in between, which is a conflict. A missing lease is
// success.
func (c *Client) deleteLease(ctx context.Context, ref Ref, lease *coordinationv1.Lease) error {
	path, err := ref.path("")
	if err != nil {
		return err
	}
	body, err := json.Marshal(metav1.DeleteOptions{
		TypeMeta:      metav1.TypeMeta{Kind: "DeleteOptions", APIVersion: "v1"},
		Preconditions: &metav1.Preconditions{UID: &lease.UID, ResourceVersion: &lease.ResourceVersion},
	})
	if err != nil {
		return fmt.Errorf("encoding the deletion of %s: %w", ref, err)
	}
	_, err = c.do(ctx, request{doing: "deleting", object: ref.String(), method: http.MethodDelete, path: path, contentType: jsonType, body: body})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
