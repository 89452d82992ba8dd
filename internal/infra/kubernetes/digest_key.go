package kubernetes

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// digestKeyField is the field of the Secret that holds the key of an instance's digests.
const digestKeyField = "digest-key"

// digestKeyRef is the Secret beside the objects of the instance. Like the Lease it is named
// after the instance, and it does not carry the label of the instance's objects.
func (s *session) digestKeyRef(ctx context.Context) (kube.Ref, error) {
	r, err := s.client.Resource(ctx, secretKind)
	return kube.Ref{Resource: r, Namespace: s.namespace, Name: "vnf-" + s.target.Instance.ID}, err
}

// DigestKey implements vnfm.InfraDriver.
func (d *Driver) DigestKey(ctx context.Context, t *vnfm.Target) ([]byte, error) {
	s, err := d.connect(t, nil)
	if err != nil {
		return nil, err
	}
	ref, err := s.digestKeyRef(ctx)
	if err != nil {
		return nil, err
	}
	return s.readDigestKey(ctx, ref)
}

// readDigestKey reads the key; nil when the Secret does not exist.
func (s *session) readDigestKey(ctx context.Context, ref kube.Ref) ([]byte, error) {
	secret, err := s.client.Get(ctx, ref)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if apierrors.IsForbidden(err) {
		err = fmt.Errorf("%w: %w", vnfm.ErrKeyLost, err)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the key of the digests of VNF instance %q: %w", s.target.Instance.Name, err)
	}
	text, _, _ := unstructured.NestedString(secret.Object, "data", digestKeyField)
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("reading the key of the digests of VNF instance %q: Secret %s/%s: %w", s.target.Instance.Name, ref.Namespace, ref.Name, err)
	}
	return key, nil
}

// applyDigestKey writes the Secret, unless it exists, when a digest depends on the key.
// Without the right to Secrets only the record has the key.
func (s *session) applyDigestKey(ctx context.Context) error {
	if !s.rendering.UsesDigestKey() {
		return nil
	}
	ref, err := s.digestKeyRef(ctx)
	if err != nil {
		return err
	}
	// A Secret that cannot be read, or holds something else, is replaced.
	if kept, err := s.readDigestKey(ctx, ref); err == nil && bytes.Equal(kept, s.target.DigestKey) {
		return nil
	}
	body := map[string]any{
		"apiVersion": "v1",
		"kind":       secretKind.Kind,
		"metadata": map[string]any{
			"name": ref.Name, "namespace": ref.Namespace,
			"labels":      map[string]any{labelKeyOf: s.target.Instance.ID},
			"annotations": map[string]any{annotationInstance: s.target.Instance.Name},
		},
		"data": map[string]any{digestKeyField: base64.StdEncoding.EncodeToString(s.target.DigestKey)},
	}
	_, err = s.client.Apply(ctx, ref, body, kube.ApplyOptions{FieldManager: kube.FieldManager, Force: true})
	if apierrors.IsForbidden(err) {
		s.progress(ctx, "no right to create a Secret in namespace %s: if the store is lost, the digests of Secrets change, and the pods that read them are replaced", s.namespace)
		return nil
	}
	if err != nil {
		return fmt.Errorf("writing the key of the digests of VNF instance %q to Secret %s/%s: %w", s.target.Instance.Name, ref.Namespace, ref.Name, err)
	}
	return nil
}

// deleteDigestKey removes the Secret.
func (s *session) deleteDigestKey(ctx context.Context) error {
	ref, err := s.digestKeyRef(ctx)
	if err != nil {
		return err
	}
	err = s.client.Delete(ctx, ref, kube.DeleteOptions{})
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
