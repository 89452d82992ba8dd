package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
)

func TestDigestIsStable(t *testing.T) {
	a := renderOne(t, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels: {x: '1', y: '2'}\ndata: {k: v, l: w}\n")
	b := renderOne(t, "# another text of the same object\nkind: ConfigMap\ndata:\n  l: 'w'\n  k: |-\n    v\nstatus: {}\nmetadata: {labels: {y: \"2\", x: \"1\"}, name: a, uid: u}\napiVersion: v1\n")
	assert.Equal(t, b.Digest, a.Digest, "the order of keys changes the digest")
	// The digest is stored with live objects: a different digest of the same object would make every object of every
	// instance look changed.
	assert.Equal(t, "sha256:ba507e04df254a8e", a.Digest, "digest")
	c := renderOne(t, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels: {x: '1', y: '2'}\ndata: {k: v, l: x}\n")
	assert.NotEqual(t, c.Digest, a.Digest, "another value has the same digest")
}

func TestDigestIsIndependentOfTheInstance(t *testing.T) {
	target := targettest.Manifests(map[string]string{"a.yaml": deploymentAMF}, map[string]int{"amf": 1})
	first, _ := new(Renderings).Preview(t.Context(), target)
	target.Instance.Namespace, target.Instance.ID, target.Instance.Name, target.Package.ID = "other", "i-2", "core-2", "core@sha256:2"
	second, _ := new(Renderings).Preview(t.Context(), target)
	assert.Equal(t, first.Objects, second.Objects, "digests (-first +second)")
}

func TestSecretDigestIsKeyed(t *testing.T) {
	const (
		plain = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {password: hunter2}\n"
		other = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {password: hunter3}\n"
	)
	sum := func(text string, key []byte) string {
		target := targettest.Manifests(map[string]string{"a.yaml": text}, nil)
		target.DigestKey = key
		preview, ps := new(Renderings).Preview(t.Context(), target)
		if ps.HasErrors() {
			return ps[0].String()
		}
		return preview.Objects["v1/Secret a"]
	}
	one, two := []byte("one"), []byte("two")
	a, b := sum(plain, one), sum("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata:\n  password: >-\n    aHVud\n    GVyMg==\n", one)
	assert.Equal(t, b, a, "stringData and data of the same value differ")
	assert.NotEqual(t, sum(plain, two), sum(plain, one), "the digest of a Secret does not depend on the key")
	assert.NotEqual(t, sum(other, one), sum(plain, one), "the digest of a Secret does not depend on its value")
}

// TestKeyedDigests: the digest of an object that may hold a secret depends on the key and is empty without a key. All other digests
// are the same with any key.
func TestKeyedDigests(t *testing.T) {
	const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n" +
		"    spec: {containers: [{name: c, image: i, env: [{name: MODE, value: fast}, {name: %s, value: hunter2}]}]}\n"
	tests := map[string]struct {
		text  string
		keyed bool
	}{
		"v1/Secret a":          {"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {a: hunter2}\n", true},
		"v1/Secret b":          {"apiVersion: v1\nkind: Secret\nmetadata: {name: b}\n", false},
		"v1/ConfigMap a":       {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {db.password: hunter2}\n", true},
		"v1/ConfigMap b":       {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {secretName: hunter2, password: \"\"}\n", false},
		"apps/v1/Deployment a": {fmt.Sprintf(deployment, "DB_PASSWORD"), true},
		"apps/v1/Deployment b": {strings.Replace(fmt.Sprintf(deployment, "DB_HOST"), "{name: a}", "{name: b}", 1), false},
		"e.org/v1/Radio a":     {"apiVersion: e.org/v1\nkind: Radio\nmetadata: {name: a}\nspec: {cells: [{auth: {apiKey: hunter2}}]}\n", true},
		"bootstrap.cluster.x-k8s.io/v1beta1/KubeadmConfig a": {
			"apiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: KubeadmConfig\nmetadata: {name: a}\nspec: {files: [{path: /etc/x, content: hunter2}]}\n", true,
		},
		"e.org/v1/KubeadmConfig a": {"apiVersion: e.org/v1\nkind: KubeadmConfig\nmetadata: {name: a}\nspec: {files: [{path: /etc/x, content: hunter2}]}\n", false},
	}
	files := map[string]string{}
	for key, tt := range tests {
		files[strings.NewReplacer("/", "-", " ", "-").Replace(key)+".yaml"] = tt.text
	}
	sums := func(key []byte) map[string]string {
		target := targettest.Manifests(files, nil)
		target.DigestKey = key
		preview, ps := new(Renderings).Preview(t.Context(), target)
		require.False(t, ps.HasErrors(), "%v", ps)
		return preview.Objects
	}
	one, two, none := sums([]byte("one")), sums([]byte("two")), sums(nil)
	for key, tt := range tests {
		if one[key] == "" || (one[key] != two[key]) != tt.keyed || (none[key] == "") != tt.keyed {
			t.Errorf("%s: %q and %q with keys, %q without", key, one[key], two[key], none[key])
		}
	}
}
