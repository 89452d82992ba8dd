package csar

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
)

// TestOpen covers the forms of a package, option 2 above all.
func TestOpen(t *testing.T) {
	root := issue(t, "Root", nil, authority)
	leaf := issue(t, "Leaf", root, nil)
	self := issue(t, "Self", nil, nil)
	require := Options{Signature: SignatureRequire, Trust: Trust{Roots: certPEM(root.cert)}}
	good := goodPackage()
	inner := string(zipBytes(t, good.archive()))
	damaged := string(zipBytes(t, good.with(texts{"Files/kubernetes/service.yaml": "x"}).archive()))
	outer := func(files texts) []byte { return zipBytes(t, files.archive()) }
	cms := leaf.signDetached(t, inner)
	bare := leaf.signBare(t, inner, false, true, []int{2, 16, 840, 1, 101, 3, 4, 2, 1})
	tests := []struct {
		name     string
		zip      []byte
		dir      texts
		o        Options
		opened   bool
		option   string
		verified bool
		want     []string
	}{
		{name: "directory", dir: good, opened: true},
		{name: "zip", zip: zipBytes(t, good.archive()), opened: true},
		{name: "option 2", zip: outer(texts{"p.csar": inner, "p.cms": cms}), o: require, opened: true, option: SecurityOption2, verified: true},
		{name: "option 2, unpacked", dir: texts{"p.csar": inner, "p.cms": cms}, o: require, opened: true, option: SecurityOption2, verified: true},
		{name: "option 2 with a certificate file", zip: outer(texts{"p.csar": inner, "p.cms": bare, "p.cert": string(certPEM(leaf.cert))}), o: require, opened: true, option: SecurityOption2, verified: true},
		{name: "option 2, certificate missing", zip: outer(texts{"p.csar": inner, "p.cms": bare}), o: require, opened: true, option: SecurityOption2, want: []string{
			`error: p.cms: the certificate that signed "p.csar" is missing: it is neither in the signature nor in the package; sign with the certificate included, or name its file with ETSI-Entry-Certificate`,
		}},
		{name: "option 2, ignored", zip: outer(texts{"p.csar": inner, "p.cms": "nonsense"}), o: Options{Signature: SignatureIgnore}, opened: true, option: SecurityOption2},
		{name: "option 2, tampered", zip: outer(texts{"p.csar": damaged, "p.cms": cms}), o: require, opened: true, option: SecurityOption2, want: []string{
			`error: p.cms: the signature does not match "p.csar": the content was changed after it was signed`,
			`error: vnfd.mf:17:7: SHA-256 of "Files/kubernetes/service.yaml" is not the one declared: declared ` + sha(serviceText) + ", computed " + sha("x") + "; the file was changed after the manifest was written, or damaged; in a package of your own, \"terraform-provider-vnf package hash DIRECTORY\" writes the digests again; integrity = \"warn\" goes on without it",
		}},
		{name: "option 2, self-signed", zip: outer(texts{"p.csar": inner, "p.cms": self.signDetached(t, inner)}), o: require, opened: true, option: SecurityOption2, want: []string{
			`error: p.cms: the certificate "CN=Self" that signed "p.csar" is self-signed: anybody can make such a certificate; add it to the trust roots if it is the one that you expect`,
		}},
		{name: "option 2, signature is nonsense", zip: outer(texts{"p.csar": inner, "p.cms": "nonsense"}), o: require, opened: true, option: SecurityOption2, want: []string{
			`error: p.cms: the signature of "p.csar" is not CMS: it must be a detached CMS SignedData, PEM or DER`,
		}},
		{name: "option 2, other names", zip: outer(texts{"p.csar": inner, "q.cms": cms}), o: require, opened: true, option: SecurityOption2, verified: true, want: []string{
			`warning: q.cms: the file is not named after "p.csar": SOL 004 requires p.cms`,
		}},
		{name: "outer archive without signature", zip: outer(texts{"p.csar": inner}), opened: true, want: []string{
			"warning: p.csar: the package lies in another archive without a signature: option 2 requires p.cms beside it",
		}},
		{name: "outer archive without signature, but required", zip: outer(texts{"p.csar": inner}), o: require, opened: true, want: []string{
			"error: p.csar: the package lies in another archive without a signature: option 2 requires p.cms beside it",
		}},
		{name: "outer archive with more in it", zip: outer(texts{"p.csar": inner, "p.cms": cms, "README.md": "x", "docs/x": "x"}), want: []string{
			"error: README.md: unexpected beside a package: README.md, docs/x: an archive of option 2 holds one .csar, its .cms and at most one .cert; or the package lacks TOSCA-Metadata/TOSCA.meta",
		}},
		{name: "outer archive with two of each", zip: outer(texts{"p.csar": inner, "q.csar": inner, "p.cms": cms, "q.cms": cms}), want: []string{
			"error: q.csar: the archive holds 2 packages: p.csar, q.csar: an archive of option 2 holds one .csar, its .cms and at most one .cert",
			"error: q.cms: the archive holds 2 signatures: p.cms, q.cms: an archive of option 2 holds one .csar, its .cms and at most one .cert",
		}},
		{name: "inner archive is no zip", zip: outer(texts{"p.csar": "nonsense", "p.cms": leaf.signDetached(t, "nonsense")}), o: require, want: []string{
			"error: p.csar: the file is not a readable zip archive (zip: not a valid zip file): a package is a directory or a zip archive; check that the file is complete",
		}},
		{name: "inner archive is not safe", zip: outer(texts{"p.csar": string(zipOf(t, plain("../x")...)), "p.cms": cms}), o: Options{Signature: SignatureIgnore}, want: []string{
			`error: p.csar!../x: the name leaves the package with "..": the package is rejected, because tools would not agree on which file this is`,
		}},
		{name: "not a zip", zip: []byte("hello"), want: []string{
			"error: p.zip: the file is not a readable zip archive (zip: not a valid zip file): a package is a directory or a zip archive; check that the file is complete",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := t.TempDir()
			if tt.dir != nil {
				tt.dir.write(t, path)
			} else {
				path = filepath.Join(path, "p.zip")
				if err := os.WriteFile(path, tt.zip, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			a, p, problems, err := Open(path, tt.o, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			checkProblems(t, tt.want, problems)
			if (a != nil) != tt.opened || (p != nil) != tt.opened {
				t.Fatalf("archive %v, package %v; want opened %t", a, p, tt.opened)
			}
			if a == nil {
				return
			}
			if p.Security.Option != tt.option || p.Security.Verified != tt.verified {
				t.Errorf("security %+v", p.Security)
			}
			assert.Equal(t, "Definitions/vnfd.yaml", p.Entry, "entry")
			if _, err := a.ReadFile("vnfd.mf"); err == nil || !strings.Contains(err.Error(), "it is the manifest") || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the manifest is read as a file of the package: %v", err)
			}
			if !strings.Contains(tt.name, "tampered") && p.Digest != ContentDigest(good.archive()) {
				t.Errorf("digest %s depends on the form", p.Digest)
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestOpenSpools covers inner archives that are too large for memory.
func TestOpenSpools(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	data := zipBytes(t, goodPackage().archive())
	a, err := openSpooled(0, strings.NewReader(string(data)), int64(len(data)), Limits{}.withDefaults())
	require.NoError(t, err)
	_, err = a.ReadFile("vnfd.mf")
	require.NoError(t, err)
	require.NoError(t, a.Close())
	_, err = openSpooled(0, strings.NewReader("nonsense"), 8, Limits{})
	require.Error(t, err, "nonsense was opened")
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestKubernetesFiles(t *testing.T) {
	files := texts{
		"k/b.yaml": deploymentText + "---\n" + serviceText, "k/a.yml": "# only a comment\n---\n" + serviceText + "---\n", "k/c.json": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}`,
		"k/values.yaml": "a: 1\n", "k/empty.yaml": "---\n", "k/broken.yaml": "a: [\n", "k/text.txt": serviceText,
		"k/template.yaml": "apiVersion: v1\nkind: {{ .Kind }}\n", "k/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n", "k/kubeconfig.yaml": "apiVersion: v1\nkind: Config\n",
		"chart/Chart.yaml": "apiVersion: v2\nname: x\n", "chart/templates/s.yaml": serviceText, "chart/crds/c.yaml": serviceText,
		"Definitions/x.yaml": serviceText, "BaseHOT/simple/x.yaml": serviceText, "Tests/t.yaml": serviceText, "nonmano.yaml.d/n.yaml": serviceText, "k/unlisted.yaml": serviceText,
		"s.yaml": rootText,
	}
	var manifest strings.Builder
	manifest.WriteString(goodMetadata)
	for _, name := range []string{
		"s.yaml", "k/b.yaml", "k/a.yml", "k/c.json", "k/values.yaml", "k/empty.yaml", "k/broken.yaml", "k/text.txt", "k/template.yaml", "k/kustomization.yaml", "k/kubeconfig.yaml",
		"chart/Chart.yaml", "chart/templates/s.yaml", "chart/crds/c.yaml", "Definitions/x.yaml", "BaseHOT/simple/x.yaml", "Tests/t.yaml", "nonmano.yaml.d/n.yaml",
	} {
		manifest.WriteString(source(name, files[name]))
	}
	manifest.WriteString("Source: https://example.com/x.yaml\nnon_mano_artifact_sets:\n  onap_others:\n    Source: nonmano.yaml.d/n.yaml\n")
	files["s.mf"] = manifest.String()
	a := files.archive()
	p, problems := Read(a, Options{})
	require.False(t, problems.HasErrors(), "%v", render(problems))
	found, problems := p.KubernetesFiles(budget.New(t.Context(), budget.Limits{}), a)
	if diff := cmp.Diff([]string{"k/b.yaml", "k/a.yml", "k/c.json"}, found); diff != "" || len(problems) > 0 {
		t.Error(diff, render(problems))
	}
	if found, problems = p.KubernetesFiles(budget.New(t.Context(), budget.Limits{Values: 10}), a); len(found) > 0 || len(problems) != 1 ||
		problems[0].String() != "k/b.yaml: cannot be read: the package has more than 10 values, counted after aliases and merge keys are followed" {
		t.Error(found, render(problems))
	}
}

// TestDocumentsThatAreNoObjects finds what would be left out of an instance without a word: a file with an object is a manifest, and each
// of its other documents a problem.
func TestDocumentsThatAreNoObjects(t *testing.T) {
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"
	for _, tt := range []struct {
		name, text string
		file       string
		taken      bool
		want       string
	}{
		{name: "no kind", text: object + "---\napiVersion: v1\nKind: Secret\n", taken: true, want: "error: k/k.yaml:5: a document among Kubernetes objects is none: it has no kind"},
		{name: "no apiVersion", text: "kind: Secret\n---\n" + object, taken: true, want: "error: k/k.yaml:1: a document among Kubernetes objects is none: it has no apiVersion"},
		{name: "neither", text: object + "---\na: 1\n", taken: true, want: "error: k/k.yaml:5: a document among Kubernetes objects is none: it has no apiVersion and kind"},
		{name: "a text", text: object + "---\njust a text\n", taken: true, want: "error: k/k.yaml:5: a document among Kubernetes objects is none: it has no apiVersion and kind"},
		{name: "zero-width space", text: object + "---\napiVersion: v1\n\u200bkind: Secret\n", taken: true, want: "error: k/k.yaml:5: a document among Kubernetes objects is none: it has no kind"},
		{name: "kubeconfig", text: object + "---\napiVersion: v1\nkind: Config\n", taken: true, want: "error: k/k.yaml:5: a document among Kubernetes objects is none: it is a file for a client"},
		{name: "the only one without kind", text: "apiVersion: v1\nmetadata: {name: x}\n", want: "warning: k/k.yaml:1: looks like a Kubernetes manifest and is not taken as one: it has no kind"},
		{name: "a tab", text: object + "data:\n\ta: b\n", want: "error: k/k.yaml:5: looks like a Kubernetes manifest and cannot be read: the file is not valid YAML: found character that cannot start any token"},
		{name: "values of a chart", text: "kind: Deployment\nreplicas: 1\n"},
		{name: "byte order marks", text: "\ufeff" + object + "---\n\ufeff" + object, taken: true},
		{name: "two JSON objects", file: "k/k.json", text: `{"apiVersion": "v1", "kind": "ConfigMap"}` + "\n" + `{"apiVersion": "v1", "kind": "Secret"}`, taken: true},
		{name: "the second JSON value has no kind", file: "k/k.json", text: `{"apiVersion": "v1", "kind": "ConfigMap"}` + "\n" + `{"apiVersion": "v1"}`, taken: true, want: "error: k/k.json:2: a document among Kubernetes objects is none: it has no kind"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := tt.file
			if file == "" {
				file = "k/k.yaml"
			}
			files := texts{"s.yaml": rootText, file: tt.text, "s.mf": goodMetadata + source("s.yaml", rootText) + source(file, tt.text)}
			p, problems := Read(files.archive(), Options{})
			require.False(t, problems.HasErrors(), "%v", render(problems))
			found, problems := p.KubernetesFiles(budget.New(t.Context(), budget.Limits{}), files.archive())
			assert.Equal(t, tt.taken, slices.Contains(found, file))
			assert.Equal(t, tt.want, strings.Join(render(problems), "\n"))
		})
	}
}
