package kubernetes

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/storetest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// TestConformance runs with the rights of the example and no others.
func TestConformance(t *testing.T) {
	var env labtest.Env
	if os.Getenv("STORETEST_CHILD") == "" {
		env = labtest.Kubernetes(t)
	}
	storetest.Run(t, storetest.Backend{
		New: func(t *testing.T) string { return roleSite(t, env, "vnf-runner").address(t) },
		Open: func(ctx context.Context, address string) (store.Store, error) {
			l, err := siteOf(address)
			if err != nil {
				return nil, err
			}
			return l.open(ctx, quick())
		},
		Damage: func(t *testing.T, address, digest string) {
			t.Helper()
			l, err := siteOf(address)
			must(t, err)
			damage(t, env, l, digest)
		},
		Lease: quick().lease,
		// Each record with a natural key is three requests, and each page one.
		Records: 600,
	})
}

// damage flips a bit in the middle of the first part of a content.
func damage(t *testing.T, env labtest.Env, l site, digest string) {
	t.Helper()
	var s kubeStore
	path := "/api/v1/namespaces/" + l.Namespace + "/secrets/"
	var secret corev1.Secret
	ask(t, env, http.MethodGet, path+s.contentRef(digest).Name, "", &secret)
	if generation, n := chunksOf(&secret.ObjectMeta); n > 0 {
		secret = corev1.Secret{}
		ask(t, env, http.MethodGet, path+s.chunkRef(digest, generation, 0).Name, "", &secret)
	}
	content := secret.Data[contentName]
	content[len(content)/2] ^= 1
	body, err := json.Marshal(secret)
	must(t, err)
	ask(t, env, http.MethodPut, path+secret.Name, string(body), nil)
}
