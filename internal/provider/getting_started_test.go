package provider_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// differing are lines of an output that another run has otherwise: names, ids, times, keys, and those of kubectl.
var differing = regexp.MustCompile(`^ +\]\)$|^ +\}\)$|[0-9a-f]{8}-[0-9a-f]{4}-|web-[0-9a-f]{8,10}-|sha256:|after [0-9]+s|AGE$| [0-9]+s$|tolist|[A-Z]{2}_CP[12]"|tomap|[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+`)

// expectGuide expects that what a guide shows as outputs (blocks of text) is in what the commands of a test have said, but for lines
// with one of the texts of elsewhere.
func expectGuide(t *testing.T, guide, said string, elsewhere ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "templates", "guides", guide))
	require.NoError(t, err)
	checked, inside := 0, false
	for number, line := range strings.Split(string(text), "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```text"
		case inside && strings.TrimSpace(line) != "" && !differing.MatchString(line) &&
			!slices.ContainsFunc(elsewhere, func(text string) bool { return strings.Contains(line, text) }):
			checked++
			if !strings.Contains(said, "\n"+line) {
				t.Errorf("%s:%d: no command of the guide says %q", guide, number+1, line)
			}
		}
	}
	if checked < 20 {
		t.Errorf("%s: %d lines of outputs", guide, checked)
	}
}

// TestGettingStartedExample walks the guide on a cluster, and expects the outputs that the guide shows.
func TestGettingStartedExample(t *testing.T) {
	c := newCLI(t)
	lab := labtest.Kubernetes(t)
	const example, namespace = "complete/getting-started", "getting-started"
	vars := []string{"kubeconfig=" + lab.Kubeconfig, "namespace=" + namespace}
	var said strings.Builder
	step := func(more ...string) {
		vars = append(vars, more...)
		said.WriteString("\n" + c.run(t, example, vars, "apply", "-auto-approve", "-no-color"))
	}
	said.WriteString(c.apply(t, example, vars...))
	said.WriteString(c.run(t, example, vars, "plan", "-no-color"))
	said.WriteString("\n" + strings.ReplaceAll(lab.Kubectl(t, "get", "deployments,services,configmaps", "-n", namespace), "getting-started", "website"))
	step("level=2")
	lab.Kubectl(t, "set", "image", "deployment/web", "web=docker.io/library/busybox:1.36.0", "-n", namespace)
	lab.Kubectl(t, "delete", "service", "web", "-n", namespace)
	step()
	out := c.run(t, example, vars, "output", "-no-color", "-json", "vnfcs")
	victim := regexp.MustCompile(`"(web-[^"]+)"`).FindStringSubmatch(out)
	require.NotNil(t, victim, out)
	step(`heal=["` + victim[1] + `"]`)
	next := filepath.Join(c.root, example, "website-1.1")
	require.NoError(t, os.CopyFS(next, os.DirFS(filepath.Join(c.root, "packages/website"))))
	acctest.Edit(t, next, "Files/kubernetes/web.yaml", "Hello from a VNF", "Hello again")
	acctest.Edit(t, next, "website.yaml", `"1.0.0"`, `"1.1.0"`)
	acctest.Edit(t, next, "website.mf", `"1.0.0"`, `"1.1.0"`)
	acctest.Hash(t, next)
	diff, err := exec.CommandContext(t.Context(), filepath.Join(c.provider, "terraform-provider-vnf"), //nolint:gosec // the program under test
		"package", "diff", filepath.Join(c.root, "packages/website"), next).CombinedOutput()
	require.NoError(t, err, string(diff))
	said.WriteString("\n" + string(diff))
	step("package=website-1.1")
	said.WriteString("\n" + c.run(t, example, vars, "destroy", "-auto-approve", "-no-color"))
	expectGuide(t, "getting-started-cnf.md.tmpl", said.String())
}
