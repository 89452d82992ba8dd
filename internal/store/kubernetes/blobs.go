package kubernetes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

const (
	// MaxContent is the size in bytes of the largest content that the store keeps. etcd,
	// which holds everything that is in the cluster, is bounded to a few GiB.
	MaxContent = 32 << 20
	// sealing is room for what sealing adds to a content of MaxContent.
	sealing = MaxContent / 1000
	// chunkSize is the size in bytes of the parts of a content: a Secret has at most twice as
	// much, and a request that is sent again is not dear.
	chunkSize = 512 << 10
	// readTries bounds how often a content is read that is replaced again and again.
	readTries = 10
)

// errPartMissing says that a chunk of a content was not there.
var errPartMissing = errors.New("a part of it is missing")

func (s *kubeStore) contentRef(digest string) kube.Ref {
	return s.secret("vnf-store-content-" + hash(digest))
}

func (s *kubeStore) chunkRef(digest, generation string, n int) kube.Ref {
	return s.secret(fmt.Sprintf("vnf-store-chunk-%s-%s-%d", hash(digest), generation, n))
}

// MaxContent is the size in bytes of the largest content in the form that is kept.
func (s *kubeStore) MaxContent() int64 { return s.maxContent + sealing }

// PutBlob keeps a content under its digest. One of more than MaxContent bytes is a
// *store.TooLargeError.
func (s *kubeStore) PutBlob(ctx context.Context, digest string, r io.Reader) error {
	intact, err := s.intact(ctx, digest)
	if err != nil {
		return err
	}
	if intact {
		return store.CheckUpload(ctx, r, digest)
	}
	return s.putContent(ctx, digest, s.maxContent, func(w io.Writer) error { return store.CopyBlob(ctx, w, r, digest) })
}

// OpenBlob reads a content and checks its digest at the end.
func (s *kubeStore) OpenBlob(ctx context.Context, digest string) (io.ReadCloser, error) {
	r, err := s.OpenEncoded(ctx, digest)
	if err != nil {
		return nil, err
	}
	return store.VerifyBlob(r, r, digest), nil
}

// PutEncoded keeps what encode writes. Its chunks are there before the manifest that names
// them, and those of what was there before are removed afterwards: a killed process leaves the
// old content or none, and chunks that a later one removes.
func (s *kubeStore) PutEncoded(ctx context.Context, digest string, encode func(w io.Writer) error) error {
	return s.putContent(ctx, digest, s.MaxContent(), encode)
}

func (s *kubeStore) putContent(ctx context.Context, digest string, limit int64, encode func(w io.Writer) error) error {
	if _, err := store.ParseDigest(digest); err != nil {
		return err
	}
	doing := "storing the content " + digest
	if err := s.ready(ctx, doing, true); err != nil {
		return err
	}
	// What it removes is too old to be of this upload.
	tidied := make(chan struct{})
	go func() {
		defer close(tidied)
		s.tidy(ctx)
	}()
	defer func() { <-tidied }()
	u := s.newUpload(ctx, digest, limit)
	err := encode(u)
	if err == nil {
		err = u.finish(ctx)
	}
	if err != nil {
		if !u.committing || !isUndecided(err) {
			u.discard(ctx)
		}
		return s.explain(ctx, doing, err)
	}
	return nil
}

// OpenEncoded reads what PutEncoded kept. All of it is read before the first byte is given: a
// content may be replaced at any time, by another process that stores the same one, and the
// encoded form is another one then.
func (s *kubeStore) OpenEncoded(ctx context.Context, digest string) (io.ReadCloser, error) {
	if _, err := store.ParseDigest(digest); err != nil {
		return nil, err
	}
	var content []byte
	err := s.reading(ctx, "reading the content "+digest, func(ctx context.Context) (err error) {
		content, err = s.whole(ctx, digest)
		return err
	})
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

// whole reads a content, again while it is replaced.
func (s *kubeStore) whole(ctx context.Context, digest string) ([]byte, error) {
	var before string
	for tries := 1; ; tries++ {
		generation, content, err := s.download(ctx, digest)
		switch {
		case errors.Is(err, errPartMissing) && (generation == before || tries == readTries):
			return nil, fmt.Errorf("content %s: %w: %w", digest, store.ErrCorrupt, err)
		case errors.Is(err, errPartMissing):
			// It was replaced or deleted meanwhile, or it is damaged.
			before = generation
		default:
			return content, err
		}
	}
}

// download reads a content, whose generation tells it from what it is replaced with.
func (s *kubeStore) download(ctx context.Context, digest string) (generation string, content []byte, err error) {
	ref := s.contentRef(digest)
	var manifest corev1.Secret
	if err := s.client.GetInto(ctx, ref, &manifest); err != nil {
		if missing(err, ref) {
			err = fmt.Errorf("content %s: %w", digest, store.ErrNotFound)
		}
		return "", nil, err
	}
	if err := s.checkContent(&manifest.ObjectMeta); err != nil {
		return "", nil, err
	}
	generation, n := chunksOf(&manifest.ObjectMeta)
	if n == 0 {
		return generation, manifest.Data[contentName], nil
	}
	parts := make([][]byte, n)
	err = each(ctx, n, func(ctx context.Context, i int) error {
		ref := s.chunkRef(digest, generation, i)
		var chunk corev1.Secret
		if err := s.client.GetInto(ctx, ref, &chunk); err != nil {
			if missing(err, ref) {
				return fmt.Errorf("%w: there is no %s", errPartMissing, ref)
			}
			return err
		}
		parts[i] = chunk.Data[contentName]
		return nil
	})
	return generation, slices.Concat(parts...), err
}

// DeleteBlob removes a content, its manifest first; a missing one is success.
func (s *kubeStore) DeleteBlob(ctx context.Context, digest string) error {
	if _, err := store.ParseDigest(digest); err != nil {
		return err
	}
	doing := "deleting the content " + digest
	if err := s.ready(ctx, doing, false); err != nil {
		return err
	}
	p := s.enter(ctx)
	defer p.leave()
	deleted, err := s.erase(ctx, p, s.takeManifest(ctx, digest), func(ctx context.Context) (*meta, error) { return s.peekContent(ctx, digest) })
	if err == nil && deleted != nil {
		err = s.removeChunks(ctx, digest, deleted.generation, deleted.chunks)
	}
	if err != nil {
		return s.explain(ctx, doing, err)
	}
	return nil
}

// peekContent reads what there is to know of a content to delete it; nil when there is none.
func (s *kubeStore) peekContent(ctx context.Context, digest string) (*meta, error) {
	ref := s.contentRef(digest)
	o, err := s.client.GetMetadata(ctx, ref)
	if err != nil {
		if missing(err, ref) {
			return nil, nil
		}
		return nil, err
	}
	generation, chunks := chunksOf(&o.ObjectMeta)
	return &meta{
		name: o.Name, uid: o.UID, resourceVersion: o.ResourceVersion, leases: leasesOf(o.Labels), generation: generation, chunks: chunks,
	}, s.checkContent(&o.ObjectMeta)
}

func (s *kubeStore) removeChunks(ctx context.Context, digest, generation string, n int) error {
	return each(ctx, n, func(ctx context.Context, i int) error {
		return s.client.Delete(ctx, s.chunkRef(digest, generation, i), kube.DeleteOptions{})
	})
}

// intact reports whether a content is there and has its digest.
func (s *kubeStore) intact(ctx context.Context, digest string) (bool, error) {
	r, err := s.OpenEncoded(ctx, digest)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return store.IsIntact(ctx, r, digest)
}

func (s *kubeStore) checkContent(o *metav1.ObjectMeta) error {
	if o.Labels[labelObject] != objectContent {
		return s.foreign(o.Name)
	}
	return s.checkFormat(o)
}

// chunksOf says which chunks a manifest names; a content of one chunk has none.
func chunksOf(o *metav1.ObjectMeta) (generation string, n int) {
	n, _ = strconv.Atoi(o.Annotations[annotationChunks])
	return o.Annotations[annotationGeneration], n
}

// commit writes the manifest of an upload, over what is there, and removes the chunks of that.
func (u *upload) commit(ctx context.Context) error {
	s, ref := u.s, u.s.contentRef(u.digest)
	data := map[string][]byte{}
	if u.chunks == 0 {
		data[contentName] = u.buffer
	}
	annotations := map[string]string{
		annotationFormat: strconv.Itoa(format), annotationRelease: s.release, annotationDigest: u.digest,
		annotationGeneration: u.generation, annotationChunks: strconv.Itoa(u.chunks),
	}
	labels := merged(foreseen(ctx), map[string]string{labelObject: objectContent})
	sending, cancel := s.sending(ctx)
	defer cancel()
	var old *metav1.PartialObjectMetadata
	for {
		_, err := s.client.Create(sending, ref, s.newSecret(ref.Name, "", labels, annotations, data))
		if err == nil {
			return nil
		}
		if !apierrors.IsAlreadyExists(err) {
			return err
		}
		there, err := s.client.GetMetadata(sending, ref)
		switch {
		case missing(err, ref):
			continue
		case err != nil:
			return err
		}
		if err := s.checkContent(&there.ObjectMeta); err != nil {
			return err
		}
		if there.Annotations[annotationGeneration] != u.generation {
			// The labels of leases stay: their next holder must find it.
			_, err = s.client.Replace(sending, ref, s.newSecret(ref.Name, there.ResourceVersion, merged(leasesOf(there.Labels), labels), annotations, data))
			old = there
		}
		switch {
		case err == nil && old != nil:
			generation, n := chunksOf(&old.ObjectMeta)
			// Chunks that are not removed now are removed later, as those of a killed process.
			_ = s.removeChunks(sending, u.digest, generation, n)
			return nil
		case err == nil:
			return nil
		case !apierrors.IsConflict(err) && !missing(err, ref):
			return err
		}
	}
}
