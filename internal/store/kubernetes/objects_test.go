package kubernetes

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// offline is a store whose server is never asked.
func offline(t *testing.T) *kubeStore {
	t.Helper()
	client, err := kube.New(kube.Config{
		Connection:  vnfm.KubernetesConnection{Endpoint: "https://192.0.2.1:6443"},
		Credentials: vnfm.Credentials{vnfm.CredentialBearerToken: "token"},
	})
	must(t, err)
	s, err := open(t.Context(), client, "ns", "1.2.3", defaultTiming())
	must(t, err)
	return s
}

func TestNames(t *testing.T) {
	seen := map[string]string{}
	for _, kind := range []store.Kind{"vim", "instance", "x-y", "Ü", "store", store.Kind(strings.Repeat("k", 300))} {
		for _, id := range []string{"", "a", "A", "with /:'\"%_ and ü", strings.Repeat("long", 1000)} {
			for what, name := range map[string]string{"record": recordName(kind, id), "key": keyName(kind, id), "label": "x." + kindName(kind)} {
				require.Empty(t, validation.IsDNS1123Subdomain(name), "%s %q %q: name %q", what, kind, id, name)
				if before, ok := seen[name]; ok && what != "label" {
					t.Errorf("%s %q %q has the name of %s", what, kind, id, before)
				}
				seen[name] = what + " " + string(kind) + " " + id
			}
			require.Empty(t, validation.IsValidLabelValue(kindName(kind)), "label of %q", kind)
			require.Empty(t, validation.IsQualifiedName(leaseLabel(id)), "label of a lease")
		}
	}
	require.NotEqual(t, hash("a", "bc"), hash("ab", "c"), "parts run into each other")
}

func TestEncodeRecord(t *testing.T) {
	s := offline(t)
	noise := make([]byte, maxSecret)
	_, err := rand.NewChaCha8([32]byte{}).Read(noise)
	must(t, err)
	at := time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.UTC)
	for name, r := range map[string]store.Record{
		"bare":    {Kind: "vim", ID: "a"},
		"full":    {Kind: "instance", ID: "with ü", Key: "k", Owner: "o", Data: []byte("{}"), Sealed: []byte{0, 255}},
		"large":   {Kind: "instance", ID: "a", Data: bytes.Repeat([]byte("text "), 1<<20), Sealed: noise[:1000]},
		"noise":   {Kind: "instance", ID: "a", Data: noise[:len(noise)/2], Sealed: noise[len(noise)/2:]},
		"too big": {Kind: "instance", ID: "a", Data: noise, Sealed: []byte("x")},
	} {
		r.CreatedAt, r.UpdatedAt, r.Revision = at, at.Add(time.Hour), 7
		m := &meta{name: recordName(r.Kind, r.ID), revision: 7, created: at, mark: "m", pending: true, leases: map[string]string{leaseLabel("l"): "true"}}
		secret, err := s.encode(&r, m)
		if name == "too big" {
			require.ErrorAs(t, err, new(*store.TooLargeError), name)
			continue
		}
		must(t, err)
		if name == "large" && len(secret.Data[dataName+packed]) > len(r.Data)/100 {
			t.Errorf("%s: %d bytes are kept as %d", name, len(r.Data), len(secret.Data[dataName+packed]))
		}
		got, meta, err := s.decode(secret)
		must(t, err)
		require.True(t, bytes.Equal(got.Data, r.Data), "%s: other contents", name)
		require.True(t, bytes.Equal(got.Sealed, r.Sealed), "%s: other contents", name)
		got.Data, got.Sealed, r.Data, r.Sealed = nil, nil, nil, nil
		same(t, name, got, &r)
		if !meta.pending || meta.mark != "m" || meta.leases[leaseLabel("l")] == "" {
			t.Errorf("%s: %+v", name, meta)
		}
		secret.Annotations[annotationID] = "another"
		if _, _, err := s.decode(secret); !errors.Is(err, errDamaged) {
			t.Errorf("%s under another name: %v", name, err)
		}
	}
}
