package kubernetes

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The fields of the instance's Secret on the VIM: the key of the instance's digests, its arguments, and the results of random
// functions of its chart. They survive the loss of the record.
const (
	digestKeyField = "digest-key"
	argumentsField = "arguments"
	resultsField   = "results"
)

const (
	// maxKept is the maximum size of a Secret's data in bytes (MaxSecretSize of k8s.io/api/core/v1).
	maxKept = 1 << 20
	// maxArguments is the maximum size of the arguments in bytes. The Secret also has to hold results of up to vnfm.MaxResults and the
	// key.
	maxArguments = maxKept - vnfm.MaxResults - 24<<10
)

// keptFields are the fields of the Secret. An empty field is a missing one.
type keptFields map[string][]byte

func (k keptFields) equal(other keptFields) bool {
	return k.holds(other) && bytes.Equal(k[argumentsField], other[argumentsField])
}

// holds reports whether the key and the results equal other's.
func (k keptFields) holds(other keptFields) bool {
	return bytes.Equal(k[digestKeyField], other[digestKeyField]) && bytes.Equal(k[resultsField], other[resultsField])
}

// keptRef returns the reference of the instance's Secret. Its name contains the id of the instance, like the name of the Lease. It
// does not carry the label of the instance's objects.
func (s *session) keptRef(ctx context.Context) (kube.Ref, error) {
	r, err := s.client.Resource(ctx, secretKind)
	return kube.Ref{Resource: r, Namespace: s.namespace, Name: "vnf-" + s.target.Instance.ID}, err
}

// DigestKey implements vnfm.InfraDriver.
func (d *Driver) DigestKey(ctx context.Context, t *vnfm.Target) ([]byte, error) {
	kept, err := d.kept(ctx, t)
	return kept[digestKeyField], err
}

// kept reads the Secret of an instance; nil when it does not exist.
func (d *Driver) kept(ctx context.Context, t *vnfm.Target) (keptFields, error) {
	s, err := d.connect(t, nil)
	if err != nil {
		return nil, err
	}
	ref, err := s.keptRef(ctx)
	if err != nil {
		return nil, err
	}
	return s.readKept(ctx, ref)
}

// readKept reads the fields of the Secret; nil when it does not exist.
func (s *session) readKept(ctx context.Context, ref kube.Ref) (keptFields, error) {
	fields, _, err := s.readKeptSecret(ctx, ref)
	return fields, err
}

// readKeptSecret also returns the annotations of the Secret.
func (s *session) readKeptSecret(ctx context.Context, ref kube.Ref) (keptFields, map[string]string, error) {
	secret, err := s.client.Get(ctx, ref)
	if apierrors.IsNotFound(err) {
		return nil, nil, nil
	}
	if apierrors.IsForbidden(err) {
		err = &vnfm.RightsError{Doing: fmt.Sprintf("reading Secret %s/%s", ref.Namespace, ref.Name), Err: fmt.Errorf("%w: %w", vnfm.ErrKeyLost, err)}
	}
	if err == nil {
		var kept keptFields
		if kept, err = keptIn(secret); err == nil {
			return kept, secret.GetAnnotations(), nil
		}
	}
	return nil, nil, fmt.Errorf("reading the key of the digests of VNF instance %q: %w", s.target.Instance.Name, err)
}

// keptIn decodes the fields of the Secret.
func keptIn(secret *unstructured.Unstructured) (keptFields, error) {
	out := keptFields{}
	for _, field := range []string{digestKeyField, argumentsField, resultsField} {
		text, _, _ := unstructured.NestedString(secret.Object, "data", field)
		value, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, fmt.Errorf("reading field %s of Secret %s/%s: %w", field, secret.GetNamespace(), secret.GetName(), err)
		}
		out[field] = value
	}
	return out, nil
}

// keepsSecret reports whether the instance needs a Secret.
func (s *session) keepsSecret() bool {
	return s.rendering.UsesDigestKey() || len(s.target.Results.Data()) > 0 || s.target.Arguments != nil
}

// wantedKept returns the desired fields of the Secret: the key if a digest depends on it, the results if there are any, and the
// arguments unless they are too large.
func (s *session) wantedKept(ctx context.Context) (keptFields, error) {
	out := keptFields{}
	if s.rendering.UsesDigestKey() {
		out[digestKeyField] = s.target.DigestKey
	}
	if results := s.target.Results.Data(); len(results) > 0 {
		out[resultsField] = results
	}
	if s.target.Arguments == nil {
		return out, nil
	}
	text, err := s.target.Arguments(ctx)
	if err != nil {
		return nil, err
	}
	if len(text) > maxArguments {
		s.progress(ctx, "the arguments of the instance have %d bytes and are not kept in namespace %s: an import will show them as differences", len(text), s.namespace)
	} else {
		out[argumentsField] = text
	}
	return out, nil
}

// checkKept warns of arguments that are too large for the Secret. Rendering finds results that are too large.
func (s *session) checkKept(ctx context.Context) vnfm.Problems {
	if s.target.Arguments == nil {
		return nil
	}
	text, err := s.target.Arguments(ctx)
	if err != nil || len(text) <= maxArguments {
		// The apply reports arguments that cannot be encoded.
		return nil
	}
	return vnfm.Problems{{
		Severity: vnfm.SeverityWarning,
		Summary:  fmt.Sprintf("the arguments have %d KiB, and the VIM keeps %d KiB at most", len(text)>>10, maxArguments>>10),
		Detail: "an import, and a run without the store and the state, will show them as differences; move large values of additional_params into files of the package, " +
			"such as the values.yaml of its chart",
	}}
}

// applyKept writes the Secret unless it is up to date.
func (s *session) applyKept(ctx context.Context) error {
	write, _, err := s.keptWrite(ctx)
	if err != nil {
		return err
	}
	return write(ctx)
}

func keepNothing(context.Context) error { return nil }

// keptWrite returns a function that writes the Secret unless it is up to date. first is set when the Secret has to be written before
// the objects, because digests depend on the key and objects on the results.
func (s *session) keptWrite(ctx context.Context) (write func(context.Context) error, first bool, err error) {
	want, err := s.wantedKept(ctx)
	if err != nil || len(want) == 0 {
		return keepNothing, false, err
	}
	first = len(want[digestKeyField]) > 0 || len(want[resultsField]) > 0
	ref, err := s.keptRef(ctx)
	if err != nil {
		return keepNothing, false, err
	}
	if !s.isNew {
		// A Secret that is unreadable or differs is replaced.
		if had, annotations, err := s.readKeptSecret(ctx, ref); err == nil {
			if had.equal(want) && !s.showsOldName(annotations) {
				return keepNothing, false, nil
			}
			first = !had.holds(want)
		}
	}
	return func(ctx context.Context) error { return s.writeKept(ctx, ref, want) }, first, nil
}

// writeKept writes the Secret. Without the right to Secrets only the record contains its data.
func (s *session) writeKept(ctx context.Context, ref kube.Ref, want keptFields) error {
	data := map[string]any{}
	for field, value := range want {
		data[field] = base64.StdEncoding.EncodeToString(value)
	}
	body := map[string]any{
		"apiVersion": "v1",
		"kind":       secretKind.Kind,
		"metadata": map[string]any{
			"name": ref.Name, "namespace": ref.Namespace,
			"labels":      map[string]any{labelKeyOf: s.target.Instance.ID},
			"annotations": map[string]any{annotationInstance: s.target.Instance.Name},
		},
		"data": data,
	}
	_, err := s.client.Apply(ctx, ref, body, kube.ApplyOptions{FieldManager: kube.FieldManager, Force: true})
	if apierrors.IsForbidden(err) {
		if len(want[resultsField]) > 0 {
			s.progress(ctx, "no right to create a Secret in namespace %s: if the store is lost, passwords and certificates that the chart generates are generated again", s.namespace)
		}
		if len(want[digestKeyField]) > 0 {
			s.progress(ctx, "no right to create a Secret in namespace %s: if the store is lost, the digests of Secrets change, and the pods that read them are replaced", s.namespace)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("writing the key of the digests and the arguments of VNF instance %q to Secret %s/%s: %w", s.target.Instance.Name, ref.Namespace, ref.Name, err)
	}
	return nil
}

// forgetKept removes the Secret after a failed creation that created no other object. Its record may be deleted, and nothing would
// refer to the Secret any more.
func (s *session) forgetKept(ctx context.Context) error {
	made := slices.ContainsFunc(s.saved, func(i vnfm.InventoryItem) bool { return i.UID != "" || i.Posted != "" })
	if !s.isNew || made || !s.keepsSecret() || errors.As(context.Cause(ctx), new(*vnfm.LeaseLostError)) {
		return nil
	}
	timeout := releaseTimeout
	if ctx.Err() != nil {
		timeout = interruptedTimeout
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	return s.deleteKept(ctx)
}

// deleteKept removes the Secret.
func (s *session) deleteKept(ctx context.Context) error {
	ref, err := s.keptRef(ctx)
	if err != nil {
		return err
	}
	err = s.client.Delete(ctx, ref, kube.DeleteOptions{})
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
