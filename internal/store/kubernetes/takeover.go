package kubernetes

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// inherit changes whatever was written under a lease that was not given back cleanly, and
// deletes what was pending then. A write of a former holder that is still on its way is for a
// resource version that is gone afterwards, or makes a pending record that is never committed.
func (s *kubeStore) inherit(ctx context.Context, l *lease) error {
	left, err := s.client.ListMetadata(ctx, secretResource, s.namespace, kube.ListOptions{LabelSelector: leaseLabel(l.name)})
	if err != nil {
		return err
	}
	return each(ctx, len(left), func(ctx context.Context, i int) error {
		select {
		case <-l.Lost():
			return &vnfm.LeaseLostError{Object: l.name}
		default:
			return s.turn(ctx, &left[i].ObjectMeta)
		}
	})
}

// turn changes an object, or deletes it when it is pending, whatever it has become meanwhile.
func (s *kubeStore) turn(ctx context.Context, o *metav1.ObjectMeta) error {
	ref, touched := s.secret(o.Name), random()
	for {
		var err error
		if o.Labels[labelPending] != "" {
			err = s.client.DeleteVersion(ctx, ref, o.UID, o.ResourceVersion)
		} else {
			_, err = s.client.ChangeMetadata(ctx, ref, o.ResourceVersion, nil, map[string]*string{annotationTouched: &touched})
		}
		if missing(err, ref) {
			return nil
		}
		if !apierrors.IsConflict(err) {
			return err
		}
		changed, err := s.client.GetMetadata(ctx, ref)
		if missing(err, ref) {
			return nil
		}
		if err != nil {
			return err
		}
		if changed.Annotations[annotationTouched] == touched {
			// The answer to the first try was lost.
			return nil
		}
		o = &changed.ObjectMeta
	}
}
