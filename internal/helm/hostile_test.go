package helm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
)

// compressed packs files of a chart.
func compressed(t testing.TB, files map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	w := tar.NewWriter(zipped)
	for _, name := range sortedKeys(files) {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name]))}))
		_, err := w.Write(files[name])
		require.NoError(t, err)
	}
	require.NoError(t, errors.Join(w.Close(), zipped.Close()))
	return b.Bytes()
}

// bomb is a chart that holds as many sub-charts in archives, each with 95 MiB of zeros.
func bomb(t testing.TB, subCharts int) []byte {
	t.Helper()
	inner := map[string][]byte{"sub/Chart.yaml": []byte("apiVersion: v2\nname: sub\nversion: 1.0.0\n")}
	for i := range 19 {
		inner[fmt.Sprintf("sub/files/%d", i)] = make([]byte, 5<<20)
	}
	packed := compressed(t, inner)
	files := map[string][]byte{"core/Chart.yaml": []byte("apiVersion: v2\nname: core\nversion: 1.0.0\n")}
	for i := range subCharts {
		files[fmt.Sprintf("core/charts/sub%d.tgz", i)] = packed
	}
	return compressed(t, files)
}

// aliases are nine lists, each of nine aliases of the one before.
const aliases = `a: &a [x, x, x, x, x, x, x, x, x]
b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]
c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]
d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]
e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]
f: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e]
g: &g [*f, *f, *f, *f, *f, *f, *f, *f, *f]
h: &h [*g, *g, *g, *g, *g, *g, *g, *g, *g]
`

const (
	tooLong  = "takes more than 5s of processor time"
	tooLarge = "takes more than 192 MiB of memory"
)

func TestHostileTemplates(t *testing.T) {
	t.Parallel()
	const file = "templates/amf.yaml"
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a%s }\n"
	for name, c := range map[string]struct{ file, text, want string }{
		"a loop":               {file, `{{ range 100000000000 }}{{ end }}`, "rendering the chart " + tooLong},
		"a list":               {file, `{{ range until 1000000000 }}x{{ end }}`, "rendering the chart " + tooLarge},
		"a long text":          {file, `{{ repeat 1000000000 "x" }}`, "rendering the chart " + tooLarge},
		"a text that doubles":  {file, `{{ $x := "x" }}{{ range until 40 }}{{ $x = print $x $x }}{{ end }}{{ $x }}`, "rendering the chart " + tooLarge},
		"much output":          {file, `{{ range until 4 }}` + fmt.Sprintf(object, "{{ . }}") + `data: { x: {{ repeat 5000000 "x" }} }` + "\n---\n{{ end }}", "the chart renders 19 MiB of objects, and at most 16 are allowed"},
		"keys":                 {file, `{{ range 100000000000 }}{{ $x := genPrivateKey "rsa" }}{{ end }}`, "rendering the chart " + tooLong},
		"a template of itself": {file, `{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}`, "exceeded maximum template depth"},
		"an include of itself": {file, `{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}`, "rendering template has a nested reference name: a"},
		"aliases of aliases":   {"values.yaml", aliases, "document contains excessive aliasing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loaded, err := Load(t.Context(), with(c.file, c.text), "Files/core")
			if err != nil {
				require.ErrorContains(t, err, c.want)
				return
			}
			_, ps := loaded.Render(t.Context(), Options{Release: "site", Namespace: "ran"})
			if len(ps) != 1 || !strings.Contains(ps[0].Summary, c.want) || !strings.HasPrefix(ps[0].File, "Files/core") {
				t.Errorf("got %.500v, want %s", ps, c.want)
			}
		})
	}
	// One that was refused does not stand in the way of the next.
	_, ps := render(t, core(), nil)
	assert.Empty(t, ps)
}

// TestHostileProblems has a chart say more than anybody reads: one long text, and a thousand values that a schema refuses.
func TestHostileProblems(t *testing.T) {
	t.Parallel()
	many := map[string]any{}
	for i := range 1000 {
		many[fmt.Sprintf("k%d", i)] = "text"
	}
	for name, c := range map[string]struct {
		file, text string
		values     map[string]any
		problems   int
	}{
		"a long text":   {"templates/amf.yaml", `{{ fail (repeat 1000000 "x") }}`, nil, 1},
		"many problems": {"values.schema.json", `{"properties":{"many":{"additionalProperties":{"type":"integer"}}}}`, map[string]any{"many": many}, 101},
	} {
		t.Run(name, func(t *testing.T) {
			loaded, err := Load(t.Context(), with(c.file, c.text), "Files/core")
			require.NoError(t, err)
			_, ps := loaded.Render(t.Context(), Options{Release: "site", Namespace: "ran", Values: c.values})
			assert.Len(t, ps, c.problems)
			for _, p := range ps {
				assert.LessOrEqual(t, len(p.String()), 2*budget.MaxText, "a problem of")
			}
		})
	}
}

func TestHostileArchive(t *testing.T) {
	t.Parallel()
	_, err := Load(t.Context(), fstest.MapFS{"core.tgz": {Data: bomb(t, 4)}}, "core.tgz")
	if err == nil || !strings.HasPrefix(err.Error(), "reading the chart "+tooLarge) || !strings.Contains(err.Error(), ": a chart has 5 s of processor time") {
		t.Errorf("got %v", err)
	}
}

func TestRenderingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	loaded, err := Load(t.Context(), with("templates/amf.yaml", `{{ range 100000000000 }}{{ end }}`), "Files/core")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, ps := loaded.Render(ctx, Options{Release: "site"})
	require.Len(t, ps, 1)
	assert.Equal(t, "cannot be rendered: context deadline exceeded", ps[0].Summary)
}

// Values survive the way to the helper process and back: nulls, large numbers, bytes that are not text.
func TestValuesAreExact(t *testing.T) {
	t.Parallel()
	files := with("values.yaml", "dropped: 1\namf: { replicas: 1, image: 'amf:1' }\ndb: { enabled: true }\n")
	files["Files/core/files/bin"] = &fstest.MapFile{Data: []byte{0xff, 0, 0xfe}}
	files["Files/core/templates/b.yaml"] = &fstest.MapFile{Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: { name: b }\n" +
		"data: { large: '{{ .Values.large }}', dropped: '{{ hasKey .Values \"dropped\" }}', bin: '{{ .Files.Get \"files/bin\" | b64enc }}' }\n")}
	r := rendered(t, files, map[string]any{"large": int64(9007199254740995), "dropped": nil})
	want := "data: { large: '9007199254740995', dropped: 'false', bin: '/wD+' }"
	assert.Contains(t, r.manifest(), want, "the manifest lacks")
	encoded, err := r.Release(1, time.Time{}, Deployed, "").Encode()
	require.NoError(t, err)
	decodedRelease, err := Decode(encoded)
	require.NoError(t, err)
	for _, f := range decodedRelease.record.Chart.Files {
		if f.Name == "files/bin" && bytes.Equal(f.Data, []byte{0xff, 0, 0xfe}) {
			return
		}
	}
	t.Error("the record lacks a file of the chart, or has another one")
}

func BenchmarkHostile(b *testing.B) {
	for name, text := range map[string]string{"loop": `{{ range 100000000000 }}{{ end }}`, "list": `{{ range until 1000000000 }}x{{ end }}`} {
		b.Run(name, func(b *testing.B) {
			loaded, err := Load(b.Context(), with("templates/amf.yaml", text), "Files/core")
			require.NoError(b, err)
			for b.Loop() {
				if _, ps := loaded.Render(b.Context(), Options{Release: "site"}); !ps.HasErrors() {
					b.Fatal("it was rendered")
				}
			}
		})
	}
	archive := fstest.MapFS{"core.tgz": {Data: bomb(b, 4)}}
	b.Run("archive", func(b *testing.B) {
		for b.Loop() {
			if _, err := Load(b.Context(), archive, "core.tgz"); err == nil {
				b.Fatal("it was read")
			}
		}
	})
}
