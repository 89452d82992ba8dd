package cluster

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/controllers"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/stages"
)

// installers is how many objects of the manifests are applied at once.
const installers = 8

// definitions are the manifests whose kinds have no manager in the lab, which takes only the definitions of them: objects can be made,
// and stay as they are.
func definitions() []string { return []string{"openstack-resources"} }

// The kinds of the manifests that the lab does not treat like any other.
const (
	kindDefinition = "CustomResourceDefinition"
	kindDeployment = "Deployment"
	kindNamespace  = "Namespace"
)

// resources are those of the kinds that the manifests hold.
func resources() map[string]schema.GroupVersionResource {
	rights := schema.GroupVersion{Group: "rbac.authorization.k8s.io", Version: "v1"}
	webhooks := schema.GroupVersion{Group: "admissionregistration.k8s.io", Version: "v1"}
	return map[string]schema.GroupVersionResource{
		kindDefinition:                   {Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
		kindDeployment:                   {Group: "apps", Version: "v1", Resource: "deployments"},
		kindNamespace:                    {Version: "v1", Resource: "namespaces"},
		"Secret":                         {Version: "v1", Resource: "secrets"},
		"Service":                        {Version: "v1", Resource: "services"},
		"ServiceAccount":                 {Version: "v1", Resource: "serviceaccounts"},
		"Role":                           rights.WithResource("roles"),
		"RoleBinding":                    rights.WithResource("rolebindings"),
		"ClusterRole":                    rights.WithResource("clusterroles"),
		"ClusterRoleBinding":             rights.WithResource("clusterrolebindings"),
		"MutatingWebhookConfiguration":   webhooks.WithResource("mutatingwebhookconfigurations"),
		"ValidatingWebhookConfiguration": webhooks.WithResource("validatingwebhookconfigurations"),
	}
}

// installClusterAPI applies the manifests of the providers, and returns the Deployments of their managers.
func (l *Lab) installClusterAPI(ctx context.Context) (deployments []types.NamespacedName, err error) {
	config, err := serviceConfig(l.Dir)
	if err != nil {
		return nil, err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the lab's client: %w", err)
	}
	var objects []*unstructured.Unstructured
	for _, manager := range stages.Programs() {
		certified, err := l.component(manager, presentPairs(ctx, client))
		if err != nil {
			return nil, err
		}
		objects = append(objects, certified...)
	}
	for _, name := range definitions() {
		read, err := readManifests(l.clusterAPIFile(name + ".yaml"))
		if err != nil {
			return nil, err
		}
		read = slices.DeleteFunc(read, func(object *unstructured.Unstructured) bool { return object.GetKind() != kindDefinition })
		for _, object := range read {
			unstructured.RemoveNestedField(object.Object, "spec", "conversion")
		}
		objects = append(objects, read...)
	}
	own, err := parseManifests(bytes.NewReader(controllers.Definitions))
	if err != nil {
		return nil, err
	}
	objects = append(objects, own...)
	for _, object := range objects {
		if object.GetKind() == kindDeployment {
			deployments = append(deployments, types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()})
		}
	}
	// Namespaces and definitions come first.
	foundation := func(object *unstructured.Unstructured) bool {
		return object.GetKind() == kindDefinition || object.GetKind() == kindNamespace
	}
	if err := apply(ctx, client, slices.DeleteFunc(slices.Clone(objects), func(o *unstructured.Unstructured) bool { return !foundation(o) })); err != nil {
		return nil, err
	}
	return deployments, apply(ctx, client, slices.DeleteFunc(objects, foundation))
}

func apply(ctx context.Context, client dynamic.Interface, objects []*unstructured.Unstructured) error {
	known := resources()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(installers)
	for _, object := range objects {
		resource, ok := known[object.GetKind()]
		if !ok {
			return fmt.Errorf("the manifests of Cluster API hold an object of kind %s, which the lab does not expect", object.GetKind())
		}
		group.Go(func() error {
			if _, err := client.Resource(resource).Namespace(object.GetNamespace()).Apply(ctx, object.GetName(), object, applyOptions()); err != nil {
				return fmt.Errorf("applying %s %s: %w", object.GetKind(), object.GetName(), err)
			}
			if object.GetKind() != kindDefinition {
				return nil
			}
			// A manager gives up when a kind that it asks for is not there.
			return poll.Until(ctx, "kind "+object.GetName(), func(ctx context.Context) error {
				live, err := client.Resource(resource).Get(ctx, object.GetName(), metav1.GetOptions{})
				if err != nil {
					return err
				}
				return established(live)
			})
		})
	}
	return group.Wait()
}

// established tells whether the API server serves the kind of a definition.
func established(definition *unstructured.Unstructured) error {
	conditions, _, err := unstructured.NestedSlice(definition.Object, "status", "conditions")
	if err != nil {
		return err
	}
	for _, each := range conditions {
		if condition, ok := each.(map[string]any); ok && condition["type"] == "Established" && condition["status"] == "True" {
			return nil
		}
	}
	return errors.New("it is not served yet")
}

func readManifests(path string) ([]*unstructured.Unstructured, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the manifests of Cluster API: %w", err)
	}
	defer file.Close() //nolint:errcheck // It was only read from.
	objects, err := parseManifests(file)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return objects, nil
}

func parseManifests(text io.Reader) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	documents := utilyaml.NewYAMLReader(bufio.NewReader(text))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading document %d: %w", len(objects)+1, err)
		}
		object := &unstructured.Unstructured{}
		if err := utilyaml.Unmarshal(document, &object.Object); err != nil {
			return nil, fmt.Errorf("reading document %d: %w", len(objects)+1, err)
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}
