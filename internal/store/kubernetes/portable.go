package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

var _ store.Portable = (*kubeStore)(nil)

// importing is how many records are imported at once.
const importing = 8

// Contents returns the digests of all contents in ascending order.
func (s *kubeStore) Contents(ctx context.Context) ([]string, error) {
	const doing = "listing contents"
	if err := s.ready(ctx, doing, false); err != nil {
		return nil, err
	}
	list, err := s.client.ListMetadata(ctx, secretResource, s.namespace, kube.ListOptions{LabelSelector: labelObject + "=" + objectContent})
	if err != nil {
		return nil, s.explain(ctx, doing, err)
	}
	digests := make([]string, 0, len(list))
	for i := range list {
		digests = append(digests, list[i].Annotations[annotationDigest])
	}
	slices.Sort(digests)
	return digests, nil
}

// Import stores records as they are, several at a time, or returns store.ErrExists. List has them in the order of their creation.
func (s *kubeStore) Import(ctx context.Context, records ...store.Record) error {
	var group errgroup.Group
	group.SetLimit(importing)
	for _, r := range records {
		group.Go(func() error { return s.importRecord(ctx, r) })
	}
	return group.Wait()
}

func (s *kubeStore) importRecord(ctx context.Context, r store.Record) error {
	doing := fmt.Sprintf("importing %s %q", r.Kind, r.ID)
	m := &meta{
		name: recordName(r.Kind, r.ID), kind: r.Kind, id: r.ID, key: r.Key, revision: r.Revision, created: r.CreatedAt,
		mark: random(), maker: process.Name(),
	}
	if _, err := s.encode(&r, m); err != nil {
		return s.explain(ctx, doing, err)
	}
	if err := s.ready(ctx, doing, true); err != nil {
		return err
	}
	p := s.enter(ctx)
	defer p.leave()
	made, err := s.create(ctx, p, &r, m)
	if err != nil {
		return s.explain(ctx, doing, p.verdict(ctx, err))
	}
	s.learn(made)
	return nil
}

// HeldLeases returns who holds a lease and is not known to be dead. A lease that has expired by the own clock is looked at again after
// the time in which a holder that is alive renews it: clocks differ.
func (s *kubeStore) HeldLeases(ctx context.Context) ([]store.HeldError, error) {
	before, err := s.heldLeases(ctx)
	if err != nil {
		return nil, err
	}
	var held []store.HeldError
	doubtful := map[string]time.Time{}
	for name, l := range before {
		if s.looksAlive(l) {
			held = append(held, *heldError(name, l))
		} else {
			doubtful[name] = renewedAt(l)
		}
	}
	if len(doubtful) > 0 {
		if err := poll.Sleep(ctx, s.timing.renew+s.timing.renew/2); err != nil {
			return nil, err
		}
		now, err := s.heldLeases(ctx)
		if err != nil {
			return nil, err
		}
		for name, renewed := range doubtful {
			if l := now[name]; l != nil && !renewedAt(l).Equal(renewed) {
				held = append(held, *heldError(name, l))
			}
		}
	}
	slices.SortFunc(held, func(a, b store.HeldError) int { return strings.Compare(a.Name, b.Name) })
	return held, nil
}

// heldLeases are the Leases that name a holder who is not known to be dead, by the names of the leases.
func (s *kubeStore) heldLeases(ctx context.Context) (map[string]*coordinationv1.Lease, error) {
	const doing = "listing leases"
	if err := s.ready(ctx, doing, false); err != nil {
		return nil, err
	}
	held := map[string]*coordinationv1.Lease{}
	err := s.client.ListEach(ctx, leaseResource, s.namespace, kube.ListOptions{LabelSelector: labelObject + "=" + objectLease}, func(raw json.RawMessage) error {
		var l coordinationv1.Lease
		if err := json.Unmarshal(raw, &l); err != nil {
			return err
		}
		if identity := identityOf(&l); identity != "" && !holderGone(identity) {
			held[l.Annotations[annotationName]] = &l
		}
		return nil
	}, func() { clear(held) })
	return held, s.explain(ctx, doing, err)
}
