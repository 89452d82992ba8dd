package kubernetes

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube/readiness"
)

// counter reports the number of applied objects, at most twice a second.
type counter struct {
	session *session
	total   int

	mu     sync.Mutex
	count  int
	saidAt time.Time
}

const counterEvery = 500 * time.Millisecond

func (c *counter) add(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count++
	if now := time.Now(); now.Sub(c.saidAt) >= counterEvery {
		c.saidAt = now
		c.session.progress(ctx, "%d/%d objects applied", c.count, c.total)
	}
}

func (c *counter) done(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session.progress(ctx, "%d/%d objects applied", c.count, c.total)
}

// awaitDeletion waits for the end of running deletions, so that the objects can be created again.
func (s *session) awaitDeletion(ctx context.Context, target []*targetObject) error {
	var refs []kube.Ref
	var ending []*targetObject
	for _, p := range target {
		if p.live != nil && p.live.DeletionTimestamp != nil {
			refs = append(refs, p.ref)
			ending = append(ending, p)
		}
	}
	if len(refs) == 0 {
		return nil
	}
	s.progress(ctx, "waiting until %s, being deleted, is gone, to create it again", firstNames(ending))
	if err := s.client.WaitGone(ctx, refs, s.waitOptions(ctx, "")); err != nil {
		return fmt.Errorf("waiting until objects that are being deleted are gone, to create them again: %w", err)
	}
	for _, p := range ending {
		p.live = nil
		if p.ref.Resource.GVK != namespaceKind {
			continue
		}
		for _, inside := range target {
			if inside.ref.Namespace == p.ref.Name {
				inside.live = nil
			}
		}
	}
	return nil
}

// awaitReady waits for all objects up to a wave.
func (s *session) awaitReady(ctx context.Context, target []*targetObject, upTo int) error {
	var own, common []*targetObject
	for _, p := range target {
		switch {
		case p.wave > upTo, p.ready, p.object == nil:
		case p.object.Shared:
			common = append(common, p)
		default:
			own = append(own, p)
		}
	}
	// If two instances create a shared object concurrently, it has the label of the last one.
	if err := s.awaitObjects(ctx, common, labelInstance); err != nil {
		return err
	}
	if err := s.awaitObjects(ctx, own, instanceSelector(s.target.Instance.ID)); err != nil {
		return err
	}
	for _, p := range target {
		if p.wave <= upTo {
			p.ready, p.seen = true, nil
		}
	}
	return nil
}

// awaitObjects waits for objects that a selector of labels selects.
func (s *session) awaitObjects(ctx context.Context, all []*targetObject, selector string) error {
	refs := make([]kube.Ref, 0, len(all))
	options := s.waitOptions(ctx, selector)
	options.Rules, options.Known = map[int]*readiness.Rule{}, map[int]kube.Known{}
	for i, p := range all {
		options.Rules[i], options.Known[i] = p.object.Rule, p.known()
		refs = append(refs, p.ref)
	}
	return s.client.WaitReady(ctx, refs, options)
}

// waitOptions returns options of a wait that report its progress to the recorder.
func (s *session) waitOptions(ctx context.Context, selector string) kube.WaitOptions {
	return kube.WaitOptions{
		LabelSelector: selector,
		Progress: func(ready, total int, waitingFor string) {
			if waitingFor != "" {
				s.progress(ctx, "%d/%d done, waiting for %s", ready, total, waitingFor)
			}
		},
	}
}

// awaitFoundation waits until definitions are established and namespaces are active. For new bare Pods it also waits for the default
// ServiceAccount of a namespace of the target, because the API server rejects a Pod without it.
func (s *session) awaitFoundation(ctx context.Context, target []*targetObject) error {
	if err := s.awaitReady(ctx, target, render.WaveFoundation); err != nil {
		return err
	}
	pods := map[string]bool{}
	for _, p := range target {
		if p.object != nil && p.object.GVK.Group == "" && p.object.GVK.Kind == "Pod" && p.live == nil {
			pods[p.ref.Namespace] = true
		}
	}
	if len(pods) == 0 {
		return nil
	}
	r, err := s.client.Resource(ctx, schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"})
	if err != nil {
		return err
	}
	var refs []kube.Ref
	for _, p := range ofWave(target, render.WaveFoundation) {
		if p.ref.Resource.GVK == namespaceKind && pods[p.ref.Name] {
			refs = append(refs, kube.Ref{Resource: r, Namespace: p.ref.Name, Name: "default"})
		}
	}
	return s.client.WaitReady(ctx, refs, s.waitOptions(ctx, ""))
}
