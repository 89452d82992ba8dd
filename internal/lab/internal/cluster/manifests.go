package cluster

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/controllers"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/poll"
)

// installers is how many objects of the manifests are applied at once.
const installers = 8

// definitions are the manifests whose kinds have no manager in the lab: objects of them can be made, and stay as they are.
func definitions() []string { return []string{"openstack", "openstack-resources"} }

// kindDefinition is the kind of the objects that add kinds to the API server.
const kindDefinition = "CustomResourceDefinition"

// resources are those of the kinds that the manifests hold.
func resources() map[string]schema.GroupVersionResource {
	return map[string]schema.GroupVersionResource{
		kindDefinition:                   {Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
		"MutatingWebhookConfiguration":   {Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations"},
		"ValidatingWebhookConfiguration": {Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations"},
	}
}

// installClusterAPI applies the manifests of the providers, with their webhooks where this lab's managers serve them.
func (l *Lab) installClusterAPI(ctx context.Context, state *layout.State) error {
	authority, err := readPEM(l.Dir.PKI("ca.crt"))
	if err != nil {
		return err
	}
	var objects []*unstructured.Unstructured
	for i, manager := range managers() {
		read, err := readManifests(l.clusterAPIFile(manager + ".yaml"))
		if err != nil {
			return err
		}
		for _, object := range read {
			if err := serveWebhooks(object, state.Ports.Manager(i), authority); err != nil {
				return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
			}
		}
		objects = append(objects, read...)
	}
	for _, name := range definitions() {
		read, err := readManifests(l.clusterAPIFile(name + ".yaml"))
		if err != nil {
			return err
		}
		for _, object := range read {
			unstructured.RemoveNestedField(object.Object, "spec", "conversion")
		}
		objects = append(objects, read...)
	}
	own, err := parseManifests(bytes.NewReader(controllers.Definitions))
	if err != nil {
		return err
	}
	return l.apply(ctx, append(objects, own...))
}

func (l *Lab) apply(ctx context.Context, objects []*unstructured.Unstructured) error {
	config, err := serviceConfig(l.Dir)
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making the lab's client: %w", err)
	}
	known := resources()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(installers)
	for _, object := range objects {
		resource, ok := known[object.GetKind()]
		if !ok {
			return fmt.Errorf("the manifests of Cluster API hold an object of kind %s, which the lab does not expect", object.GetKind())
		}
		group.Go(func() error {
			if _, err := client.Resource(resource).Apply(ctx, object.GetName(), object, applyOptions()); err != nil {
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

// serveWebhooks has the API server find the webhooks of an object, of which the manifests say that they are behind a
// service, at a port of this machine. The certificate there is the lab's: nothing is left for cert-manager to do.
func serveWebhooks(object *unstructured.Unstructured, port int, authority []byte) error {
	unstructured.RemoveNestedField(object.Object, "metadata", "annotations", "cert-manager.io/inject-ca-from")
	if object.GetKind() == kindDefinition {
		client, found, err := unstructured.NestedMap(object.Object, "spec", "conversion", "webhook", "clientConfig")
		if err != nil || !found {
			return err
		}
		serveWebhook(client, port, authority)
		return unstructured.SetNestedMap(object.Object, client, "spec", "conversion", "webhook", "clientConfig")
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
		client, _, err := unstructured.NestedMap(webhook, "clientConfig")
		if err != nil {
			return err
		}
		serveWebhook(client, port, authority)
		webhook["clientConfig"] = client
	}
	return unstructured.SetNestedSlice(object.Object, webhooks, "webhooks")
}

func serveWebhook(client map[string]any, port int, authority []byte) {
	path, _, _ := unstructured.NestedString(client, "service", "path")
	delete(client, "service")
	client["url"] = endpoint(port) + "/" + strings.TrimPrefix(path, "/")
	client["caBundle"] = base64.StdEncoding.EncodeToString(authority)
}
