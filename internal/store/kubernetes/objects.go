package kubernetes

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// prefix begins the labels and annotations of the store.
const prefix = "store." + vnfm.LabelPrefix

// Labels, by which objects are selected.
const (
	// labelObject says what an object is to the store.
	labelObject = prefix + "object"
	labelKind   = prefix + "kind"
	labelOwner  = prefix + "owner"
	labelKey    = prefix + "key"
	// labelPending is on a record that is not committed yet: nobody sees it.
	labelPending = prefix + "pending"
	labelContent = prefix + "content"
	// labelLease, with the hash of a lease's name, is on what was written under that lease.
	labelLease = prefix + "lease-"
)

// Values of labelObject.
const (
	objectFormat  = "format"
	objectRecord  = "record"
	objectKey     = "key"
	objectContent = "content"
	objectChunk   = "chunk"
	objectLease   = "lease"
)

// Annotations of records, keys and contents.
const (
	annotationFormat  = prefix + "format"
	annotationRelease = prefix + "release"

	annotationKind     = prefix + "kind"
	annotationID       = prefix + "id"
	annotationKey      = prefix + "key"
	annotationOwner    = prefix + "owner"
	annotationRevision = prefix + "revision"
	annotationCreated  = prefix + "created-at"
	annotationUpdated  = prefix + "updated-at"
	// annotationMark tells the write that made an object what it is from all others.
	annotationMark = prefix + "mark"
	// annotationMaker is the process that makes a pending record.
	annotationMaker = prefix + "maker"
	// annotationReservation is the resource version of the Secret that reserves the
	// natural key of a record.
	annotationReservation = prefix + "reservation"
	// annotationTouched changes for no other purpose than to change the object.
	annotationTouched = prefix + "touched"

	annotationDigest     = prefix + "digest"
	annotationGeneration = prefix + "generation"
	annotationChunks     = prefix + "chunks"
)

const (
	// secretType keeps controllers from taking the Secrets for something that they know.
	secretType = corev1.SecretType(prefix + "object")
	// maxSecret is what the API server allows for the data of a Secret.
	maxSecret = corev1.MaxSecretSize
	// packFrom is the size in bytes from which on data is compressed.
	packFrom = 4 << 10
	// maxUnpacked bounds data that is unpacked.
	maxUnpacked = 256 << 20
	// packed ends the name of data that is compressed.
	packed = ".gz"

	dataName    = "data"
	sealedName  = "sealed"
	contentName = "content"
)

var (
	secretResource = kube.Resource{
		GVK:        schema.GroupVersionKind{Version: "v1", Kind: "Secret"},
		GVR:        schema.GroupVersionResource{Version: "v1", Resource: "secrets"},
		Namespaced: true,
	}
	leaseResource = kube.Resource{
		GVK:        schema.GroupVersionKind{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"},
		GVR:        schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"},
		Namespaced: true,
	}
	namespaceResource = kube.Resource{
		GVK: schema.GroupVersionKind{Version: "v1", Kind: "Namespace"},
		GVR: schema.GroupVersionResource{Version: "v1", Resource: "namespaces"},
	}
)

func (s *kubeStore) secret(name string) kube.Ref {
	return kube.Ref{Resource: secretResource, Namespace: s.namespace, Name: name}
}

func (s *kubeStore) leaseRef(name string) kube.Ref {
	return kube.Ref{Resource: leaseResource, Namespace: s.namespace, Name: "vnf-lease-" + hash(name)}
}

// hash is 52 characters for parts of any length and form: names of objects and values of
// labels may be neither long nor free. Lengths keep ("ab", "c") from being ("a", "bc").
func hash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p))))
		h.Write([]byte(p))
	}
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil)))
}

// random is 16 characters that nobody else has.
func random() string {
	b := make([]byte, 8)
	// It never fails.
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

var plainKind = lazyregexp.New(`^[a-z0-9]{1,30}$`)

// kindName is a kind as a part of a name and as the value of a label.
func kindName(kind store.Kind) string {
	if plainKind.MatchString(string(kind)) {
		return string(kind)
	}
	return "x-" + hash(string(kind))[:20]
}

func recordName(kind store.Kind, id string) string { return "vnf-" + kindName(kind) + "-" + hash(id) }

func keyName(kind store.Kind, key string) string { return "vnf-store-key-" + hash(string(kind), key) }

// meta is what the store has to know of a record to write it, beside its contents.
type meta struct {
	name            string
	uid             types.UID
	resourceVersion string
	pending         bool
	mark, maker     string
	kind            store.Kind
	id, key         string
	revision        int64
	created         time.Time
	// reservation is the resource version of the Secret of the natural key.
	reservation string
	// leases are the labels of the leases under which it was written.
	leases map[string]string
	// generation and chunks are those of a content.
	generation string
	chunks     int
}

// readMeta reads what a record's object says of it.
func (s *kubeStore) readMeta(o *metav1.ObjectMeta) (*meta, error) {
	if o.Labels[labelObject] != objectRecord {
		return nil, s.foreign(o.Name)
	}
	if err := s.checkFormat(o); err != nil {
		return nil, err
	}
	a := o.Annotations
	m := &meta{
		name: o.Name, uid: o.UID, resourceVersion: o.ResourceVersion, pending: o.Labels[labelPending] != "",
		mark: a[annotationMark], maker: a[annotationMaker],
		kind: store.Kind(a[annotationKind]), id: a[annotationID], key: a[annotationKey],
		reservation: a[annotationReservation], leases: leasesOf(o.Labels),
	}
	var err error
	if m.revision, err = strconv.ParseInt(a[annotationRevision], 10, 64); err != nil {
		return nil, s.damaged(o.Name, "its revision cannot be read")
	}
	if m.created, err = time.Parse(time.RFC3339Nano, a[annotationCreated]); err != nil {
		return nil, s.damaged(o.Name, "the time of its creation cannot be read")
	}
	if recordName(m.kind, m.id) != o.Name {
		return nil, s.damaged(o.Name, fmt.Sprintf("it says that it is %s %q", m.kind, m.id))
	}
	return m, nil
}

// leasesOf are the labels of leases among others.
func leasesOf(labels map[string]string) map[string]string {
	out := map[string]string{}
	for name, value := range labels {
		if strings.HasPrefix(name, labelLease) {
			out[name] = value
		}
	}
	return out
}

// encode makes the object of a record. It returns a *store.TooLargeError when the record does
// not fit.
func (s *kubeStore) encode(r *store.Record, m *meta) (*corev1.Secret, error) {
	data := map[string][]byte{}
	if err := cmp.Or(pack(data, dataName, r.Data), pack(data, sealedName, r.Sealed)); err != nil {
		return nil, err
	}
	size := 0
	for _, d := range data {
		size += len(d)
	}
	if size > maxSecret {
		return nil, &store.TooLargeError{What: fmt.Sprintf("the compressed record of %s %q", r.Kind, r.ID), Size: int64(size), Limit: maxSecret}
	}
	labels := map[string]string{labelObject: objectRecord, labelKind: kindName(r.Kind)}
	if r.Owner != "" {
		labels[labelOwner] = hash(r.Owner)
	}
	if r.Key != "" {
		labels[labelKey] = hash(r.Key)
	}
	if m.pending {
		labels[labelPending] = "true"
	}
	maps.Copy(labels, m.leases)
	annotations := map[string]string{
		annotationFormat: strconv.Itoa(format), annotationRelease: s.release,
		annotationKind: string(r.Kind), annotationID: r.ID, annotationKey: r.Key, annotationOwner: r.Owner,
		annotationRevision: strconv.FormatInt(m.revision, 10),
		annotationCreated:  m.created.Format(time.RFC3339Nano), annotationUpdated: r.UpdatedAt.Format(time.RFC3339Nano),
		annotationMark: m.mark, annotationMaker: m.maker, annotationReservation: m.reservation,
	}
	maps.DeleteFunc(annotations, func(_, value string) bool { return value == "" })
	return s.newSecret(m.name, m.resourceVersion, labels, annotations, data), nil
}

func (s *kubeStore) newSecret(name, version string, labels, annotations map[string]string, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: s.namespace, ResourceVersion: version, Labels: labels, Annotations: annotations,
		},
		Type: secretType,
		Data: data,
	}
}

// decode reads the object of a record.
func (s *kubeStore) decode(secret *corev1.Secret) (*store.Record, *meta, error) {
	m, err := s.readMeta(&secret.ObjectMeta)
	if err != nil {
		return nil, nil, err
	}
	r := &store.Record{Kind: m.kind, ID: m.id, Key: m.key, Owner: secret.Annotations[annotationOwner], Revision: m.revision, CreatedAt: m.created}
	if r.UpdatedAt, err = time.Parse(time.RFC3339Nano, secret.Annotations[annotationUpdated]); err != nil {
		return nil, nil, s.damaged(secret.Name, "the time of its update cannot be read")
	}
	for name, into := range map[string]*[]byte{dataName: &r.Data, sealedName: &r.Sealed} {
		if *into, err = unpack(secret.Data, name); err != nil {
			return nil, nil, s.damaged(secret.Name, err.Error())
		}
	}
	return r, m, nil
}

// pack adds data under a name, compressed when that makes it smaller.
func pack(to map[string][]byte, name string, data []byte) error {
	if len(data) >= packFrom {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		if _, err := w.Write(data); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		if out.Len() < len(data) {
			to[name+packed] = out.Bytes()
			return nil
		}
	}
	if len(data) > 0 {
		to[name] = data
	}
	return nil
}

// unpack returns what pack has added.
func unpack(from map[string][]byte, name string) ([]byte, error) {
	data, ok := from[name+packed]
	if !ok {
		return from[name], nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unpacking its %s: %w", name, err)
	}
	out, err := io.ReadAll(io.LimitReader(r, maxUnpacked+1))
	if err != nil {
		return nil, fmt.Errorf("unpacking its %s: %w", name, err)
	}
	if len(out) > maxUnpacked {
		return nil, fmt.Errorf("unpacking its %s: it has more than %d bytes", name, maxUnpacked)
	}
	return out, nil
}
