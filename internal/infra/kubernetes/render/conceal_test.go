package render

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestConceal masks the data of Secrets, but no names of objects.
func TestConceal(t *testing.T) {
	ctx := vnfm.WithConcealed(t.Context())
	r := &Rendering{Objects: []*Object{
		{GVK: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Name: "postgres", Content: map[string]any{"data": map[string]any{"a": "in-clear"}}},
		{
			GVK: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, Name: "login",
			Content: map[string]any{"data": map[string]any{"password": "cGxhbnRlZC1wYXNzd29yZA==", "user": "cG9zdGdyZXM="}, "stringData": map[string]any{"token": "planted-token", ".dockerconfigjson": `{"auths":{"r.example":{"auth":"dTpwbGFudGVkLWxvZ2lu"}}}`, "app.yaml": "db:\n  user: app\n  password: planted-inside\n  pin: 1\n"}},
		},
	}}
	r.Conceal(ctx)
	got := vnfm.ConcealedIn(ctx).Hide("postgres in-clear planted-password cGxhbnRlZC1wYXNzd29yZA== planted-token login planted-login planted-inside app")
	assert.Equal(t, "postgres in-clear (sensitive) (sensitive) (sensitive) login (sensitive) (sensitive) app", got)
}
