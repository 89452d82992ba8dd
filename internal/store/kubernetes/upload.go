package kubernetes

import (
	"context"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// orphanAge is the age of a chunk, or of a pending record, that no process in progress has
// any more.
const orphanAge = 24 * time.Hour

// discardTimeout bounds the removal of what nobody sees.
const discardTimeout = 30 * time.Second

// upload writes a content in chunks as it comes. A content that fits into one is kept in its
// manifest.
type upload struct {
	s          *kubeStore
	ctx        context.Context
	digest     string
	generation string
	limit      int64

	size   int64
	buffer []byte
	// chunks is the number of chunks that were sent.
	chunks int
	// committing is set when the manifest may be there.
	committing bool

	// slots bounds those that are on their way.
	slots chan struct{}
	wg    sync.WaitGroup
	mu    sync.Mutex
	err   error
}

func (s *kubeStore) newUpload(ctx context.Context, digest string, limit int64) *upload {
	return &upload{s: s, ctx: ctx, digest: digest, generation: random(), limit: limit, slots: make(chan struct{}, 4)}
}

// Write sends what makes a chunk full, once more follows.
func (u *upload) Write(p []byte) (n int, err error) {
	if u.size+int64(len(p)) > u.limit {
		return 0, &store.TooLargeError{What: "content " + u.digest, Limit: u.s.maxContent}
	}
	for len(p) > 0 {
		if len(u.buffer) == chunkSize {
			if err := u.send(); err != nil {
				return n, err
			}
		}
		part := p[:min(len(p), chunkSize-len(u.buffer))]
		u.buffer = append(u.buffer, part...)
		p = p[len(part):]
		n += len(part)
		u.size += int64(len(part))
	}
	return n, nil
}

// send sends the buffer as a chunk, in the background. It returns the error of an earlier one.
func (u *upload) send() error {
	u.slots <- struct{}{}
	if err := u.failure(); err != nil {
		<-u.slots
		return err
	}
	ref, data := u.s.chunkRef(u.digest, u.generation, u.chunks), map[string][]byte{contentName: u.buffer}
	u.buffer = nil
	u.chunks++
	u.wg.Go(func() {
		defer func() { <-u.slots }()
		_, err := u.s.client.Create(u.ctx, ref, u.s.newSecret(ref.Name, "",
			map[string]string{labelObject: objectChunk, labelContent: hash(u.digest)},
			map[string]string{annotationFormat: strconv.Itoa(format), annotationDigest: u.digest, annotationGeneration: u.generation}, data))
		// One that exists was made by an earlier try: nobody else has this generation.
		if err != nil && !apierrors.IsAlreadyExists(err) {
			u.mu.Lock()
			defer u.mu.Unlock()
			if u.err == nil {
				u.err = err
			}
		}
	})
	return nil
}

func (u *upload) failure() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.err
}

// finish makes the content one that is there.
func (u *upload) finish(ctx context.Context) error {
	if u.chunks > 0 && len(u.buffer) > 0 {
		if err := u.send(); err != nil {
			return err
		}
	}
	u.wg.Wait()
	if err := u.failure(); err != nil {
		return err
	}
	u.committing = true
	return u.commit(ctx)
}

// discard removes the chunks of an upload that failed, which nobody sees.
func (u *upload) discard(ctx context.Context) {
	u.wg.Wait()
	if u.chunks == 0 {
		return
	}
	ctx, cancel := u.s.sending(ctx)
	defer cancel()
	removing, stop := context.WithTimeout(ctx, discardTimeout)
	defer stop()
	_ = u.s.removeChunks(removing, u.digest, u.generation, u.chunks)
}

// tidy removes what killed processes left: chunks that no manifest names, and pending records.
// It does so once in the life of a handle, and costs nobody anything when that does not work.
func (s *kubeStore) tidy(ctx context.Context) {
	s.mu.Lock()
	done := s.swept
	s.swept = true
	s.mu.Unlock()
	if done {
		return
	}
	var both sync.WaitGroup
	defer both.Wait()
	both.Go(func() {
		left := s.aged(ctx, labelPending)
		_ = each(ctx, len(left), func(ctx context.Context, i int) error {
			return s.client.DeleteVersion(ctx, s.secret(left[i].Name), left[i].UID, left[i].ResourceVersion)
		})
	})
	chunks := s.aged(ctx, labelObject+"="+objectChunk)
	if len(chunks) == 0 {
		return
	}
	manifests, err := s.client.ListMetadata(ctx, secretResource, s.namespace, kube.ListOptions{LabelSelector: labelObject + "=" + objectContent})
	if err != nil {
		return
	}
	named := map[string]bool{}
	for i := range manifests {
		named[manifests[i].Annotations[annotationGeneration]] = true
	}
	_ = each(ctx, len(chunks), func(ctx context.Context, i int) error {
		if named[chunks[i].Annotations[annotationGeneration]] {
			return nil
		}
		return s.client.Delete(ctx, s.secret(chunks[i].Name), kube.DeleteOptions{UID: chunks[i].UID})
	})
}

// aged lists the objects of a selector that are older than orphanAge.
func (s *kubeStore) aged(ctx context.Context, selector string) []metav1.PartialObjectMetadata {
	all, err := s.client.ListMetadata(ctx, secretResource, s.namespace, kube.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil
	}
	var out []metav1.PartialObjectMetadata
	for i := range all {
		if s.clock().Sub(all[i].CreationTimestamp.Time) > orphanAge {
			out = append(out, all[i])
		}
	}
	return out
}
