package cluster

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/pki"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/stages"
)

// injectFrom is the annotation that asks cert-manager for the authority of a Certificate, named with its namespace.
const injectFrom = "cert-manager.io/inject-ca-from"

// authorityKey is where a Secret of cert-manager has the authority that signed its certificate.
const authorityKey = "ca.crt"

// pairs give the Secret of a certificate for a server of some names.
type pairs func(namespace, secret string, names []string) (map[string][]byte, error)

// WriteComponents writes the manifests of Cluster API's managers, one file for each, with certificates made for the
// occasion: what a cluster without cert-manager needs to become a management cluster. It has one provider of infrastructure,
// in-memory or openstack; the latter comes with OpenStack Resource Controller, whose kinds it uses.
func (l *Lab) WriteComponents(folder, infrastructure string) error {
	providers := []string{stages.ProgramInMemory, stages.ProgramOpenStack}
	if !slices.Contains(providers, infrastructure) {
		return fmt.Errorf("the providers of infrastructure are %v, not %q", providers, infrastructure)
	}
	names := slices.DeleteFunc(stages.Programs(), func(name string) bool { return slices.Contains(providers, name) && name != infrastructure })
	if infrastructure == stages.ProgramOpenStack {
		names = append(names, definitions()...)
	}
	if _, err := l.clusterAPIVersion(); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return fmt.Errorf("making the folder of the components: %w", err)
	}
	for _, name := range names {
		objects, err := l.component(name, newPairs)
		if err != nil {
			return err
		}
		var text bytes.Buffer
		for _, object := range objects {
			document, err := yaml.Marshal(object.Object)
			if err != nil {
				return fmt.Errorf("encoding %s %s: %w", object.GetKind(), object.GetName(), err)
			}
			text.WriteString("---\n")
			text.Write(document)
		}
		if err := layout.WriteFile(filepath.Join(folder, name+".yaml"), text.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// component reads the manifests of a manager and does for them what cert-manager would.
func (l *Lab) component(name string, certificates pairs) ([]*unstructured.Unstructured, error) {
	objects, err := readManifests(l.clusterAPIFile(name + ".yaml"))
	if err != nil {
		return nil, err
	}
	return certify(objects, certificates)
}

// certify replaces Certificates by Secrets, and their authorities into the webhooks that ask for them.
func certify(objects []*unstructured.Unstructured, certificates pairs) ([]*unstructured.Unstructured, error) {
	authorities := map[string]string{}
	for i, object := range objects {
		if object.GetKind() != "Certificate" {
			continue
		}
		name, _, _ := unstructured.NestedString(object.Object, "spec", "secretName")
		names, _, _ := unstructured.NestedStringSlice(object.Object, "spec", "dnsNames")
		data, err := certificates(object.GetNamespace(), name, names)
		if err != nil {
			return nil, err
		}
		authorities[object.GetNamespace()+"/"+object.GetName()] = encode(data[authorityKey])
		objects[i] = secretOf(object, name, data)
	}
	objects = slices.DeleteFunc(objects, func(object *unstructured.Unstructured) bool { return object.GetKind() == "Issuer" })
	for _, object := range objects {
		from, asked := object.GetAnnotations()[injectFrom]
		if !asked {
			continue
		}
		unstructured.RemoveNestedField(object.Object, "metadata", "annotations", injectFrom)
		authority, ok := authorities[from]
		if !ok {
			return nil, fmt.Errorf("%s %s asks for the authority of %s, which has no Certificate", object.GetKind(), object.GetName(), from)
		}
		if err := trust(object, authority); err != nil {
			return nil, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return objects, nil
}

// secretOf is the Secret that a Certificate asks for.
func secretOf(certificate *unstructured.Unstructured, name string, data map[string][]byte) *unstructured.Unstructured {
	encoded := map[string]any{}
	for key, value := range data {
		encoded[key] = encode(value)
	}
	secret := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": string(corev1.SecretTypeTLS), "data": encoded,
	}}
	secret.SetNamespace(certificate.GetNamespace())
	secret.SetName(name)
	secret.SetLabels(certificate.GetLabels())
	return secret
}

// trust gives an object with webhooks their authority. A definition without conversion has none.
func trust(object *unstructured.Unstructured, authority string) error {
	if object.GetKind() == kindDefinition {
		path := []string{"spec", "conversion", "webhook", "clientConfig"}
		if _, found, err := unstructured.NestedMap(object.Object, path...); err != nil || !found {
			return err
		}
		return unstructured.SetNestedField(object.Object, authority, append(path, "caBundle")...)
	}
	webhooks, _, err := unstructured.NestedSlice(object.Object, "webhooks")
	if err != nil {
		return err
	}
	for i := range webhooks {
		webhook, ok := webhooks[i].(map[string]any)
		if !ok {
			return fmt.Errorf("webhook %d is a %T", i, webhooks[i])
		}
		if err := unstructured.SetNestedField(webhook, authority, "clientConfig", "caBundle"); err != nil {
			return err
		}
	}
	return unstructured.SetNestedSlice(object.Object, webhooks, "webhooks")
}

func encode(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

// newPairs signs each certificate with an authority of its own, which is then forgotten.
func newPairs(namespace, secret string, names []string) (map[string][]byte, error) {
	authority, err := pki.NewCA(namespace + "-webhooks")
	if err != nil {
		return nil, err
	}
	pair, err := authority.Issue(pki.Request{CommonName: secret, Names: names})
	if err != nil {
		return nil, err
	}
	key, err := pair.KeyPEM()
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		authorityKey: authority.CertificatePEM(), corev1.TLSCertKey: pair.CertificatePEM(), corev1.TLSPrivateKeyKey: key,
	}, nil
}

// presentPairs are the certificates that are there already, which the managers have read, and new ones.
func presentPairs(ctx context.Context, client dynamic.Interface) pairs {
	return func(namespace, secret string, names []string) (map[string][]byte, error) {
		live, err := client.Resource(resources()["Secret"]).Namespace(namespace).Get(ctx, secret, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return newPairs(namespace, secret, names)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the certificate %s/%s: %w", namespace, secret, err)
		}
		encoded, _, err := unstructured.NestedStringMap(live.Object, "data")
		if err != nil {
			return nil, fmt.Errorf("reading the certificate %s/%s: %w", namespace, secret, err)
		}
		data := map[string][]byte{}
		for key, value := range encoded {
			if data[key], err = base64.StdEncoding.DecodeString(value); err != nil {
				return nil, fmt.Errorf("reading the certificate %s/%s: %w", namespace, secret, err)
			}
		}
		return data, nil
	}
}
