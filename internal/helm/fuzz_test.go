package helm

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// FuzzRender renders a chart with a foreign template and foreign values: it ends, and what the helper process says is
// never that it broke.
func FuzzRender(f *testing.F) {
	for _, name := range []string{"templates/amf.yaml", "templates/hooks.yaml", "templates/_helpers.tpl"} {
		f.Add(string(core()["Files/core/"+name].Data), "amf: { replicas: 1 }\n")
	}
	f.Add(`{{ range until 3 }}{{ tpl "{{ . }}" . }}{{ end }}{{ include "core.name" (dict "a" .Values) }}`, "a: &a [1]\nb: *a\n")
	f.Add("kind: ConfigMap\n", "amf: { replicas: x }\n")
	f.Add(`{{ .Files.Get "x" }}{{ toYaml .Values | nindent 4 }}{{ randAlpha 3 }}{{ now }}`, "db: null\n")
	f.Fuzz(func(t *testing.T, template, values string) {
		files := with("templates/amf.yaml", template)
		files["Files/core/values.yaml"].Data = []byte(values)
		loaded, err := Load(t.Context(), files, "Files/core")
		if err != nil {
			broken(t, err.Error())
			return
		}
		_, ps := loaded.Render(t.Context(), Options{Release: "site", Namespace: "ran", Attribute: vnfm.AttributeParams})
		for _, p := range ps {
			broken(t, p.Summary)
			// A value that a schema refuses has the place of the argument that can set it.
			if !strings.HasPrefix(p.File, "Files/core") && p.Attribute != vnfm.AttributeParams || p.Line < 0 {
				t.Errorf("no place: %+v", p)
			}
		}
	})
}

func broken(t *testing.T, text string) {
	t.Helper()
	assert.NotContains(t, text, "helper process")
}

// FuzzSet sets a value at a foreign path: it is refused, or the values can be written as JSON.
func FuzzSet(f *testing.F) {
	for _, path := range []string{"a", "a.b[0].c", `a\.b`, "a[65536]", "a[0][1]", "a[", "a..b", "=", "{a}", "a[-1]", `a\`} {
		f.Add(path, `{"a":{"b":[1,null]}}`)
	}
	f.Fuzz(func(t *testing.T, path, text string) {
		values := map[string]any{}
		if json.Unmarshal([]byte(text), &values) != nil || values == nil {
			return
		}
		if err := Set(values, path, "x"); err != nil {
			return
		}
		written, err := json.Marshal(values)
		require.NoError(t, err)
		assert.True(t, bytes.Contains(written, []byte(`"x"`)), "%q was set, and is not in %.200s", path, written)
	})
}

// FuzzDecode reads foreign records of releases: what can be read can be written, and is the same when it is read again.
func FuzzDecode(f *testing.F) {
	made, ps := mustLoad(f).Render(f.Context(), Options{Release: "site", Namespace: "ran", Values: map[string]any{"a": 1.5}})
	require.Empty(f, ps)
	good, err := made.Release(3, time.Unix(1, 0), Deployed, "by hand").Encode()
	require.NoError(f, err)
	for _, text := range []string{good, good[:len(good)/2], "", "H4sIAAAAAAAA/6quBQQAAP//Q7+mowIAAAA=", "====", "e30="} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		first, err := Decode(text)
		if err != nil {
			return
		}
		written, err := first.Encode()
		require.NoError(t, err, "what was read cannot be written")
		second, err := Decode(written)
		require.NoError(t, err, "what was written cannot be read")
		assert.Equal(t, first.Differing(second), []string(nil), "read again it differs")
		_, _ = first.Labels(), first.Revision()
	})
}

func mustLoad(f *testing.F) *Chart {
	f.Helper()
	c, err := Load(f.Context(), core(), "Files/core")
	require.NoError(f, err)
	return c
}
