package helm

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// revisionChart shows its revision, keeps a password by lookup and reads a ConfigMap of others.
func revisionChart() fstest.MapFS {
	files := with("templates/amf.yaml", configMap(`revision: "{{ .Release.Revision }}"`, `install: "{{ .Release.IsInstall }}"`, `upgrade: "{{ .Release.IsUpgrade }}"`,
		`shared: "{{ (lookup "v1" "ConfigMap" "shared" "zone").data.zone }}"`))
	files["Files/core/templates/secret.yaml"] = &fstest.MapFile{Data: []byte(`{{- $old := lookup "v1" "Secret" .Release.Namespace "login" }}
apiVersion: v1
kind: Secret
metadata: { name: login }
data: { password: {{ if $old }}{{ $old.data.password }}{{ else }}{{ randAlphaNum 12 | b64enc }}{{ end }} }
`)}
	return files
}

// cluster answers the lookups of a test.
type cluster struct {
	objects map[string]string
	err     error
	asked   []string
}

func (c *cluster) lookup(_ context.Context, wanted []Lookup) ([]Found, error) {
	if c.err != nil {
		return nil, c.err
	}
	out := make([]Found, len(wanted))
	for i, l := range wanted {
		c.asked = append(c.asked, l.String())
		if text := c.objects[l.String()]; text != "" {
			out[i].Object = json.RawMessage(text)
		}
	}
	return out, nil
}

func (c *cluster) options(values, revisions int, before, results []byte) Options {
	return Options{Values: map[string]any{"values": values, "of": revisions}, Lookup: c.lookup, Before: before, Results: results}
}

// shown are revision, install and upgrade of a rendering.
func shown(t *testing.T, r *Rendering) string {
	t.Helper()
	return value(t, r, "revision") + " " + value(t, r, "install") + " " + value(t, r, "upgrade") + " " + value(t, r, "shared")
}

const zone = "v1 ConfigMap shared/zone"

// TestRevisions renders an installation, upgrades, the same revision again and a rollback.
func TestRevisions(t *testing.T) {
	files := revisionChart()
	c := &cluster{objects: map[string]string{zone: `{"data":{"zone":"a"}}`}}
	first := kept(t, files, c.options(1, 0, nil, nil), RandomKept)
	require.Equal(t, "1 true false a", shown(t, first))
	require.ElementsMatch(t, []string{zone, "v1 Secret ran/login"}, c.asked)

	// What lookup has found stays as long as the revision does, and is not asked for.
	c.objects[zone], c.asked = `{"data":{"zone":"b"}}`, nil
	for _, random := range []Randomness{RandomPlanned, RandomKept} {
		again := kept(t, files, c.options(1, 0, first.Results, first.Results), random)
		require.Equal(t, first.manifest(), again.manifest())
	}
	require.Empty(t, c.asked)

	plan := kept(t, files, c.options(2, 0, first.Results, first.Results), RandomPlanned)
	second := kept(t, files, c.options(2, 0, first.Results, first.Results), RandomKept)
	require.Equal(t, "2 false true b", shown(t, second))
	require.Equal(t, second.manifest(), plan.manifest())
	require.Empty(t, laterIn(plan))
	password := func(r *Rendering) string {
		_, text, _ := strings.Cut(r.manifest(), "password: ")
		return strings.Fields(text)[0]
	}
	require.Equal(t, password(first), password(second))

	// Another operation of the same update makes no further revision, as its plan foretold.
	third := kept(t, files, c.options(3, 0, first.Results, second.Results), RandomKept)
	require.Equal(t, "2 false true b", shown(t, third))
	// A rollback renders what was before, also after an operation that was resumed.
	back := c.options(1, 0, second.Results, third.Results)
	back.Restores = true
	restored := kept(t, files, back, RandomKept)
	require.Equal(t, first.manifest(), restored.manifest())
	require.Equal(t, first.manifest(), kept(t, files, c.options(1, 0, restored.Results, restored.Results), RandomPlanned).manifest())
	// A configuration that is taken back is a revision of its own. Two operations and a rollback are three records of Helm.
	require.Equal(t, "3 false true b", shown(t, kept(t, files, c.options(1, 0, second.Results, second.Results), RandomKept)))
	require.Equal(t, "5 false true b", shown(t, kept(t, files, c.options(4, 0, restored.Results, restored.Results), RandomKept)))

	// A release that was never deployed is installed, whatever an attempt has rendered.
	fresh := c.options(5, 0, first.Results, first.Results)
	fresh.New = true
	require.Equal(t, "1 true false b", shown(t, kept(t, files, fresh, RandomKept)))
	// So is one of another name.
	other, err := Load(t.Context(), files, "Files/core")
	require.NoError(t, err)
	o := c.options(1, 0, first.Results, first.Results)
	o.Release, o.Namespace, o.Random = "other", "ran", RandomKept
	r, ps := other.Render(t.Context(), o)
	require.Empty(t, ps)
	require.Equal(t, "1 true false b", shown(t, r))
}

// TestLookupWithoutAnswer: the plan knows nothing then, and says of what.
func TestLookupWithoutAnswer(t *testing.T) {
	files := with("templates/amf.yaml", configMap(`shared: "{{ dig "data" "zone" "none" (lookup "v1" "ConfigMap" "shared" "zone") }}"`, `own: "{{ lookup "v1" "ConfigMap" "ran" "a" | len }}"`))
	c := &cluster{err: errors.New("the VIM does not answer")}
	r, ps := renderedAs(t, files, c.options(1, 0, nil, nil), RandomPlanned)
	require.Len(t, ps, 1)
	require.Equal(t, vnfm.SeverityWarning, ps[0].Severity)
	require.Equal(t, "Files/core/templates/amf.yaml", ps[0].File)
	require.Contains(t, ps[0].String(), `lookup of v1 ConfigMap shared/zone has no answer: the VIM does not answer`)
	require.True(t, r.NamesLater)
	_, ps = renderedAs(t, files, c.options(1, 0, nil, nil), RandomKept)
	require.True(t, ps.HasErrors(), "an apply rendered what it does not know")

	// A template that fails without an object that is there is no error of a plan that cannot see it.
	r, ps = renderedAs(t, with("templates/amf.yaml", configMap(`a: "{{ (lookup "v1" "ConfigMap" "shared" "zone").data.zone }}"`,
		`b: "{{ len (lookup "v1" "ConfigMap" "shared" "").items }}"`)), c.options(1, 0, nil, nil), RandomPlanned)
	require.False(t, ps.HasErrors())
	require.Len(t, ps, 2)
	require.True(t, r.NamesLater)

	// Without a cluster to ask nothing is found, by plan and apply alike.
	r, ps = renderedAs(t, files, Options{}, RandomPlanned)
	require.Len(t, ps, 1)
	require.False(t, r.NamesLater)
	require.Equal(t, "none", value(t, r, "shared"))

	// A list has the Secrets that are recorded then.
	listed := revisionChart()
	listed["Files/core/templates/amf.yaml"] = &fstest.MapFile{Data: []byte(configMap(`all: "{{ len (dig "items" list (lookup "v1" "Secret" "ran" "")) }}"`))}
	first, _ := renderedAs(t, listed, Options{}, RandomKept)
	require.Equal(t, "0", value(t, first, "all"))
	second, ps := renderedAs(t, listed, Options{Results: first.Results, Values: map[string]any{"other": true}}, RandomKept)
	require.Equal(t, "1", value(t, second, "all"))
	require.Len(t, ps, 1)
}

// TestLookupIsBounded: more than can be remembered is not found.
func TestLookupIsBounded(t *testing.T) {
	files := with("templates/amf.yaml", configMap(`all: "{{ len (lookup "v1" "ConfigMap" "shared" "") }}"`))
	var noise strings.Builder
	for i := range maxFound / 8 {
		fmt.Fprintf(&noise, "%x", sha256.Sum256([]byte{byte(i), byte(i >> 8), byte(i >> 16)}))
	}
	c := &cluster{objects: map[string]string{"v1 ConfigMap shared/": `{"a":"` + noise.String() + `"}`}}
	r, ps := renderedAs(t, files, c.options(1, 0, nil, nil), RandomKept)
	require.Len(t, ps, 1)
	require.Contains(t, ps[0].String(), "128 KiB")
	require.Equal(t, "0", value(t, r, "all"))
	require.Equal(t, r.manifest(), func() string {
		again, _ := renderedAs(t, files, c.options(1, 0, r.Results, r.Results), RandomPlanned)
		return again.manifest()
	}())
}

// TestLookupKeepsSecrets: values of Secrets of others are hidden in everything that the operation says, also where the chart fails, and
// where the answer is a remembered one.
func TestLookupKeepsSecrets(t *testing.T) {
	const secret = "planted-elsewhere"
	encoded := base64.StdEncoding.EncodeToString([]byte(secret))
	c := &cluster{objects: map[string]string{"v1 Secret shared/token": `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"token","namespace":"shared"},"data":{"token":"` + encoded + `","namespace":"cmFu"}}`}}
	const read = `(lookup "v1" "Secret" "shared" "token").data.token`
	files := with("templates/amf.yaml", configMap(`token: "{{ `+read+` | b64dec }}"`, `{{- if .Values.broken }}{{ fail (`+read+` | b64dec) }}{{ end }}`))
	chart, err := Load(t.Context(), files, "Files/core")
	require.NoError(t, err)
	var results []byte
	for i, broken := range []bool{false, false, true} {
		c.asked = nil
		ctx := vnfm.WithConcealed(t.Context())
		o := c.options(1, 0, results, results)
		o.Release, o.Namespace, o.Random, o.Values["broken"] = "site", "ran", RandomKept, broken
		r, ps := chart.Render(ctx, o)
		require.Equal(t, broken, ps.HasErrors())
		require.Equal(t, i == 1, len(c.asked) == 0, "the second answer is remembered")
		if !broken {
			results = r.Results
			require.Contains(t, r.manifest(), secret)
		}
		for _, text := range []string{secret, encoded} {
			require.NotContains(t, vnfm.ConcealedIn(ctx).Hide(text), text)
			for _, p := range ps {
				require.NotContains(t, p.String(), text)
			}
		}
		// A value that is the name of the release's own namespace stays readable.
		require.Equal(t, "ran", vnfm.ConcealedIn(ctx).Hide("ran"))
	}
}
