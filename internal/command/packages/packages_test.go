package packages

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"encoding/xml"
	"errors"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
)

// answer is what a command has said.
type answer struct {
	code        int
	out, errors string
}

func root() *cobra.Command {
	root := &cobra.Command{Use: "terraform-provider-vnf", Args: cli.NoArguments}
	root.AddCommand(Command("v1.2.3"))
	return root
}

func run(t *testing.T, args ...string) answer {
	t.Helper()
	var out, problems bytes.Buffer
	code := cli.Run(t.Context(), root(), args, &out, &problems)
	return answer{code: code, out: out.String(), errors: problems.String()}
}

// want checks the exit code of a command, and that it says all of that.
func (a answer) want(t *testing.T, code int, parts ...string) answer {
	t.Helper()
	require.Equal(t, code, a.code, a.out+a.errors)
	for _, part := range parts {
		require.Contains(t, a.out+a.errors, part, "the command does not say")
	}
	return a
}

// examples are the packages of the repository.
func examples(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../../examples/packages")
	require.NoError(t, err)
	return dir
}

// writeIdentity writes a certificate that signs for itself, and its key.
func writeIdentity(t *testing.T, dir string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Acme"}, KeyUsage: x509.KeyUsageDigitalSignature,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	require.NoError(t, err)
	key, err := x509.MarshalECPrivateKey(private)
	require.NoError(t, err)
	for name, block := range map[string]*pem.Block{
		"signer.pem": {Type: "CERTIFICATE", Bytes: der}, "root.pem": {Type: "CERTIFICATE", Bytes: der}, "signer.key": {Type: "EC PRIVATE KEY", Bytes: key},
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600))
	}
}

// edited copies an example package and replaces a text in one of its files.
func edited(t *testing.T, name, file, from, to string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(examples(t), name))))
	at := filepath.Join(dir, file)
	text, err := os.ReadFile(at)
	require.NoError(t, err)
	require.True(t, bytes.Contains(text, []byte(from)), "%s does not hold %q", file, from)
	require.NoError(t, os.WriteFile(at, bytes.ReplaceAll(text, []byte(from), []byte(to)), 0o600))
	return dir
}

// TestExamples runs the examples of each help, in the order of a package's life.
func TestExamples(t *testing.T) {
	dir := t.TempDir()
	writeIdentity(t, dir)
	require.NoError(t, os.CopyFS(filepath.Join(dir, "examples/packages/hello"), os.DirFS(filepath.Join(examples(t), "hello"))))
	for _, name := range []string{"core5g", "firewall"} {
		require.NoError(t, os.CopyFS(filepath.Join(dir, "examples/packages", name), os.DirFS(filepath.Join(examples(t), name))))
	}
	require.NoError(t, os.CopyFS(filepath.Join(dir, "hello-1.1"), os.DirFS(next(t))))
	require.NoError(t, os.CopyFS(filepath.Join(dir, "core5g-1.5"), os.DirFS(filepath.Join(examples(t), "core5g"))))
	t.Chdir(dir)
	group, _, err := root().Find([]string{"package"})
	require.NoError(t, err)
	commands := group.Commands()
	slices.SortFunc(commands, func(a, b *cobra.Command) int {
		order := []string{"hash", "pack", "sign", "verify"}
		return slices.Index(order, a.Name()) - slices.Index(order, b.Name())
	})
	for _, command := range commands {
		require.NotEmpty(t, command.Example, "the help of %s has no example", command.Name())
		for line := range strings.Lines(command.Example) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), " > ")
			args := strings.Fields(line)
			if slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--from-") }) {
				// These need a VIM: the tests with one run them.
				continue
			}
			run(t, args[1:]...).want(t, 0)
		}
	}
}

// TestLife goes from a directory to packages that are signed in both ways, and back to what an attacker makes of them.
func TestLife(t *testing.T) {
	dir, out := edited(t, "hello", "Files/kubernetes/web.yaml", "replicas: 1", "replicas: 2"), t.TempDir()
	writeIdentity(t, out)
	at := func(name string) string { return filepath.Join(out, name) }
	identity := []string{"--cert", at("signer.pem"), "--key", at("signer.key")}
	run(t, "package", "pack", dir, at("p.csar")).want(t, cli.ExitFailure, "web.yaml", "package hash "+dir)
	if _, err := os.Stat(at("p.csar")); err == nil {
		t.Error("a package whose digests are wrong was packed")
	}
	run(t, "package", "hash", dir).want(t, 0, ".mf\n")
	packed := run(t, "package", "pack", dir, at("p.csar")).want(t, 0, at("p.csar")+" sha256:")
	again := run(t, "package", "pack", dir, at("again.csar"))
	first, err := os.ReadFile(at("p.csar"))
	require.NoError(t, err)
	second, err := os.ReadFile(at("again.csar"))
	require.NoError(t, err)
	require.True(t, bytes.Equal(first, second), "packed twice, a package differs")
	require.Equal(t, strings.Fields(again.out)[1], strings.Fields(packed.out)[1], "packed twice, a package differs")
	run(t, append([]string{"package", "sign", dir, at("one.csar")}, identity...)...).want(t, 0)
	run(t, append([]string{"package", "sign", "--option", "2", dir, at("two.zip")}, identity...)...).want(t, 0)
	for name, option := range map[string]string{"one.csar": "OPTION_1", "two.zip": "OPTION_2"} {
		run(t, "package", "verify", "--roots", at("root.pem"), at(name)).want(t, 0, "signer  CN=Acme", "option  "+option)
		run(t, "package", "verify", "--roots", at("root.pem"), "--subject", "CN=Another", at(name)).want(t, cli.ExitFailure, "CN=Another")
		run(t, "package", "inspect", "--roots", at("root.pem"), at(name)).want(t, 0, "by CN=Acme ("+option+")")
	}
	run(t, "package", "verify", "--roots", at("root.pem"), at("p.csar")).want(t, cli.ExitFailure, "the package is not signed")
	other := t.TempDir()
	writeIdentity(t, other)
	run(t, "package", "verify", "--roots", filepath.Join(other, "root.pem"), at("one.csar")).want(t, cli.ExitFailure, "Acme")
}

func TestInspect(t *testing.T) {
	hello, firewall := filepath.Join(examples(t), "hello"), filepath.Join(examples(t), "firewall")
	run(t, "package", "inspect", hello).want(t, 0, "hello 1.0.0 by Example Networks\n", "  web  Deployment web  1..4       web", "  web             0..3    web 1\n")
	var got topology
	require.NoError(t, json.Unmarshal([]byte(run(t, "package", "inspect", "-o", "json", firewall).want(t, 0).out), &got))
	if len(got.Flavours) < 3 || got.Flavours[0].VDUs[0].ID != "FW" || len(got.Flavours[0].ConnectionPoints) != 4 {
		t.Errorf("topology of the firewall: %+v", got)
	}
	run(t, "package", "inspect", "-o", "mermaid", "--flavour", "plain", firewall).want(t, 0, "flowchart LR\n", `vdu0["FW<br>1..3"]`, `vdu0 ---|"FW_CP2"| link0`)
	drawn := run(t, "package", "inspect", "-o", "svg", "--flavour", "plain", firewall).want(t, 0, ">FW<", ">inside  192.168.120.0/24<", "FW_CP1", ">outside<")
	decoder := xml.NewDecoder(strings.NewReader(drawn.out))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the drawing is not XML: %v", err)
		}
	}
	run(t, "package", "inspect", "-o", "svg", "--flavour", "none", firewall).want(t, cli.ExitUsage, `no deployment flavour "none"`, `"plain"`)
}

// TestDrawingOfNames draws names that mean something to Mermaid and XML.
func TestDrawingOfNames(t *testing.T) {
	f := &flavour{
		ID: "<f>", VDUs: []vdu{{ID: `end "a" <b> #1`, Min: 1, Max: 1}},
		ConnectionPoints: []connectionPoint{{ID: "p|q", VDU: `end "a" <b> #1`, VirtualLink: "l&m"}, {ID: "alone"}},
		VirtualLinks:     []virtualLink{{ID: "l&m"}},
	}
	require.Equal(t, "flowchart LR\n  vdu0[\"end #quot;a#quot; <b> #35;1<br>1\"]\n  link0([\"l&m\"])\n  vdu0 ---|\"p|q\"| link0\n", mermaid(f), "Mermaid")
	var drawn struct{}
	require.NoError(t, xml.Unmarshal([]byte(svg(f)), &drawn), "SVG")
}

func TestLint(t *testing.T) {
	for name, test := range map[string]struct {
		dir  string
		args []string
		code int
		want []string
	}{
		"nothing":              {dir: filepath.Join(examples(t), "core5g"), want: []string{"0 errors, 0 warnings\n"}},
		"two drivers":          {dir: filepath.Join(examples(t), "watched-firewall"), want: []string{"0 errors, 0 warnings\n"}},
		"two drivers, a field": {edited(t, "watched-firewall", "Files/charts/watcher/templates/watcher.yaml", "  selector:\n    matchLabels", "  replica: 1\n  selector:\n    matchLabels"), []string{"--integrity", "ignore"}, 0, []string{`spec.replica is not a field of Deployment: did you mean "replicas"?`}},
		"a digest":             {edited(t, "hello", "Files/kubernetes/web.yaml", "replicas: 1", "replicas: 2"), nil, 1, []string{"error: hello.mf:", "[csar-integrity, SOL004 5.3]"}},
		"a policy":             {edited(t, "hello", "hello.yaml", "number_of_instances: 1", "number_of_instances: x"), []string{"--integrity", "ignore"}, 1, []string{"error: hello.yaml:", "must be a whole number", "SOL001 tosca.policies.nfv."}},
		"an object":            {edited(t, "hello", "Files/kubernetes/web.yaml", "metadata:\n  name: web\n", "metadata:\n  name: web\n  labels: {a: 1}\n"), []string{"--integrity", "ignore"}, 1, []string{"error: Files/kubernetes/web.yaml:", "[kubernetes-object, Kubernetes API]"}},
		"a type":               {edited(t, "hello", "Files/kubernetes/web.yaml", "replicas: 1", "replicas: '1'"), []string{"--integrity", "ignore"}, 1, []string{"error: Files/kubernetes/web.yaml:", "spec.replicas must be a whole number, not a string [kubernetes-object, Kubernetes API]"}},
		"a field":              {edited(t, "hello", "Files/kubernetes/web.yaml", "replicas: 1", "replica: 1"), []string{"--integrity", "ignore"}, 0, []string{"warning: Files/kubernetes/web.yaml:", `spec.replica is not a field of Deployment: did you mean "replicas"?`}},
		"a template":           {edited(t, "firewall", "BaseHOT/simple/firewall.yaml", "get_attr: [FW, address]", "get_attr: [FV, address]"), []string{"--integrity", "ignore"}, 1, []string{`error: BaseHOT/simple/firewall.yaml:`, `get_attr names "FV", which is not a resource of the template [heat-template, Heat Orchestration Template]`}},
		"no YAML":              {edited(t, "hello", "Files/kubernetes/web.yaml", "kind: Service", "kind: [Service"), []string{"--integrity", "ignore"}, 1, []string{"error: Files/kubernetes/web.yaml:", "looks like a Kubernetes manifest and cannot be read", "[csar-kubernetes-manifests,"}},
		"a warning":            {edited(t, "hello", "hello.mf", "metadata:\n", "metadata:\n  vnf_colour: green\n"), nil, 0, []string{"warning: hello.mf:2", "[csar-manifest, SOL004 4.3.2]", "0 errors, 1 warning\n"}},
		"no manifest": {edited(t, "hello", "hello.mf", "Source: Files/kubernetes/web.yaml\nAlgorithm: SHA-256\nHash: 0755a49c59ff18160859a05fcc3c248773a61d7426a50404d95d95715ccd3fdb\n", ""), nil, 0, []string{
			"warning: hello.mf: 1 file is not listed: Files/kubernetes/web.yaml: the Kubernetes objects of Files/kubernetes/web.yaml are by default no part of an instance",
			`warning: hello.yaml:23: the package does not say what the VDUs of deployment flavour "default" are made of: list their Kubernetes manifests`, "0 errors, 2 warnings\n",
		}},
		"contradiction": {edited(t, "hello", "hello.mf", "vnf_software_version: \"1.0.0\"", "vnf_software_version: 1.0.1"), nil, 0, []string{`warning: hello.mf:7: vnf_software_version is "1.0.1", but software_version of the VNFD (hello.yaml) is "1.0.0": write the same value into both files; the VNFD counts [csar-manifest, SOL004 4.3.2]`}},
		"strict":        {edited(t, "hello", "hello.mf", "metadata:\n", "metadata:\n  vnf_colour: green\n"), []string{"--strict"}, 1, []string{"0 errors and 1 warning"}},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, append([]string{"package", "lint", test.dir}, test.args...)...).want(t, test.code, test.want...)
		})
	}
	bad := edited(t, "hello", "hello.mf", "metadata:\n", "metadata:\n  vnf_colour: green\n")
	t.Run("JSON", func(t *testing.T) {
		var list []finding
		require.NoError(t, json.Unmarshal([]byte(run(t, "package", "lint", "-o", "json", bad).want(t, 0).out), &list))
		if len(list) != 1 || list[0].Line != 2 || list[0].Severity != "warning" || list[0].Rule.Clause != "SOL004 4.3.2" {
			t.Errorf("findings %+v", list)
		}
	})
	t.Run("SARIF", func(t *testing.T) {
		var log sarifLog
		require.NoError(t, json.Unmarshal([]byte(run(t, "package", "lint", "-o", "sarif", bad).want(t, 0).out), &log))
		result := log.Runs[0].Results[0]
		if log.Version != "2.1.0" || result.RuleID != "csar-manifest" || result.Level != "warning" || result.Locations[0].Physical.Artifact.URI != "hello.mf" ||
			result.Locations[0].Physical.Region.StartLine != 2 {
			t.Errorf("SARIF %+v", log)
		}
		var listed sarifLog
		require.NoError(t, json.Unmarshal([]byte(run(t, "package", "lint", "--rules", "-o", "sarif").want(t, 0).out), &listed))
		if len(listed.Runs) != 1 || listed.Runs[0].Results == nil || len(listed.Runs[0].Results) != 0 {
			t.Fatalf("the rules as SARIF: %+v", listed)
		}
		require.Equal(t, log.Runs[0].Tool, listed.Runs[0].Tool)
	})
	t.Run("no archive", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "x.csar")
		require.NoError(t, os.WriteFile(file, []byte("not a zip"), 0o600))
		run(t, "package", "lint", file).want(t, 1, "[csar-archive, SOL004 4.1]")
	})
}

// TestWritingPackages makes the two packages of the guide "Writing packages" as it says: neither has a finding.
func TestWritingPackages(t *testing.T) {
	text, err := os.ReadFile("../../../templates/guides/writing-packages.md")
	require.NoError(t, err)
	var blocks []string
	for _, found := range regexp.MustCompile("(?ms)^```[a-z]+\n(.*?)^```").FindAllSubmatch(text, -1) {
		blocks = append(blocks, string(found[1]))
	}
	require.Len(t, blocks, 8, "snippets of the guide")
	meta, vnfd, objects, manifest, node := blocks[1], blocks[2], blocks[3], blocks[4], blocks[6]
	for name, files := range map[string]map[string]string{
		"manifests": {"Definitions/sbc.yaml": vnfd, "Files/kubernetes/sbc.yaml": objects},
		"chart": {
			"Definitions/sbc.yaml":                      strings.Replace(vnfd, "  policies:\n", node+"  policies:\n", 1),
			"Artifacts/Charts/sbc/Chart.yaml":           "apiVersion: v2\nname: sbc\nversion: 1.0.0\n",
			"Artifacts/Charts/sbc/templates/media.yaml": strings.Replace(objects, "{ name: media }\nspec", "{ name: {{ .Release.Name }}-media }\nspec", 1),
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "sbc")
			files["TOSCA-Metadata/TOSCA.meta"], files["sbc.mf"] = meta, manifest
			for file, content := range files {
				at := filepath.Join(dir, file)
				require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o750))
				require.NoError(t, os.WriteFile(at, []byte(content), 0o600))
			}
			run(t, "package", "hash", dir).want(t, 0)
			run(t, "package", "lint", dir).want(t, 0, "0 errors, 0 warnings\n")
			run(t, "package", "render", "--scale", "media=2", dir).want(t, 0, "kind: Deployment", "replicas: 3")
		})
	}
}

// TestRules has each rule once, with what people need of it.
func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for _, rule := range rules() {
		if seen[rule.ID] || !regexp.MustCompile(`^[a-z0-9-]+$`).MatchString(rule.ID) || rule.Title == "" || strings.HasSuffix(rule.Title, ".") || rule.Clause == "" {
			t.Errorf("rule %+v", rule)
		}
		seen[rule.ID] = true
		run(t, "package", "lint", "--rules").want(t, 0, rule.ID, rule.Title, rule.Clause)
	}
}

func TestRender(t *testing.T) {
	params := filepath.Join(t.TempDir(), "params.yaml")
	require.NoError(t, os.WriteFile(params, []byte("lcm-kubernetes-def-files: [Files/nowhere.yaml]\n"), 0o600))
	hello := filepath.Join(examples(t), "hello")
	run(t, "package", "render", "--scale", "web=2", hello).want(t, 0, "kind: Deployment", "replicas: 3", "\n---\n", "kind: ConfigMap")
	run(t, "package", "render", "--params", params, hello).want(t, cli.ExitFailure, "Files/nowhere.yaml")
	run(t, "package", "render", "--scale", "web=9", hello).want(t, cli.ExitFailure, "web")
	run(t, "package", "render", filepath.Join(examples(t), "firewall")).want(t, cli.ExitFailure, "rendering the package")
}

// next is the next version of the package hello: another image and page, its Service is gone, and it has a ServiceAccount.
func next(t *testing.T) string {
	t.Helper()
	dir := edited(t, "hello", "Files/kubernetes/web.yaml", "hello/web:1.0.0", "hello/web:1.1.0")
	for _, edit := range []struct{ file, from, to string }{
		{"Files/kubernetes/web.yaml", "<h1>Hello from", "<h1>Greetings from"},
		{"Files/kubernetes/web.yaml", "kind: Service\nmetadata:\n  name: web\nspec:\n  selector: { app.kubernetes.io/name: web }\n  ports:\n    - { name: http, port: 80, targetPort: http }\n", "kind: ServiceAccount\nmetadata:\n  name: web\n"},
		{"hello.yaml", `"1.0.0"`, `"1.1.0"`},
	} {
		at := filepath.Join(dir, edit.file)
		text, err := os.ReadFile(at)
		require.NoError(t, err)
		require.Contains(t, string(text), edit.from, edit.file)
		require.NoError(t, os.WriteFile(at, []byte(strings.ReplaceAll(string(text), edit.from, edit.to)), 0o600))
	}
	run(t, "package", "hash", dir).want(t, 0)
	return dir
}

func TestDiff(t *testing.T) {
	hello := filepath.Join(examples(t), "hello")
	const want = `CHANGE_VNFPKG hello 1.0.0 -> 1.1.0
  web: 3 rolled, 1 more at a time

added
  v1/ServiceAccount web

apps/v1/Deployment web
  spec.template: reads other configuration
  spec.template.spec.containers[web].image: registry.example.com/hello/web:1.0.0 -> registry.example.com/hello/web:1.1.0

removed
  v1/Service web

v1/ConfigMap web-content
  data.index.html: <h1>Hello from a VNF</h1> -> <h1>Greetings from a VNF</h1>
`
	require.Equal(t, want, run(t, "package", "diff", "--scale", "web=2", hello, next(t)).want(t, 0).out, "diff")
	run(t, "package", "diff", hello, hello).want(t, 0, "no difference\n")
	// Both have the same namespace, whichever that is.
	chart := edited(t, "ims-helm", "Artifacts/Charts/ims/values.yaml", "tag: 1.0.0", "tag: 1.0.1")
	run(t, "package", "hash", chart).want(t, 0)
	run(t, "package", "diff", filepath.Join(examples(t), "ims-helm"), chart).want(t, 0, "apps/v1/Deployment ims-cscf\n", ":1.0.0 -> ", ":1.0.1\n")
	other := edited(t, "hello", "Files/kubernetes/web.yaml", "kind: Deployment", "kind: StatefulSet")
	run(t, "package", "hash", other).want(t, 0)
	run(t, "package", "diff", hello, other).want(t, 0, "\n  web: 1 replaced\n", "apps/v1/StatefulSet web")
	// Of a Secret the key is named, and of those that read it what becomes of them.
	rotated := edited(t, "core5g", "Files/kubernetes/00-secrets.yaml", "password: example-only", "password: planted-secret")
	run(t, "package", "hash", rotated).want(t, 0)
	said := run(t, "package", "diff", filepath.Join(examples(t), "core5g"), rotated).want(t, 0, "v1/Secret db-credentials\n", "password", "  db: 1 rolled")
	require.NotContains(t, said.out+said.errors, "planted-secret", "the value of a Secret is shown")
	require.NotContains(t, said.out, "example-only", "the value of a Secret is shown")
	var got difference
	require.NoError(t, json.Unmarshal([]byte(run(t, "package", "diff", "--output", "json", hello, next(t)).want(t, 0).out), &got))
	require.NotEmpty(t, got.Operations, "as JSON")
	require.Len(t, got.Changes, 4, "as JSON")
	run(t, "package", "diff", hello, edited(t, "hello", "hello.mf", "Hash: ", "Hash: 00")).want(t, cli.ExitFailure, "hello.mf")
	// Of two packages the one with the error is named, once.
	if got := run(t, "package", "diff", "--level", "many", hello, hello).want(t, cli.ExitFailure, hello+": deployment flavour"); strings.Count(got.errors, "\n") != 1 {
		t.Errorf("not one line:\n%s", got.errors)
	}
	run(t, "package", "diff", hello, "/no/package").want(t, cli.ExitUsage, "/no/package")
	run(t, "package", "diff", hello).want(t, cli.ExitUsage, "takes OLD and NEW, got 1 arguments")
}

// TestOutputIsCut: what could not be written is no success, and a file is written whole or not at all.
func TestOutputIsCut(t *testing.T) {
	hello := filepath.Join(examples(t), "hello")
	for _, args := range [][]string{{"lint", hello}, {"render", hello}, {"diff", hello, hello}, {"inspect", hello}, {"lint", "-o", "json", hello}} {
		var problems bytes.Buffer
		code := cli.Run(t.Context(), root(), append([]string{"package"}, args...), full{}, &problems)
		require.Equal(t, cli.ExitFailure, code, "%v: %s", args, problems.String())
		require.Equal(t, "Error: writing the output: no space left on device\n", problems.String(), "%v", args)
	}
	dir := t.TempDir()
	run(t, "package", "pack", hello, dir).want(t, cli.ExitFailure, "writing the package: open "+dir+": is a directory")
	run(t, "package", "pack", hello, filepath.Join(dir, "none", "a.csar")).want(t, cli.ExitFailure, "writing the package: open ")
	there := filepath.Join(dir, "there.csar")
	require.NoError(t, os.WriteFile(there, []byte("there"), 0o600))
	// Where the new file begins, there is a directory: it cannot be written.
	require.NoError(t, os.Mkdir(there+".partial", 0o700))
	run(t, "package", "pack", hello, there).want(t, cli.ExitFailure, "writing the package: ")
	kept, err := os.ReadFile(there)
	require.NoError(t, err)
	require.Equal(t, "there", string(kept))
	link := filepath.Join(dir, "link.csar")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "behind.csar"), nil, 0o600))
	require.NoError(t, os.Symlink("behind.csar", link))
	run(t, "package", "pack", hello, link).want(t, 0)
	target, err := os.Readlink(link)
	require.NoError(t, err)
	require.Equal(t, "behind.csar", target)
}

func TestNoTemporaryDirectory(t *testing.T) {
	t.Setenv("TMPDIR", "/no/place")
	run(t, "package", "lint", filepath.Join(examples(t), "hello")).want(t, cli.ExitFailure, "making a directory for temporary files, below the one that TMPDIR names: stat /no/place")
}

// full is a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestUsage(t *testing.T) {
	dir := t.TempDir()
	writeIdentity(t, dir)
	hello, pem, key := filepath.Join(examples(t), "hello"), filepath.Join(dir, "signer.pem"), filepath.Join(dir, "signer.key")
	params := func(name, text string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	for name, test := range map[string]struct {
		args []string
		want []string
	}{
		"no command":         {[]string{"lnit"}, []string{`no command or argument "lnit"`}},
		"no package":         {[]string{"lint"}, []string{"takes PACKAGE, got 0 arguments", "lint --help"}},
		"two packages":       {[]string{"inspect", "a", "b"}, []string{"takes PACKAGE, got 2 arguments"}},
		"no such package":    {[]string{"lint", "/no/package"}, []string{"/no/package"}},
		"form":               {[]string{"lint", "-o", "xml", hello}, []string{`--output is "xml"; it can be "json", "sarif", "text"`}},
		"form of a drawing":  {[]string{"inspect", "-o", "png", hello}, []string{`--output is "png"`}},
		"signature":          {[]string{"lint", "--signature", "maybe", hello}, []string{`--signature is "maybe"`, `"verify_if_present"`}},
		"roots":              {[]string{"lint", "--roots", "/no/roots", hello}, []string{"reading the trust roots", "/no/roots"}},
		"no roots":           {[]string{"verify", hello}, []string{"--roots FILE is needed"}},
		"no identity":        {[]string{"sign", hello, "/no/out"}, []string{"both --cert FILE and --key FILE"}},
		"no key":             {[]string{"sign", "--cert", pem, "--key", "/no/key", hello, "/no/out"}, []string{"reading the key", "/no/key"}},
		"option":             {[]string{"sign", "--cert", pem, "--key", key, "--option", "3", hello, "/no/out"}, []string{"--option is 3; SOL004 has 1 and 2"}},
		"no directory":       {[]string{"pack", "/no/package", "/no/out"}, []string{"/no/package"}},
		"scale":              {[]string{"render", "--scale", "workers=many", hello}, []string{"--scale workers=many is no scale level"}},
		"params":             {[]string{"render", "--params", pem, hello}, []string{"reading the parameters", "signer.pem"}},
		"option, no number":  {[]string{"sign", "--option", "x", hello, "/no/out"}, []string{`invalid argument "x" for "--option" flag: it must be a whole number; see`}},
		"roots, no PEM":      {[]string{"lint", "--roots", key, hello}, []string{"the trust roots", "signer.key have no certificate that can be read"}},
		"namespace":          {[]string{"render", "--namespace", "Foo_Bar", hello}, []string{`--namespace is "Foo_Bar"; the name of a namespace has`}},
		"params, a list":     {[]string{"render", "--params", params("list", "[hunter2]"), hello}, []string{"list: it must hold a mapping"}},
		"params, numbers":    {[]string{"render", "--params", params("numbers", "1: hunter2"), hello}, []string{"numbers: it must hold a mapping from names to values, with texts as names"}},
		"params twice":       {[]string{"render", "--params", params("twice", "a: 1\na: hunter2"), hello}, []string{`twice: line 2: mapping key "a" already defined at line 1`}},
		"params, infinite":   {[]string{"render", "--params", params("infinite", "a: .inf"), hello}, []string{"infinite: it has what JSON does not have"}},
		"rules of a package": {[]string{"lint", "--rules", hello}, []string{"no command or argument"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, append([]string{"package"}, test.args...)...).want(t, cli.ExitUsage, test.want...)
			if strings.Count(got.errors, "\n") != 1 || got.out != "" || strings.Contains(got.errors, "hunter2") {
				t.Errorf("not one line, or with a value:\n%s%s", got.out, got.errors)
			}
		})
	}
}

// TestControlCharacters shows what a VNFD would command the terminal.
func TestControlCharacters(t *testing.T) {
	commands := edited(t, "hello", "hello.yaml", "product_name: hello", `product_name: "\e]52;c;aGk=\a \u009b1m \b \u202e \u2066 \u200b \uFEFF \x7f \u061c"`)
	for _, form := range []string{"table", "json", "mermaid", "svg"} {
		assert.NotRegexp(t, `[^\P{C}\n\t]`, run(t, "package", "inspect", "--integrity", "ignore", "-o", form, commands).want(t, 0).out)
	}
}
