package kubernetes

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// A natural key has a Secret of its own, whose name is a hash of the key and which names the
// id of a record. It is not the truth: the record is. It is where those meet who want the same
// key, by these rules:
//
//   - Who wants a key knows the resource version of the own record, writes the Secret then, even
//     one that names that record already, and then writes the record for that version.
//   - Who finds that it names another record looks at that one. A committed record with that key
//     has it. A pending one is waited for, and deleted when it stays pending. Any other one is
//     changed, for its owner may just be about to give it that key. Then the Secret is
//     overwritten for the version that was read first.
//
// So of two of them, one does not get its Secret written, or one does not get its record
// written, and begins again.

// makings are the marks of the records that this process is just making. One that is pending,
// names this process and is not among them is left over.
var makings sync.Map

// isThisProcess reports whether a name of process.Name is that of this process: on machines that
// tell no more of a process than its number, it may be another one.
func isThisProcess(holder string) bool {
	return holder == process.Name() && strings.Contains(holder, " start=")
}

// abandoned reports whether the maker of a pending record is known to have given up.
func abandoned(m *meta) bool {
	if isThisProcess(m.maker) {
		_, busy := makings.Load(m.mark)
		return !busy
	}
	return process.Dead(m.maker)
}

// clear waits for the end of a creation that somebody else has begun, and deletes what it has
// left when that does not come. The caller looks again.
func (s *kubeStore) clear(ctx context.Context, m *meta) error {
	ref := s.secret(m.name)
	deadline := time.Now().Add(s.timing.patience)
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		if abandoned(m) || time.Now().After(deadline) {
			err := s.client.DeleteVersion(ctx, ref, m.uid, m.resourceVersion)
			if apierrors.IsConflict(err) || missing(err, ref) {
				return nil
			}
			return err
		}
		if err := poll.Sleep(ctx, pause); err != nil {
			return err
		}
		there, err := s.peek(ctx, m.name)
		if err != nil || there == nil || !there.pending || there.mark != m.mark {
			return err
		}
		m = there
	}
}

// reserve writes the Secret of a natural key for a record, and returns its resource version,
// and whether it named no record or another one before. A key that another record has is
// store.ErrExists.
func (s *kubeStore) reserve(ctx context.Context, kind store.Kind, key, id string) (version string, fresh bool, err error) {
	ref := s.secret(keyName(kind, key))
	labels := map[string]string{labelObject: objectKey, labelKind: kindName(kind)}
	annotations := map[string]string{
		annotationFormat: strconv.Itoa(format), annotationRelease: s.release,
		annotationKind: string(kind), annotationKey: key, annotationID: id,
		// A write that changes nothing would leave the resource version as it is.
		annotationMark: random(),
	}
	for {
		o, err := s.client.Create(ctx, ref, s.newSecret(ref.Name, "", labels, annotations, nil))
		if err == nil {
			return o.ResourceVersion, true, nil
		}
		if !apierrors.IsAlreadyExists(err) {
			return "", false, err
		}
		there, err := s.client.GetMetadata(ctx, ref)
		switch {
		case missing(err, ref):
			continue
		case err != nil:
			return "", false, err
		case there.Labels[labelObject] != objectKey:
			return "", false, s.foreign(ref.Name)
		}
		if err := s.checkFormat(&there.ObjectMeta); err != nil {
			return "", false, err
		}
		fresh = there.Annotations[annotationID] != id
		if fresh {
			free, err := s.contest(ctx, kind, key, there.Annotations[annotationID])
			if err != nil {
				return "", false, err
			}
			if !free {
				continue
			}
		}
		o, err = s.client.Replace(ctx, ref, s.newSecret(ref.Name, there.ResourceVersion, labels, annotations, nil))
		if err == nil {
			return o.ResourceVersion, fresh, nil
		}
		if !apierrors.IsConflict(err) && !missing(err, ref) {
			return "", false, err
		}
	}
}

// contest reports whether a record that a natural key names has lost it, and keeps it from
// getting it unnoticed. False asks to look again; a record that has the key is
// store.ErrExists.
func (s *kubeStore) contest(ctx context.Context, kind store.Kind, key, id string) (free bool, err error) {
	m, err := s.peek(ctx, recordName(kind, id))
	switch {
	case err != nil:
		return false, err
	case m == nil:
		return true, nil
	case m.pending:
		return false, s.clear(ctx, m)
	case m.key == key:
		return false, fmt.Errorf("%s with the natural key %q: %w", kind, key, store.ErrExists)
	}
	ref, touched := s.secret(m.name), random()
	_, err = s.client.ChangeMetadata(ctx, ref, m.resourceVersion, nil, map[string]*string{annotationTouched: &touched})
	switch {
	case err == nil, missing(err, ref):
		return true, nil
	case apierrors.IsConflict(err):
		return false, nil
	default:
		return false, err
	}
}

// unreserve removes the Secret of a natural key as it was written for a record that has the
// key no more, in the background where the caller waits for that before it answers. A reservation that stays, or was written again since, names a record without
// that key and blocks nobody.
func (s *kubeStore) unreserve(ctx context.Context, kind store.Kind, key, version string) {
	if version == "" {
		return
	}
	remove := func(<-chan struct{}) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timing.answer)
		defer cancel()
		_ = s.client.DeleteVersion(ctx, s.secret(keyName(kind, key)), "", version)
	}
	if !vnfm.InBackground(ctx, remove) {
		remove(nil)
	}
}

// withdraw removes the objects of a failed creation. Objects that stay are pending and block
// nobody.
func (s *kubeStore) withdraw(ctx context.Context, m *meta, fresh bool) {
	removing, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timing.answer)
	defer cancel()
	_ = s.client.DeleteVersion(removing, s.secret(m.name), m.uid, m.resourceVersion)
	if fresh {
		s.unreserve(ctx, m.kind, m.key, m.reservation)
	}
}
