package kubernetes

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// passage is a write on its way through the fences of its context.
type passage struct {
	s      *kubeStore
	fences []store.Fence
	// held are the leases of this handle that the fences are of, nil where it has none.
	held []*lease
	// undecided is set by a request whose outcome is not known.
	undecided bool
}

// enter begins a write under the leases of ctx. Until leave, they are not given back as if all
// writes under them had ended.
func (s *kubeStore) enter(ctx context.Context) *passage {
	p := &passage{s: s, fences: store.Fences(ctx)}
	p.held = make([]*lease, len(p.fences))
	for _, l := range s.leases.All() {
		for i, f := range p.fences {
			if l.Fence() == f && l.begin() {
				p.held[i] = l
			}
		}
	}
	return p
}

// leave ends the write.
func (p *passage) leave() {
	for _, l := range p.held {
		if l != nil {
			l.end(p.undecided)
		}
	}
}

// note remembers that a request failed after which nobody knows whether it was carried out, or
// will be.
func (p *passage) note(err error) {
	if isUndecided(err) {
		p.undecided = true
	}
}

// labels are those of what is written under the leases.
func (p *passage) labels() map[string]string {
	labels := map[string]string{}
	for _, f := range p.fences {
		labels[leaseLabel(f.Lease)] = "true"
	}
	return labels
}

// foreseen are the labels of the leases under which what is made will be written later: it has them from the beginning.
func foreseen(ctx context.Context) map[string]string {
	labels := map[string]string{}
	for _, name := range store.Foreseen(ctx) {
		labels[leaseLabel(name)] = "true"
	}
	return labels
}

func leaseLabel(name string) string { return labelLease + hash(name) }

// label makes sure that an object carries the labels of the leases before it is written under
// them: who takes a lease changes what carries its label. The result is nil when the object
// has changed.
func (p *passage) label(ctx context.Context, m *meta) (*meta, error) {
	add := map[string]*string{}
	for name, value := range p.labels() {
		if m.leases[name] == "" {
			add[name] = &value
		}
	}
	if len(add) == 0 {
		return m, nil
	}
	if err := p.check(ctx, false); err != nil {
		return nil, err
	}
	ref := p.s.secret(m.name)
	o, err := p.s.client.ChangeMetadata(ctx, ref, m.resourceVersion, add, nil)
	switch {
	case apierrors.IsConflict(err), missing(err, ref):
		return nil, nil
	case err != nil:
		return nil, err
	}
	labelled := *m
	labelled.resourceVersion, labelled.leases = o.ResourceVersion, merged(m.leases, p.labels())
	return &labelled, nil
}

// check returns a *vnfm.LeaseLostError when a lease was acquired again. It is called when the
// resource version is known for which the write is: nobody acquires the lease after that
// without changing the object. A lease of this handle that was renewed just now cannot have
// been acquired; with ask, it is looked at all the same, because something has changed that
// nobody else should have.
func (p *passage) check(ctx context.Context, ask bool) error {
	for i, f := range p.fences {
		held := p.held[i]
		if held != nil && !ask && held.isFresh() {
			continue
		}
		if err := p.s.confirm(ctx, f, held != nil); err != nil {
			return err
		}
	}
	return nil
}

// verdict is the error of a write that failed: to whoever has lost a lease, that matters more
// than what the next holder has made of the records.
func (p *passage) verdict(ctx context.Context, err error) error {
	if len(p.fences) == 0 || !errors.Is(err, store.ErrStale) && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrExists) {
		return err
	}
	if lost, ok := errors.AsType[*vnfm.LeaseLostError](p.check(ctx, true)); ok {
		return lost
	}
	return err
}

// confirm looks whether a lease was acquired again. One that this handle does not hold, for it
// was given back, is marked as not given back cleanly: its next holder must reckon with this
// write.
func (s *kubeStore) confirm(ctx context.Context, f store.Fence, held bool) error {
	for {
		l, err := s.readLease(ctx, f.Lease)
		switch {
		case err != nil:
			return err
		case l == nil:
			return &vnfm.LeaseLostError{Object: f.Lease}
		case tokenOf(l) != f.Token:
			return &vnfm.LeaseLostError{Object: f.Lease, Holder: process.Describe(l.Annotations[annotationHolder])}
		case held || isUnclean(l):
			return nil
		}
		l.Annotations[annotationUnclean] = "true"
		_, err = s.writeLease(ctx, l)
		if !apierrors.IsConflict(err) && !missing(err, s.leaseRef(f.Lease)) {
			return err
		}
	}
}
