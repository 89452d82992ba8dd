package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

const (
	// maxWhole is how many records a store has at most that is read as a whole, and maxSeen how many leases are seen with it.
	maxWhole = 100
	maxSeen  = 500
)

// allLeases is the name of a look at all leases.
const allLeases = ""

// ReadWhole returns all that a small store holds. With leases it sees first which of them are free: the server says nothing about the order of
// two answers.
func (s *kubeStore) ReadWhole(ctx context.Context, leases bool) (*store.Whole, error) {
	if leases {
		s.look(allLeases, func() { s.seeLeases(ctx) })
		s.mu.Lock()
		s.awaitLook(ctx, allLeases)
		s.mu.Unlock()
	}
	whole := &store.Whole{At: time.Now(), Leases: leases}
	var err error
	whole.Records, err = s.list(ctx, store.Query{}, maxWhole)
	if errors.Is(err, kube.ErrMore) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return whole, nil
}

// seeLeases sees which leases are free. Who may not list them looks at each.
func (s *kubeStore) seeLeases(ctx context.Context) {
	var free map[string]*coordinationv1.Lease
	var others map[string]bool
	reset := func() { free, others = map[string]*coordinationv1.Lease{}, map[string]bool{} }
	reset()
	err := s.reading(ctx, "listing leases", func(ctx context.Context) error {
		options := kube.ListOptions{LabelSelector: labelObject + "=" + objectLease, AtMost: maxSeen}
		return s.client.ListEach(ctx, leaseResource, s.namespace, options, func(raw json.RawMessage) error {
			var l coordinationv1.Lease
			if err := json.Unmarshal(raw, &l); err != nil {
				return err
			}
			if name := l.Annotations[annotationName]; identityOf(&l) == "" && s.checkFormat(&l.ObjectMeta) == nil {
				free[name] = &l
			} else {
				others[name] = true
			}
			return nil
		}, reset)
	})
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.seen.SeeAll(free, others, time.Now())
	}
}
