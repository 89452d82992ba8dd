package kubernetes

import (
	"context"
	"maps"
	"math"
	"strconv"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// Annotations of Leases.
const (
	annotationName = prefix + "name"
	// annotationToken is that of the last acquisition.
	annotationToken = prefix + "token"
	// annotationHolder is who made the last acquisition; it stays when the lease is given back.
	annotationHolder   = prefix + "holder"
	annotationDuration = prefix + "duration"
	// annotationUnclean says that writes of former holders may still be on their way.
	annotationUnclean = prefix + "unclean"
)

// newLease is the Lease of that name for a write over the one that was read, nil for none.
func (s *kubeStore) newLease(name string, current *coordinationv1.Lease) *coordinationv1.Lease {
	next := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: s.leaseRef(name).Name, Namespace: s.namespace}}
	if current != nil {
		next = current.DeepCopy()
	}
	next.Labels = merged(next.Labels, map[string]string{labelObject: objectLease})
	next.Annotations = merged(next.Annotations, map[string]string{
		annotationFormat: strconv.Itoa(format), annotationRelease: s.release, annotationName: name,
	})
	maps.DeleteFunc(next.Annotations, func(_, value string) bool { return value == "" })
	return next
}

// setHolder fills in who has a Lease, empty for nobody.
func setHolder(l *coordinationv1.Lease, identity string, renewed time.Time, duration time.Duration) {
	if identity != "" && identity != identityOf(l) {
		acquired := metav1.NewMicroTime(renewed)
		l.Spec.AcquireTime = &acquired
		// It mirrors the token, for people: it counts in 32 bits.
		transitions := int32(0)
		if l.Spec.LeaseTransitions != nil && *l.Spec.LeaseTransitions < math.MaxInt32 {
			transitions = *l.Spec.LeaseTransitions + 1
		}
		l.Spec.LeaseTransitions = &transitions
	}
	renew, seconds := metav1.NewMicroTime(renewed), int32(math.Ceil(duration.Seconds()))
	l.Spec.HolderIdentity, l.Spec.RenewTime, l.Spec.LeaseDurationSeconds = &identity, &renew, &seconds
	l.Annotations[annotationDuration] = duration.String()
}

// readLease returns nil when there is no Lease of that name.
func (s *kubeStore) readLease(ctx context.Context, name string) (*coordinationv1.Lease, error) {
	ref := s.leaseRef(name)
	var l coordinationv1.Lease
	if err := s.client.GetInto(ctx, ref, &l); err != nil {
		if missing(err, ref) {
			return nil, nil
		}
		return nil, err
	}
	if l.Labels[labelObject] != objectLease {
		return nil, s.foreign(ref.Name)
	}
	if err := s.checkFormat(&l.ObjectMeta); err != nil {
		return nil, err
	}
	return &l, nil
}

// writeLease creates a Lease, or replaces the one of its resource version, and returns it as
// it is then.
func (s *kubeStore) writeLease(ctx context.Context, l *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	l.TypeMeta = metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"}
	l.ManagedFields = nil
	ref := kube.Ref{Resource: leaseResource, Namespace: s.namespace, Name: l.Name}
	write := s.client.Replace
	if l.ResourceVersion == "" {
		write = s.client.Create
	}
	o, err := write(ctx, ref, l)
	if err != nil {
		return nil, err
	}
	written := l.DeepCopy()
	written.UID, written.ResourceVersion, written.CreationTimestamp = o.UID, o.ResourceVersion, o.CreationTimestamp
	return written, nil
}

func identityOf(l *coordinationv1.Lease) string {
	if l.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.Spec.HolderIdentity
}

func renewedAt(l *coordinationv1.Lease) time.Time {
	if l.Spec.RenewTime == nil {
		return l.CreationTimestamp.Time
	}
	return l.Spec.RenewTime.Time
}

// durationOf is how long a lease lives without renewal, as its holder says.
func (s *kubeStore) durationOf(l *coordinationv1.Lease) time.Duration {
	if d, err := time.ParseDuration(l.Annotations[annotationDuration]); err == nil && d > 0 {
		return d
	}
	return s.timing.lease
}

// tokenOf is the token of the last acquisition; one that nobody can read is older than all.
func tokenOf(l *coordinationv1.Lease) int64 {
	token, _ := strconv.ParseInt(l.Annotations[annotationToken], 10, 64)
	return token
}

func isUnclean(l *coordinationv1.Lease) bool { return l.Annotations[annotationUnclean] != "" }
