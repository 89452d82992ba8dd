package helm

import (
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// kept renders a chart as an apply does, or as a plan, and returns its manifest.
func kept(t *testing.T, files fstest.MapFS, o Options, random Randomness) *Rendering {
	t.Helper()
	r, ps := renderedAs(t, files, o, random)
	require.Empty(t, ps)
	return r
}

func renderedAs(t *testing.T, files fstest.MapFS, o Options, random Randomness) (*Rendering, vnfm.Problems) {
	t.Helper()
	c, err := Load(t.Context(), files, "Files/core")
	require.NoError(t, err)
	o.Release, o.Namespace, o.Random = "site", "ran", random
	return c.Render(t.Context(), o)
}

// configMap is a template of one ConfigMap with these data.
func configMap(data ...string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndata:\n  " + strings.Join(data, "\n  ") + "\n"
}

// value is a value of a ConfigMap in a rendering.
func value(t *testing.T, r *Rendering, name string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^  ` + name + `: "?([^"\n]*)"?$`).FindStringSubmatch(r.manifest())
	require.NotNil(t, found, "%s in\n%s", name, r.manifest())
	return found[1]
}

// laterIn are the objects that a plan does not know.
func laterIn(r *Rendering) []string {
	var out []string
	for i, m := range r.Manifests {
		if m.Later {
			out = append(out, r.sources[i].Identity)
		}
	}
	return out
}

// TestResultsAreRemembered calls every function that gives something else at every call: an
// apply makes a result, a later one and a plan have it again, and the first plan knows that it
// does not know it.
func TestResultsAreRemembered(t *testing.T) {
	const ca = `{{ $ca := genCA "ca" 365 }}`
	for name, call := range map[string]string{
		"randAlphaNum": `{{ randAlphaNum 12 }}`, "randAlpha": `{{ randAlpha 12 }}`, "randNumeric": `{{ randNumeric 9 }}`,
		"randAscii": `{{ randAscii 12 | b64enc }}`, "randBytes": `{{ randBytes 12 }}`, "randInt": `{{ randInt 100 100000000 }}`,
		"uuidv4": `{{ uuidv4 }}`, "shuffle": `{{ shuffle "abcdefghijklmnopqrstuvwxyz" }}`,
		"bcrypt": `{{ bcrypt "secret" }}`, "htpasswd": `{{ htpasswd "amf" "secret" }}`, "encryptAES": `{{ encryptAES "key" "plain" }}`,
		"genPrivateKey":            `{{ genPrivateKey "ecdsa" | b64enc }}`,
		"genCA":                    ca + `{{ $ca.Cert | b64enc }}`,
		"genCAWithKey":             `{{ (genCAWithKey "ca" 365 (genPrivateKey "ecdsa")).Key | b64enc }}`,
		"genSignedCert":            ca + `{{ (genSignedCert "amf" nil (list "amf.ran.svc") 365 $ca).Cert | b64enc }}`,
		"genSignedCertWithKey":     ca + `{{ (genSignedCertWithKey "amf" (list "10.0.0.1") nil 365 $ca (genPrivateKey "ecdsa")).Cert | b64enc }}`,
		"genSelfSignedCert":        `{{ (genSelfSignedCert "amf" nil nil 365).Cert | b64enc }}`,
		"genSelfSignedCertWithKey": `{{ (genSelfSignedCertWithKey "amf" nil nil 365 (genPrivateKey "ecdsa")).Cert | b64enc }}`,
		"now":                      `{{ now }}`, "date": `{{ now | date "2006-01-02T15:04:05" }}`, "date of nothing": `{{ date "20060102150405" "" }}`,
		"ago": `{{ ago (toDate "2006-01-02" "2020-01-01") }}`, "durationRound": `{{ durationRound (toDate "2006-01-02" "2020-01-01") }}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := with("templates/amf.yaml", configMap("a: "+call, "b: same")+"---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: b }\n")
			plan := kept(t, files, Options{}, RandomPlanned)
			require.Equal(t, []string{"v1 ConfigMap a"}, laterIn(plan))
			require.False(t, plan.NamesLater)
			require.Empty(t, plan.Results)
			first := kept(t, files, Options{}, RandomKept)
			require.Empty(t, laterIn(first))
			other := kept(t, files, Options{}, RandomKept)
			again := kept(t, files, Options{Results: first.Results}, RandomKept)
			planned := kept(t, files, Options{Results: first.Results}, RandomPlanned)
			require.Equal(t, first.manifest(), again.manifest())
			require.Equal(t, first.manifest(), planned.manifest())
			require.Empty(t, laterIn(planned))
			require.Equal(t, first.Results, again.Results)
			// Within a second the other functions of the clock give the same.
			if !strings.HasPrefix(name, "date") && name != "ago" && name != "durationRound" {
				require.NotEqual(t, first.manifest(), other.manifest(), "nothing random was made")
			}
			require.NotEmpty(t, value(t, first, "a"))
		})
	}
}

func TestResultsAreReal(t *testing.T) {
	files := with("templates/amf.yaml", configMap(`hash: {{ htpasswd "amf" "secret" }}`, `key: {{ genPrivateKey "rsa" | b64enc }}`))
	r := kept(t, files, Options{}, RandomKept)
	user, hash, _ := strings.Cut(value(t, r, "hash"), ":")
	require.Equal(t, "amf", user)
	require.NoError(t, bcrypt.CompareHashAndPassword([]byte(hash), []byte("secret")))
	key, err := base64.StdEncoding.DecodeString(value(t, r, "key"))
	require.NoError(t, err)
	require.Contains(t, string(key), "BEGIN RSA PRIVATE KEY")
}

// TestEqualCallsAreToldApart has equal calls in one file, in two files and in a helper.
func TestEqualCallsAreToldApart(t *testing.T) {
	files := with("templates/amf.yaml", configMap(`a: {{ randAlphaNum 20 }}`, `b: {{ randAlphaNum 20 }}`, `c: {{ include "made" . }}`, `d: {{ tpl "{{ randAlphaNum 20 }}" . }}`))
	files["Files/core/templates/_made.tpl"] = &fstest.MapFile{Data: []byte(`{{ define "made" }}{{ randAlphaNum 20 }}{{ end }}`)}
	files["Files/core/templates/b.yaml"] = &fstest.MapFile{Data: []byte(strings.Replace(configMap(`e: {{ include "made" . }}`), "name: a", "name: b", 1))}
	files["Files/core/charts/db/templates/a.yaml"] = &fstest.MapFile{Data: []byte(strings.Replace(configMap(`f: {{ include "made" . }}`), "name: a", "name: c", 1))}
	first := kept(t, files, Options{}, RandomKept)
	seen := map[string]bool{}
	for _, name := range strings.Split("abcdef", "") {
		seen[value(t, first, name)] = true
	}
	require.Len(t, seen, 6)

	// Another template before it and other arguments change nothing of the others.
	changed := maps.Clone(files)
	changed["Files/core/templates/a.yaml"] = &fstest.MapFile{Data: []byte(strings.Replace(configMap(`g: {{ randAlphaNum 20 }}`), "name: a", "name: d", 1))}
	changed["Files/core/templates/b.yaml"] = &fstest.MapFile{Data: []byte(strings.Replace(configMap(`e: {{ randAlphaNum 21 }}`), "name: a", "name: b", 1))}
	plan := kept(t, changed, Options{Results: first.Results}, RandomPlanned)
	require.ElementsMatch(t, []string{"v1 ConfigMap d", "v1 ConfigMap b"}, laterIn(plan))
	second := kept(t, changed, Options{Results: first.Results}, RandomKept)
	for _, name := range []string{"a", "b", "c", "d", "f"} {
		require.Equal(t, value(t, first, name), value(t, second, name), name)
	}
	// The way back has what it had.
	back := kept(t, files, Options{Results: second.Results}, RandomKept)
	require.Equal(t, first.manifest(), back.manifest())
}

// TestWhatFollowsFromAResultIsLater has an object read another template.
func TestWhatFollowsFromAResultIsLater(t *testing.T) {
	files := with("templates/amf.yaml", configMap(`a: {{ randAlphaNum 20 }}`))
	files["Files/core/templates/b.yaml"] = &fstest.MapFile{Data: []byte(`apiVersion: apps/v1
kind: Deployment
metadata: { name: b, annotations: { sum: {{ include (print $.Template.BasePath "/amf.yaml") . | sha256sum }} } }
---
apiVersion: v1
kind: Service
metadata: { name: b }
`)}
	plan := kept(t, files, Options{}, RandomPlanned)
	require.ElementsMatch(t, []string{"v1 ConfigMap a", "apps/v1 Deployment b"}, laterIn(plan))
	first := kept(t, files, Options{}, RandomKept)
	require.Equal(t, first.manifest(), kept(t, files, Options{Results: first.Results}, RandomPlanned).manifest())

	named := with("templates/amf.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a-{{ randAlpha 5 | lower }} }\n")
	require.True(t, kept(t, named, Options{}, RandomPlanned).NamesLater)
}

// TestWhatRollsWithEachRevision has the time and a random annotation: both change with chart or
// values and not else, while the password stays.
func TestWhatRollsWithEachRevision(t *testing.T) {
	files := with("templates/amf.yaml", `apiVersion: apps/v1
kind: Deployment
metadata: { name: a }
spec:
  template:
    metadata:
      annotations:
        roll: {{ randAlphaNum 5 | quote }}
        at: {{ now | unixEpoch | quote }}
---
apiVersion: v1
kind: Secret
metadata: { name: a, annotations: { hint: {{ randAlphaNum 6 }} } }
stringData: { password: {{ randAlphaNum 16 }} }
`)
	find := func(r *Rendering, name string) string {
		return regexp.MustCompile(name + `: "?([^" ]+)`).FindStringSubmatch(r.manifest())[1]
	}
	first := kept(t, files, Options{}, RandomKept)
	require.Equal(t, first.manifest(), kept(t, files, Options{Results: first.Results}, RandomPlanned).manifest())
	other := Options{Results: first.Results, Values: map[string]any{"other": true}}
	plan := kept(t, files, other, RandomPlanned)
	require.Contains(t, laterIn(plan), "apps/v1 Deployment a")
	second := kept(t, files, other, RandomKept)
	require.NotEqual(t, find(first, "roll"), find(second, "roll"))
	require.Equal(t, find(first, "password"), find(second, "password"))
	other.Results = second.Results
	require.Equal(t, second.manifest(), kept(t, files, other, RandomPlanned).manifest())
}

// TestLookupFindsThePreviousRevision has the idiom that keeps the password that is there: it
// stays when the new chart would make another one.
func TestLookupFindsThePreviousRevision(t *testing.T) {
	chart := func(call string) fstest.MapFS {
		return with("templates/amf.yaml", `{{- $old := lookup "v1" "Secret" .Release.Namespace "a" }}
apiVersion: v1
kind: Secret
metadata: { name: a }
data:
  password: {{ if $old }}{{ index $old.data "password" | quote }}{{ else }}{{ `+call+` | b64enc }}{{ end }}
  found: {{ len $old | toString | b64enc }}
`)
	}
	password := regexp.MustCompile(`password: "?([^" \n]+)`)
	first := kept(t, chart("randAlphaNum 16"), Options{}, RandomKept)
	same := kept(t, chart("randAlphaNum 16"), Options{Results: first.Results}, RandomKept)
	require.Equal(t, first.manifest(), same.manifest())
	plan := kept(t, chart("randAlphaNum 32"), Options{Results: same.Results}, RandomPlanned)
	require.Empty(t, laterIn(plan))
	second := kept(t, chart("randAlphaNum 32"), Options{Results: same.Results}, RandomKept)
	require.Equal(t, password.FindStringSubmatch(first.manifest())[1], password.FindStringSubmatch(second.manifest())[1])
	require.NotContains(t, second.manifest(), "found: MA==")
	require.Equal(t, second.manifest(), kept(t, chart("randAlphaNum 32"), Options{Results: second.Results}, RandomPlanned).manifest())
}

func TestRegenerate(t *testing.T) {
	files := with("templates/amf.yaml", configMap(`a: {{ randAlphaNum 20 }}`, `b: {{ uuidv4 }}`))
	first := kept(t, files, Options{}, RandomKept)
	for name, tt := range map[string]struct {
		spec vnfm.RegenerateSpec
		a, b bool
	}{
		"all":      {vnfm.RegenerateSpec{Trigger: "1"}, true, true},
		"function": {vnfm.RegenerateSpec{Trigger: "1", Functions: []string{"uuidv4"}}, false, true},
		"template": {vnfm.RegenerateSpec{Trigger: "1", Templates: []string{"templates/amf.yaml"}, Functions: []string{"randAlphaNum"}}, true, false},
	} {
		o := Options{Results: first.Results, Regenerate: &tt.spec}
		require.Equal(t, tt.a || tt.b, len(laterIn(kept(t, files, o, RandomPlanned))) > 0, name)
		second := kept(t, files, o, RandomKept)
		require.Equal(t, tt.a, value(t, first, "a") != value(t, second, "a"), name)
		require.Equal(t, tt.b, value(t, first, "b") != value(t, second, "b"), name)
		// A process that resumes has the same trigger.
		o.Results = second.Results
		require.Equal(t, second.manifest(), kept(t, files, o, RandomKept).manifest(), name)
	}
}

// TestRegenerateWhatLookupKeeps has a password that stays as long as its Secret is there.
func TestRegenerateWhatLookupKeeps(t *testing.T) {
	files := with("templates/amf.yaml", `{{- $old := lookup "v1" "Secret" .Release.Namespace "a" }}
apiVersion: v1
kind: Secret
metadata: { name: a }
data: { password: {{ if $old }}{{ index $old.data "password" }}{{ else }}{{ randAlphaNum 16 | b64enc }}{{ end }} }
`)
	one := Options{Values: map[string]any{"revision": 1}}
	two := Options{Values: map[string]any{"revision": 2}}
	one.Results = kept(t, files, one, RandomKept).Results
	two.Results = one.Results
	second := kept(t, files, two, RandomKept)
	require.Equal(t, kept(t, files, one, RandomPlanned).manifest(), second.manifest())
	two.Results = second.Results
	for functions, changes := range map[string]bool{"": true, "lookup randAlphaNum": true, "randAlphaNum": false} {
		o := two
		o.Regenerate = &vnfm.RegenerateSpec{Trigger: "1", Functions: strings.Fields(functions)}
		third, ps := renderedAs(t, files, o, RandomKept)
		require.Equal(t, !changes, len(ps) == 1 && strings.Contains(ps[0].String(), `the functions that the chart calls are none`), functions)
		require.Equal(t, changes, second.manifest() != third.manifest(), functions)
		require.Equal(t, third.manifest(), kept(t, files, Options{Values: two.Values, Results: third.Results}, RandomPlanned).manifest(), functions)
	}
}

func TestRegenerateNothing(t *testing.T) {
	files := with("templates/amf.yaml", configMap(`a: {{ randAlphaNum 20 }}`))
	first := kept(t, files, Options{}, RandomKept)
	_, ps := renderedAs(t, files, Options{Results: first.Results, Regenerate: &vnfm.RegenerateSpec{Trigger: "1", Templates: []string{"mf.yaml"}}}, RandomPlanned)
	require.Len(t, ps, 1)
	require.Equal(t, `regenerate names no result of the chart that can be made again: the functions that the chart calls are "randAlphaNum"`, ps[0].String())
}

func TestExpiryIsAWarning(t *testing.T) {
	for days, warns := range map[int]bool{365: false, -1: true} {
		c, err := Load(t.Context(), with("templates/amf.yaml", configMap(fmt.Sprintf(`a: {{ (genSelfSignedCert "amf" nil nil %d).Cert | b64enc }}`, days))), "Files/core")
		require.NoError(t, err)
		first, ps := c.Render(t.Context(), Options{Release: "site", Random: RandomKept})
		require.Empty(t, ps)
		_, ps = c.Render(t.Context(), Options{Release: "site", Random: RandomPlanned, Results: first.Results})
		if !warns {
			require.Empty(t, ps)
			continue
		}
		require.Len(t, ps, 1)
		require.Equal(t, vnfm.SeverityWarning, ps[0].Severity)
		require.Regexp(t, `^Files/core/templates/amf.yaml: the certificate of "amf" that genSelfSignedCert made has expired on \d{4}-\d\d-\d\d: .*regenerate`, ps[0].String())
	}
}

// TestResultsAreBounded has a chart that makes more than a Secret can hold.
func TestResultsAreBounded(t *testing.T) {
	c, err := Load(t.Context(), with("templates/amf.yaml", configMap(`a: "{{ range until 200 }}{{ randAlphaNum 3000 }}{{ end }}"`)), "Files/core")
	require.NoError(t, err)
	_, ps := c.Render(t.Context(), Options{Release: "site", Random: RandomKept})
	require.Len(t, ps, 1)
	require.Contains(t, ps[0].Summary, "at most 256 are remembered")
	_, ps = c.Render(t.Context(), Options{Release: "site", Random: RandomKept, Results: []byte("text")})
	require.Contains(t, ps[0].Summary, "reading the remembered results of functions")
}
