package kubernetes

import (
	"context"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// What is looked at ahead is not trusted: a lease is taken, and a content deleted, for the resource version that was seen, which the server
// refuses when somebody has changed it since. Then it is looked at again.

// ReadAhead looks at leases that will be acquired, and at contents that will be deleted.
func (s *kubeStore) ReadAhead(ctx context.Context, wanted ...store.Wanted) {
	for _, w := range wanted {
		switch {
		case w.Lease != "" && w.New:
			s.mu.Lock()
			s.seen.See(w.Lease, nil, time.Time{})
			s.mu.Unlock()
		case w.Lease != "":
			s.look(s.leaseRef(w.Lease).Name, func() { s.lookAtLease(ctx, w.Lease) })
		case w.Content != "":
			s.look(s.contentRef(w.Content).Name, func() { s.lookAtContent(ctx, w.Content) })
		}
	}
}

// look looks at an object in the background, unless somebody does already.
func (s *kubeStore) look(name string, at func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.looking[name] != nil {
		return
	}
	looked := make(chan struct{})
	s.looking[name] = looked
	go func() {
		defer close(looked)
		at()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.looking, name)
	}()
}

// awaitLook waits for the end of a look. It is called with the mutex held, which it gives back meanwhile.
func (s *kubeStore) awaitLook(ctx context.Context, name string) {
	looking := s.looking[name]
	if looking == nil {
		return
	}
	s.mu.Unlock()
	defer s.mu.Lock()
	select {
	case <-looking:
	case <-ctx.Done():
	}
}

// lookAtLease remembers a lease that is free.
func (s *kubeStore) lookAtLease(ctx context.Context, name string) {
	s.mu.Lock()
	known := s.seen.Knows(name)
	s.mu.Unlock()
	if known {
		return
	}
	l, err := s.readLease(ctx, name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.seen.Knows(name) && err == nil && (l == nil || identityOf(l) == "") {
		s.seen.See(name, l, time.Now())
	}
}

// lookAtContent remembers the manifest of a content.
func (s *kubeStore) lookAtContent(ctx context.Context, digest string) {
	m, err := s.peekContent(ctx, digest)
	if err != nil || m == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.manifests[m.name] = m
}

// takeManifest returns the manifest of a content as it was looked at ahead, once; nil when it was not.
func (s *kubeStore) takeManifest(ctx context.Context, digest string) *meta {
	name := s.contentRef(digest).Name
	s.mu.Lock()
	defer s.mu.Unlock()
	s.awaitLook(ctx, name)
	m := s.manifests[name]
	delete(s.manifests, name)
	return m
}
