//go:build linux

package bench

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// chartObjects is the number of objects of the chart that Helm and the provider install.
const chartObjects = 300

// BenchmarkHelm installs a chart with Helm's own command, which waits for what it installs, and with the provider, by turns, and prints
// both times and their ratio. The apply of the provider registers the VIM and onboards the package as well.
func BenchmarkHelm(b *testing.B) {
	s := &stage{lab: labtest.Kubernetes(b), report: newReport(), tools: newTools(b)}
	observer, err := newDynamic(s.lab, observeAgent)
	require.NoError(b, err)
	s.observer = observer
	w := newWorkload(b, chartObjects, false)
	dir, chart := w.asChart(b)
	times := map[string][]time.Duration{}
	took := func(what string, work func()) {
		begin := time.Now()
		work()
		times[what] = append(times[what], time.Since(begin))
	}
	const install, apply = "helm install --wait", "terraform apply"
	for range b.N * lives(b) {
		s.lead(b, w, byHelm, func(l *life) {
			h := s.lab.Helm(b, l.namespace)
			took(install, func() { h.Run(b, "install", "bench", chart, "--wait", "--timeout", "10m") })
			l.expectRolledOut()
			h.Run(b, "uninstall", "bench")
		})
		s.lead(b, w, byTerraform, func(l *life) {
			m := l.tools.module(b)
			m.configure(acctest.VIM(b, l.lab, "bench"), chartConfig("bench", dir, l.namespace, `additional_params = { helm_chart_path = "`+chartPath+`" }`))
			took(apply, func() { m.run("apply", "-auto-approve", "-no-color") })
			l.expectRolledOut()
			m.run("destroy", "-auto-approve", "-no-color")
		})
	}
	writeTimes(os.Stdout, fmt.Sprintf("a chart of %d objects", chartObjects), times, [][2]string{{install, ""}, {apply, install}})
}

// chartConfig is a package and an instance of it.
func chartConfig(name, dir, namespace, arguments string) string {
	return fmt.Sprintf(`
resource "vnf_package" %[1]q {
  name   = %[1]q
  source = %[2]q
}

resource "vnf_instance" %[1]q {
  name            = %[1]q
  vim_id          = vnf_vim.test.id
  package_id      = vnf_package.%[1]s.id
  namespace       = %[3]q
  deletion_policy = { volumes = "delete" }
  %[4]s
}
`, name, dir, namespace, arguments)
}

// Packages that are large for a file in them, such as an image.
const (
	largePackages = 5
	largeSize     = 40 << 20
)

// BenchmarkLargePackages plans instances of packages of largeSize bytes, before their apply and after it, and prints the times.
func BenchmarkLargePackages(b *testing.B) {
	lab, programs := labtest.Kubernetes(b), newTools(b)
	namespace := lab.Namespace(b)
	parts := []string{acctest.VIM(b, lab, "bench")}
	for i := range largePackages {
		dir := acctest.CopyPackage(b, "hello")
		content := make([]byte, largeSize)
		_, err := rand.Read(content)
		require.NoError(b, err)
		acctest.Write(b, dir, "Files/images/disk.img", string(content))
		acctest.Edit(b, dir, "hello.mf", "Source: Files/kubernetes/web.yaml\n", "Source: Files/images/disk.img\nAlgorithm: SHA-256\nHash: 00\n\nSource: Files/kubernetes/web.yaml\n")
		acctest.Hash(b, dir)
		parts = append(parts, chartConfig(fmt.Sprintf("large%d", i), dir, fmt.Sprintf("%s-%d", namespace, i), ""))
	}
	m := programs.module(b)
	m.configure(parts...)
	times := map[string][]time.Duration{}
	const first, apply, again = "first plan", "apply", "plan without a change"
	step := func(what string, args ...string) {
		measured := m.run(append(args, "-no-color")...)
		times[what] = append(times[what], measured.wall)
		b.Logf("%s: %.2f s, %d MiB", what, measured.wall.Seconds(), measured.peak>>20)
	}
	for range b.N * lives(b) {
		step(first, "plan")
		step(apply, "apply", "-auto-approve")
		step(again, "plan", "-detailed-exitcode")
		m.run("destroy", "-auto-approve", "-no-color")
	}
	writeTimes(os.Stdout, fmt.Sprintf("%d instances of packages of %d MiB", largePackages, largeSize>>20), times, [][2]string{{first, ""}, {apply, ""}, {again, ""}})
}

// writeTimes prints a line for each of the steps, with the ratio of its median to that of another one.
func writeTimes(w io.Writer, title string, times map[string][]time.Duration, steps [][2]string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintf(t, "\n%s\tk\tmedian s\tmin\tmax\tratio\t\n", title)
	for _, step := range steps {
		all := slices.Clone(times[step[0]])
		slices.Sort(all)
		ratio := ""
		if other := slices.Clone(times[step[1]]); len(other) > 0 {
			slices.Sort(other)
			ratio = fmt.Sprintf("%.2f", median(all).Seconds()/median(other).Seconds())
		}
		_, _ = fmt.Fprintln(t, strings.Join([]string{
			step[0], fmt.Sprint(len(all)), fmt.Sprintf("%.2f", median(all).Seconds()), fmt.Sprintf("%.2f", all[0].Seconds()), fmt.Sprintf("%.2f", all[len(all)-1].Seconds()), ratio,
		}, "\t")+"\t")
	}
	_ = t.Flush()
	_, _ = fmt.Fprintf(w, "Load average of the machine at the end: %s\n", loadAverage())
}
