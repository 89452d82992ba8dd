package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// format is the format that this release reads and writes: the objects, and the data in the
// records. A release whose records have a field more, or one of another meaning, has a new
// format: an earlier one would drop unknown fields when it writes a record. It refuses the
// store instead, and each record of the new format when the store was open already.
const format = 1

// formatName is the object that says which format the store has.
const formatName = "vnf-store"

var (
	errNewerFormat = errors.New("written by a newer release of the provider")
	errForeign     = errors.New("not an object of the store")
	errDamaged     = errors.New("damaged")
)

// ready makes sure that the store has a format that this release knows. The first write makes
// an empty namespace a store. doing is what is to be done then.
func (s *kubeStore) ready(ctx context.Context, doing string, writes bool) error {
	if err := s.usable(ctx, doing); err != nil {
		return err
	}
	select {
	case s.checking <- struct{}{}:
		defer func() { <-s.checking }()
	case <-ctx.Done():
		return s.explain(ctx, doing, ctx.Err())
	}
	if !s.checked.IsZero() && time.Since(s.checked) < s.timing.format && (s.present || !writes) {
		return nil
	}
	if err := s.readFormat(ctx, writes); err != nil {
		return s.explain(ctx, doing, err)
	}
	s.checked = time.Now()
	return nil
}

// reading does a read and makes sure, at the same time, that the store has a format that this release knows: the server may be far away.
func (s *kubeStore) reading(ctx context.Context, doing string, read func(ctx context.Context) error) error {
	if err := s.usable(ctx, doing); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- read(ctx) }()
	err := s.ready(ctx, doing, false)
	if err != nil {
		cancel()
	}
	failed := <-done
	switch {
	case err != nil:
		return err
	case failed != nil:
		return s.explain(ctx, doing, failed)
	default:
		return nil
	}
}

// readFormat reads the format, or writes it.
func (s *kubeStore) readFormat(ctx context.Context, writes bool) error {
	ref := s.secret(formatName)
	// Where there was none a while ago it is written at once: the server says when somebody has done that since.
	absent := writes && !s.present && !s.checked.IsZero() && time.Since(s.checked) < s.timing.format
	for ; ; absent = false {
		if !absent {
			o, err := s.client.GetMetadata(ctx, ref)
			switch {
			case err == nil:
				s.present = true
				if o.Labels[labelObject] != objectFormat {
					return s.foreign(formatName)
				}
				return s.checkFormat(&o.ObjectMeta)
			case !missing(err, ref):
				return err
			case !writes:
				s.present = false
				return s.namespaceThere(ctx)
			}
		}
		// A user who deletes what nobody may miss is warned by its name and contents.
		_, err := s.client.Create(ctx, ref, s.newSecret(formatName, "",
			map[string]string{labelObject: objectFormat},
			map[string]string{annotationFormat: strconv.Itoa(format), annotationRelease: s.release},
			map[string][]byte{"README": []byte("The Secrets and Leases of this namespace whose names begin with vnf- are the store of terraform-provider-vnf.\n")}))
		if err == nil {
			s.present = true
			return nil
		}
		if !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
}

// namespaceThere returns an error when the namespace is known to be missing: a store that
// nobody wrote to would look the same. Whoever may not read it is not asked for more.
func (s *kubeStore) namespaceThere(ctx context.Context) error {
	ref := kube.Ref{Resource: namespaceResource, Name: s.namespace}
	if _, err := s.client.GetMetadata(ctx, ref); missing(err, ref) {
		return err
	}
	return nil
}

// checkFormat returns an error for an object of a newer format.
func (s *kubeStore) checkFormat(o *metav1.ObjectMeta) error {
	version, err := strconv.Atoi(o.Annotations[annotationFormat])
	if err != nil || version < 1 {
		return s.damaged(o.Name, "its format cannot be read")
	}
	if version > format {
		return fmt.Errorf("format %d was %w (%s), this one knows formats up to %d", version, errNewerFormat, o.Annotations[annotationRelease], format)
	}
	return nil
}

func (s *kubeStore) foreign(name string) error {
	return fmt.Errorf("%s is %w: its label %s is missing or another one", s.secret(name), errForeign, labelObject)
}

func (s *kubeStore) damaged(name, why string) error {
	return fmt.Errorf("%s is %w: %s", s.secret(name), errDamaged, why)
}
