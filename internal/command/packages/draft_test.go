package packages

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/release"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestDraft packs what is there as a file and as a directory, which are the same package without a finding.
func TestDraft(t *testing.T) {
	dir := t.TempDir()
	digests := map[string]bool{}
	for _, name := range []string{"p.csar", "p"} {
		d := &draft{
			name: "core", version: `1.0 "beta": x`, origin: "release ims/core", description: "The release: \"core\"", at: time.Date(2026, 11, 26, 8, 0, 0, 0, time.UTC),
			vdus:  []draftVDU{{"amf", "amf", "Deployment amf", vduOfContainers, 0}, {"yes", "yes", "Deployment yes", vduOfContainers, 3}},
			chart: "Artifacts/Charts/core", files: map[string][]byte{"Artifacts/Charts/core/Chart.yaml": []byte("apiVersion: v2\nname: core\nversion: 1.0.0\n"), "Artifacts/Charts/core/templates/all.yaml": []byte(
				"{{ range list \"amf\" \"yes\" }}\napiVersion: apps/v1\nkind: Deployment\nmetadata: { name: {{ $.Release.Name }}-{{ . }} }\n---\n{{ end }}")},
		}
		path := filepath.Join(dir, name)
		to, err := targetOf(path)
		require.NoError(t, err)
		cmd := &cobra.Command{}
		digest, err := d.pack(t.Context(), cmd, "v1.2.3", to, []beside{{path + ".secrets.yaml", []byte("a: b\n")}}, func(_ context.Context, _ *lcm.Engine, p *vnfm.Package) error {
			if f := p.Descriptor.Flavours[0]; len(f.VDUs) != 2 || p.Descriptor.SoftwareVersion != `1.0 "beta": x` {
				t.Errorf("the package reads as %+v", p.Descriptor)
			}
			return nil
		})
		require.NoError(t, err)
		digests[digest] = true
		run(t, "package", "lint", "--strict", path).want(t, 0)
		if info, err := os.Stat(path + ".secrets.yaml"); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the file of secrets has the mode %v, %v", info.Mode(), err)
		}
	}
	require.Len(t, digests, 1, "the same draft has the digests")
}

func TestTargets(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll("full/inside", 0o750))
	require.NoError(t, os.Mkdir("empty", 0o750))
	require.NoError(t, os.Mkdir("d.csar", 0o750))
	require.NoError(t, os.WriteFile("text.tgz", nil, 0o600))
	t.Setenv("KUBECONFIG", "")
	t.Setenv("OS_CLOUD", "")
	t.Setenv("OS_AUTH_URL", "")
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"no file":       {[]string{"--from-release", "a/b"}, "takes FILE"},
		"two files":     {[]string{"--from-release", "a/b", "x", "y"}, "takes FILE"},
		"not empty":     {[]string{"--from-release", "a/b", "full"}, "full is not empty"},
		"a directory":   {[]string{"--from-release", "a/b", "d.csar"}, "d.csar is a directory"},
		"another file":  {[]string{"--from-release", "a/b", "text.tgz"}, "text.tgz is no package file"},
		"no folder":     {[]string{"--from-release", "a/b", "none/x.csar"}, "there is no directory none"},
		"no namespace":  {[]string{"--from-release", "b", "x.csar"}, "write NAMESPACE/NAME"},
		"bad name":      {[]string{"--from-release", "a/B_", "x.csar"}, "write NAMESPACE/NAME"},
		"no kubeconfig": {[]string{"--from-release", "a/b", "x.csar"}, "no cluster is named: give --kubeconfig FILE, or set KUBECONFIG"},
		"lost":          {[]string{"--from-release", "a/b", "--kubeconfig", "none.yaml", "empty"}, "reading the kubeconfig"},
		"bad":           {[]string{"--from-release", "a/b", "--kubeconfig", "text.tgz", "empty"}, "kubeconfig"},
		"no cloud":      {[]string{"--from-stack", "a", "x.csar"}, "no cloud is named: give --os-cloud NAME, or set OS_CLOUD"},
		"lost cloud":    {[]string{"--from-stack", "a", "--os-cloud", "b", "--os-clouds", "none.yaml", "x.csar"}, "there is no clouds.yaml at none.yaml"},
		"empty cloud":   {[]string{"--from-stack", "a", "--os-cloud", "b", "--os-clouds", "text.tgz", "x.csar"}, "the clouds.yaml is empty"},
		"file alone":    {[]string{"--from-stack", "a", "--os-clouds", "text.tgz", "x.csar"}, "--os-clouds goes with --os-cloud"},
		"cloud alone":   {[]string{"--os-cloud", "c", "full", "x.csar"}, "go with --from-stack"},
		"both":          {[]string{"--from-stack", "a", "--from-release", "a/b", "x.csar"}, "not of both"},
		"chart alone":   {[]string{"--chart", "c", "full", "x.csar"}, "go with --from-release"},
	} {
		t.Run(name, func(t *testing.T) {
			a := run(t, append([]string{"package", "pack"}, test.args...)...).want(t, cli.ExitUsage, test.want)
			require.Empty(t, a.out, "the command says more than one line")
			require.Equal(t, 1, strings.Count(a.errors, "\n"), "the command says more than one line")
		})
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) != 4 {
		t.Errorf("the commands have written %v, %v", entries, err)
	}
}

func TestWorkloads(t *testing.T) {
	d := &draft{name: "core"}
	mapping := d.addWorkloads([]release.Workload{
		{Kind: "Deployment", Name: "core-amf", Replicas: 2}, {Kind: "Deployment", Name: "core"}, {Kind: "Deployment", Name: "core-db"}, {Kind: "DaemonSet", Name: "db"},
		{Kind: "Deployment", Name: "x"}, {Kind: "StatefulSet", Name: "x"},
	})
	var got []string
	for _, v := range d.vdus {
		got = append(got, v.id+" "+v.name)
	}
	require.Equal(t, []string{"amf amf", "core core", "core-db core-db", "db db", "x-deployment x", "x-statefulset x"}, got, "VDUs")
	want := map[string]any{"x-deployment": map[string]any{"kind": "Deployment", "name": "x"}, "x-statefulset": map[string]any{"kind": "StatefulSet", "name": "x"}}
	require.Equal(t, want, mapping, "vdu_mapping")
}
