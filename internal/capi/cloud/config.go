package cloud

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The cloud controller manager and the CSI drivers of a cluster need its application credential, too. They read it from a Secret when
// they start. The Secret is written before the add-ons that need it, and again with each new credential. Workloads that have read the
// former credential are then restarted, before the former credential is deleted.

// onWorkload is the connection under which the Secret is listed among the objects of its cluster.
const onWorkload = "workload cluster"

// annotationChanged is the time of the last change of the content of the Secret. Older workloads have read the former content.
const annotationChanged = vnfm.LabelPrefix + "changed-at"

// Kinds that need no discovery, because every workload API serves them.
var (
	secrets = kube.Resource{
		GVK: schema.GroupVersionKind{Version: "v1", Kind: "Secret"},
		GVR: schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, Namespaced: true,
	}
	namespaces = kube.Resource{
		GVK: schema.GroupVersionKind{Version: "v1", Kind: "Namespace"},
		GVR: schema.GroupVersionResource{Version: "v1", Resource: "namespaces"},
	}
	workloads = []kube.Resource{appsResource("Deployment", "deployments"), appsResource("DaemonSet", "daemonsets"), appsResource("StatefulSet", "statefulsets")}
)

func appsResource(kind, plural string) kube.Resource {
	return kube.Resource{
		GVK: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: kind},
		GVR: schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: plural}, Namespaced: true,
	}
}

// observeLimit bounds the requests of a refresh to a workload API, which may be unreachable.
const observeLimit = 10 * time.Second

// ConfigKey returns the key of the Secret among the objects of its cluster.
func ConfigKey(c *vnfm.ClusterCloudConfig) string {
	return vnfm.ConnectionKey(onWorkload, "v1/Secret "+c.Namespace+"/"+c.SecretName)
}

// ConfigDigest returns the digest of the Secret in a plan. It does not depend on the credential.
func ConfigDigest(c *vnfm.ClusterCloudConfig) string {
	// The specification has only strings.
	text, _ := json.Marshal(c)
	sum := sha256.Sum256(text)
	return digest.Shown(sum[:])
}

// Config is the Secret with the application credential on a workload cluster.
type Config struct {
	*Credential
	// Workload returns a client of the workload API.
	Workload func(ctx context.Context) (*kube.Client, error)
}

// IsNeeded reports whether there is anything to write or to remove.
func (c *Config) IsNeeded() bool {
	return !c.Spec.IsPaused() && (c.Spec.CloudConfig() != nil || len(c.inventory.configs()) > 0)
}

// Ensure writes the credential of Credential.Ensure into the Secret, restarts the workloads that have read another credential, and
// deletes Secrets of other names. It needs the workload API.
func (c *Config) Ensure(ctx context.Context) error {
	client, err := c.Workload(ctx)
	if err != nil {
		return err
	}
	wanted := c.Spec.CloudConfig()
	if wanted != nil {
		if err := c.ensure(ctx, client, wanted); err != nil {
			return fmt.Errorf("writing the cloud configuration %s/%s on %s: %w", wanted.Namespace, wanted.SecretName, c.Cluster, err)
		}
	}
	for _, item := range c.inventory.configs() {
		if wanted != nil && item.Namespace == wanted.Namespace && item.Name == wanted.SecretName {
			continue
		}
		if err := c.removeFormer(ctx, client, item); err != nil {
			return fmt.Errorf("removing the cloud configuration %s/%s on %s: %w", item.Namespace, item.Name, c.Cluster, err)
		}
	}
	return nil
}

func (c *Config) ensure(ctx context.Context, client *kube.Client, wanted *vnfm.ClusterCloudConfig) error {
	c.inventory.Progress(ctx, "writing the cloud configuration of "+c.String())
	if err := c.inventory.addConfig(ctx, wanted); err != nil {
		return err
	}
	ref := configRef(wanted)
	present, err := client.Get(ctx, ref)
	switch {
	case apierrors.IsNotFound(err):
		return c.create(ctx, client, wanted)
	case err != nil:
		return err
	case !c.owns(present) && !c.target.AdoptExisting:
		return &vnfm.ConflictError{
			Object: ref.String(), Owner: "another owner",
			Detail: "choose another openstack.cloud_config.secret_name, or take it over with adopt_existing",
		}
	}
	secret, err := c.secretOf(ctx, wanted)
	if err != nil {
		return err
	}
	if !holds(present.Object, secret) {
		changed := time.Now().UTC().Format(time.RFC3339)
		meta, _ := secret["metadata"].(map[string]any)
		meta["annotations"] = map[string]any{annotationChanged: changed}
		meta["resourceVersion"] = present.GetResourceVersion()
		if _, err := client.Replace(ctx, ref, secret); err != nil {
			return err
		}
		present.SetAnnotations(map[string]string{annotationChanged: changed})
	}
	return c.restartReaders(ctx, client, wanted, present.GetAnnotations()[annotationChanged])
}

// create creates the Secret, and its namespace if that is missing.
func (c *Config) create(ctx context.Context, client *kube.Client, wanted *vnfm.ClusterCloudConfig) error {
	secret, err := c.secretOf(ctx, wanted)
	if err != nil {
		return err
	}
	namespace := kube.Ref{Resource: namespaces, Name: wanted.Namespace}
	if _, err := client.Get(ctx, namespace); apierrors.IsNotFound(err) {
		object := map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": wanted.Namespace}}
		if _, err := client.Create(ctx, namespace, object); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	} else if err != nil {
		return err
	}
	_, err = client.Create(ctx, configRef(wanted), secret)
	return err
}

func configRef(c *vnfm.ClusterCloudConfig) kube.Ref {
	return kube.Ref{Resource: secrets, Namespace: c.Namespace, Name: c.SecretName}
}

func (c *Config) owns(secret *unstructured.Unstructured) bool {
	return secret.GetLabels()[vnfm.InstanceLabel] == c.Instance
}

// secretOf returns the Secret with the present credential.
func (c *Config) secretOf(ctx context.Context, wanted *vnfm.ClusterCloudConfig) (map[string]any, error) {
	client, err := c.cloud(ctx, c.wanted.VIMID)
	if err != nil {
		return nil, err
	}
	at := client.Connection()
	text := openstack.CloudConf(at, c.current, c.secret, wanted.Settings)
	data := map[string]any{openstack.FileCloudConf: base64.StdEncoding.EncodeToString([]byte(text.Reveal()))}
	if at.CACertificate != "" {
		data[openstack.FileCA] = base64.StdEncoding.EncodeToString([]byte(at.CACertificate))
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
		"metadata": map[string]any{
			"name": wanted.SecretName, "namespace": wanted.Namespace,
			"labels": map[string]any{labelCredential: "", vnfm.InstanceLabel: c.Instance},
		},
		"data": data,
	}, nil
}

// removeFormer deletes a Secret that the specification no longer has.
func (c *Config) removeFormer(ctx context.Context, client *kube.Client, item vnfm.InventoryItem) error {
	ref := kube.Ref{Resource: secrets, Namespace: item.Namespace, Name: item.Name}
	present, err := client.Get(ctx, ref)
	if err == nil && c.owns(present) {
		err = client.Delete(ctx, ref, kube.DeleteOptions{UID: present.GetUID()})
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	return c.inventory.remove(ctx, func(i vnfm.InventoryItem) bool { return i == item })
}

// restartReaders restarts the workloads of the namespace that read the Secret and are older than its content. It waits for them, because
// they use the former credential until then. Workloads with the annotation of this content were restarted by an earlier try.
func (c *Config) restartReaders(ctx context.Context, client *kube.Client, wanted *vnfm.ClusterCloudConfig, changed string) error {
	at, err := time.Parse(time.RFC3339, changed)
	if err != nil {
		// The Secret has never had another content.
		return nil //nolint:nilerr // see above
	}
	var rolled []kube.Ref
	for _, kind := range workloads {
		all, err := client.List(ctx, kind, wanted.Namespace, kube.ListOptions{})
		if err != nil {
			return err
		}
		for i := range all {
			if !all[i].GetCreationTimestamp().Time.Before(at) || !readsSecret(&all[i], wanted.SecretName) || restartedFor(&all[i]) == changed {
				continue
			}
			ref := kube.Ref{Resource: kind, Namespace: wanted.Namespace, Name: all[i].GetName()}
			if err := c.restart(ctx, client, ref, changed); err != nil {
				return err
			}
			rolled = append(rolled, ref)
		}
	}
	return client.WaitReady(ctx, rolled, kube.WaitOptions{Progress: func(ready, total int, waitingFor string) {
		c.inventory.Progress(ctx, fmt.Sprintf("rolling out what reads the cloud configuration of %s: %d of %d ready, waiting for %s", c.Cluster, ready, total, waitingFor))
	}})
}

func (c *Config) restart(ctx context.Context, client *kube.Client, ref kube.Ref, changed string) error {
	object := map[string]any{
		"apiVersion": ref.Resource.GVK.GroupVersion().String(), "kind": ref.Resource.GVK.Kind,
		"metadata": map[string]any{"name": ref.Name, "namespace": ref.Namespace},
		"spec":     map[string]any{"template": map[string]any{"metadata": map[string]any{"annotations": map[string]any{annotationChanged: changed}}}},
	}
	_, err := client.Apply(ctx, ref, object, kube.ApplyOptions{FieldManager: kube.RestartFieldManager, Force: true})
	return err
}

func restartedFor(workload *unstructured.Unstructured) string {
	text, _, _ := unstructured.NestedString(workload.Object, "spec", "template", "metadata", "annotations", annotationChanged)
	return text
}

// readsSecret reports whether the pods of a workload use a Secret as volume or environment.
func readsSecret(workload *unstructured.Unstructured, name string) bool {
	spec, _, _ := unstructured.NestedMap(workload.Object, "spec", "template", "spec")
	return namesSecret(spec, name)
}

// namesSecret looks for references to a Secret: `secretName` of a volume, `name` below `secret` of a projected volume, `secretRef`
// and `secretKeyRef` of an environment.
func namesSecret(value any, name string) bool {
	switch v := value.(type) {
	case []any:
		for _, each := range v {
			if namesSecret(each, name) {
				return true
			}
		}
	case map[string]any:
		for key, each := range v {
			fields, _ := each.(map[string]any)
			if key == "secret" || key == "secretRef" || key == "secretKeyRef" {
				if fields["secretName"] == name || fields["name"] == name {
					return true
				}
			}
			if namesSecret(each, name) {
				return true
			}
		}
	}
	return false
}

// Observe adds the Secret to the observation of the cluster: its digest if the Secret is unchanged, else the difference. The Secret
// counts as unchanged if the workload API does not answer.
func (c *Config) Observe(ctx context.Context, seen *vnfm.Observation) {
	wanted := c.Spec.CloudConfig()
	if wanted == nil || c.Spec.IsPaused() {
		return
	}
	key := ConfigKey(wanted)
	seen.Objects[key] = ConfigDigest(wanted)
	ctx, cancel := context.WithTimeout(ctx, observeLimit)
	defer cancel()
	client, err := c.Workload(ctx)
	if err != nil {
		return
	}
	present, err := client.Get(ctx, configRef(wanted))
	switch {
	case apierrors.IsNotFound(err):
		delete(seen.Objects, key)
		seen.Gone = append(seen.Gone, key)
	case err != nil:
	case !c.owns(present):
		seen.Objects[key] = vnfm.Drifted + "the Secret belongs to another owner"
	default:
		if secret, err := c.secretOf(ctx, wanted); err == nil && c.current != "" && !holds(present.Object, secret) {
			seen.Objects[key] = vnfm.Drifted + "data." + openstack.FileCloudConf
		}
	}
}
