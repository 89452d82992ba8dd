package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	// lookupLimit bounds the time of all lookups of a chart.
	lookupLimit = 10 * time.Second
	// maxLookedUp bounds a list.
	maxLookedUp = 2000
)

// lookup reads the objects on the VIM that the templates of a chart look up. A preview connects to the VIM only for lookups.
func (d *Driver) lookup(ctx context.Context, t *vnfm.Target, wanted []helm.Lookup) ([]helm.Found, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	own := *t
	if own.VIM == nil {
		if own.Access == nil || own.Instance.VIMID == "" {
			return nil, errors.New("the VIM is not known yet")
		}
		var err error
		if own.VIM, own.Credentials, err = own.Access(ctx, own.Instance.VIMID); err != nil {
			return nil, fmt.Errorf("opening the VIM: %w", err)
		}
	}
	s, err := d.connect(&own, nil)
	if err != nil {
		return nil, err
	}
	out := make([]helm.Found, len(wanted))
	err = s.each(ctx, len(wanted), true, func(ctx context.Context, i int) error {
		out[i] = s.find(ctx, wanted[i])
		return nil
	})
	return out, err
}

// find reads one object or list. The result is empty for a missing object and for a kind that the API server does not serve.
func (s *session) find(ctx context.Context, l helm.Lookup) helm.Found {
	r, err := s.client.Resource(ctx, schema.FromAPIVersionAndKind(l.APIVersion, l.Kind))
	if errors.As(err, new(*kube.UnknownKindError)) {
		return helm.Found{}
	}
	if err != nil {
		return helm.Found{Err: err}
	}
	namespace := l.Namespace
	if !r.Namespaced {
		namespace = ""
	}
	if l.Name == "" {
		return s.findList(ctx, r, namespace)
	}
	if r.Namespaced && namespace == "" {
		return helm.Found{}
	}
	o, err := s.client.Get(ctx, kube.Ref{Resource: r, Namespace: namespace, Name: l.Name})
	if apierrors.IsNotFound(err) {
		return helm.Found{}
	}
	if err != nil {
		return helm.Found{Err: err}
	}
	return encoded(lookedUp(o))
}

func (s *session) findList(ctx context.Context, r kube.Resource, namespace string) helm.Found {
	list, err := s.client.List(ctx, r, namespace, kube.ListOptions{AtMost: maxLookedUp})
	if err != nil {
		return helm.Found{Err: err, TooLarge: errors.Is(err, kube.ErrMore)}
	}
	items := make([]any, 0, len(list))
	for i := range list {
		items = append(items, lookedUp(&list[i]))
	}
	return encoded(map[string]any{"apiVersion": r.GVK.GroupVersion().String(), "kind": r.GVK.Kind + "List", "metadata": map[string]any{}, "items": items})
}

// lookedUp returns an object without its managed fields, which are most of its size.
func lookedUp(o *unstructured.Unstructured) map[string]any {
	o.SetManagedFields(nil)
	return o.Object
}

func encoded(object map[string]any) helm.Found {
	text, err := json.Marshal(object)
	return helm.Found{Object: text, Err: err}
}
