//go:build linux

package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// fleet is a number of instances of one package, each in a namespace of its own.
type fleet struct{ instances, objects int }

func (f fleet) String() string { return fmt.Sprintf("%d x %d", f.instances, f.objects) }

// fleets are what is measured. Those of three objects tell how the cost of an instance grows with the number of others.
var fleets = []fleet{{20, 60}, {100, 12}, {smallFleet, fleetGrowth}, {largeFleet, fleetGrowth}}

const (
	smallFleet, largeFleet = 100, 1000
	// fleetGrowth is the number of objects of an instance in both.
	fleetGrowth = 3
	// barGrowth is what an instance of the large fleet may cost, as a multiple of one of the small fleet.
	barGrowth = 1.3
	// parallelism is how many instances Terraform works on at a time, by default.
	parallelism = 10
)

// BenchmarkFleets leads many instances of one package through their lives at the same time.
func BenchmarkFleets(b *testing.B) {
	s := newStage(b)
	prefix := s.lab.Namespace(b)
	var namespaces []string
	for _, f := range fleets {
		b.Run(fmt.Sprintf("instances=%d,objects=%d", f.instances, f.objects), func(b *testing.B) {
			w := newWorkload(b, f.objects, false)
			times := lives(b)
			if f.instances == largeFleet && os.Getenv(envLives) == "" {
				times = 1
			}
			for range b.N * times {
				namespaces = s.moreNamespaces(b, prefix, namespaces, f.instances)
				for _, subject := range chosen(
					subject{"loop", byLoop, loopFleet}, subject{"empty", byEmpty, emptyFleet},
					subject{"engine", byEngine, engineFleet}, subject{"terraform", byTerraform, terraformFleet},
				) {
					w.write(b, false)
					k := row{workload: f.String(), n: f.instances * f.objects, instances: f.instances, by: subject.by}
					l := &life{B: b, stage: s, workload: w, row: k, namespace: namespaces[0], others: namespaces[1:f.instances]}
					subject.work(l)
					l.expectNothing()
				}
			}
		})
	}
	s.removeNamespaces(b, namespaces)
	if len(s.report.rows) > 0 {
		_, _ = fmt.Fprintln(os.Stdout)
		s.report.write(os.Stdout)
		s.report.writeGrowth(os.Stdout)
	}
}

// moreNamespaces makes namespaces until there are n, and waits for what Kubernetes puts into each.
func (s *stage) moreNamespaces(b *testing.B, prefix string, known []string, n int) []string {
	b.Helper()
	api := s.observer.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	var made []string
	group, ctx := errgroup.WithContext(b.Context())
	group.SetLimit(loopWorkers)
	for i := len(known); i < n; i++ {
		obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
		obj.SetName(fmt.Sprintf("%s-%04d", prefix, i))
		made = append(made, obj.GetName())
		group.Go(func() error {
			_, err := api.Create(ctx, obj, metav1.CreateOptions{})
			return err
		})
	}
	require.NoError(b, group.Wait())
	l := &life{B: b, stage: s, namespace: prefix, others: made}
	require.Eventually(b, func() bool {
		return len(l.objects("ServiceAccount")) > len(made) && len(l.objects("ConfigMap")) > len(made)
	}, 5*time.Minute, 200*time.Millisecond, "the namespaces are not ready")
	return append(known, made...)
}

// removeNamespaces has the namespaces go, and does not wait.
func (s *stage) removeNamespaces(b *testing.B, names []string) {
	b.Helper()
	api := s.observer.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	for _, name := range names {
		require.NoError(b, api.Delete(b.Context(), name, metav1.DeleteOptions{}))
	}
}

// loopFleet leads a fleet with the bare loop.
func loopFleet(l *life) {
	client, err := newDynamic(l.lab, loopAgent)
	require.NoError(l, err)
	bare := &loop{client: client, namespaces: l.namespaces()}
	dir := l.workload.manifests
	step := func(name string, work func(ctx context.Context) error) {
		l.keep(name, l.inProcess(name, loopAgent, work))
	}
	step(stepApply, func(ctx context.Context) error { return bare.apply(ctx, dir) })
	l.expectRolledOut()
	step(stepPlan, func(ctx context.Context) error { return bare.check(ctx, dir) })
	l.workload.write(l.B, true)
	step(stepChange, func(ctx context.Context) error { return bare.apply(ctx, dir) })
	l.expectRolledOut()
	step(stepDestroy, func(ctx context.Context) error { return bare.remove(ctx, dir) })
}

// engineFleet leads a fleet with the VNF manager in this process, as many instances at a time as Terraform does.
func engineFleet(l *life) {
	engine, ids := l.newEngine(), make([]string, l.row.instances)
	spec := vnfm.InstanceSpec{VIMID: l.registerVIM(engine), OperationalState: vnfm.Started, OnFailure: vnfm.OnFailureResume}
	step := func(name string, work func(ctx context.Context, i int, spec vnfm.InstanceSpec) error) {
		l.keep(name, l.inProcess(name, engineAgent, func(ctx context.Context) error {
			group, ctx := errgroup.WithContext(ctx)
			group.SetLimit(parallelism)
			for i, namespace := range l.namespaces() {
				spec := spec
				spec.Name, spec.Namespace = namespace, namespace
				group.Go(func() error { return work(ctx, i, spec) })
			}
			return group.Wait()
		}))
	}
	onboard := func() {
		p, _, err := engine.OnboardPackage(l.Context(), vnfm.PackageSpec{Name: "bench", Source: l.workload.dir, Integrity: "enforce", Signature: "ignore"}, "")
		require.NoError(l, err)
		spec.PackageID = p.ID
	}
	onboard()
	step(stepApply, func(ctx context.Context, i int, spec vnfm.InstanceSpec) error {
		made, err := engine.Instantiate(ctx, spec)
		if err == nil {
			ids[i] = made.ID
		}
		return err
	})
	l.expectRolledOut()
	step(stepPlan, func(ctx context.Context, i int, spec vnfm.InstanceSpec) error {
		return l.expectInSync(ctx, engine, ids[i], spec)
	})
	l.workload.write(l.B, true)
	onboard()
	step(stepChange, func(ctx context.Context, i int, spec vnfm.InstanceSpec) error {
		_, err := engine.Update(ctx, ids[i], spec)
		return err
	})
	l.expectRolledOut()
	step(stepDestroy, func(ctx context.Context, i int, _ vnfm.InstanceSpec) error {
		return engine.Terminate(ctx, ids[i], vnfm.TerminateSpec{Type: vnfm.Graceful, Volumes: vnfm.VolumesDelete})
	})
}

// fleetSteps leads a fleet with terraform. change changes every instance.
func fleetSteps(l *life, m *module, change func()) {
	step := func(name string, args ...string) {
		l.Helper()
		l.keep(name, l.counted(m, append(args, "-no-color")...))
	}
	step(stepApply, "apply", "-auto-approve")
	if l.row.by == byTerraform {
		l.expectRolledOut()
	}
	step(stepPlan, "plan", "-detailed-exitcode")
	change()
	step(stepChange, "apply", "-auto-approve")
	if l.row.by == byTerraform {
		l.expectRolledOut()
	}
	step(stepDestroy, "destroy", "-auto-approve")
}

// terraformFleet leads a fleet with the built provider under terraform.
func terraformFleet(l *life) {
	m := l.tools.module(l.B)
	m.configure(acctest.VIM(l.B, l.lab, "bench"), fmt.Sprintf(`
resource "vnf_package" "test" {
  name   = "bench"
  source = %q
}

resource "vnf_instance" "test" {
  count           = %d
  name            = "bench"
  vim_id          = vnf_vim.test.id
  package_id      = vnf_package.test.id
  namespace       = format("%s-%%04d", count.index)
  deletion_policy = { volumes = "delete" }
}
`, l.workload.dir, l.row.instances, l.namespace[:len(l.namespace)-len("-0000")]))
	fleetSteps(l, m, func() { l.workload.write(l.B, true) })
}

// emptyFleet runs the same commands with a provider that does nothing.
func emptyFleet(l *life) {
	m := l.empty.module(l.B)
	configure := func(value string) {
		text := "terraform {\n  required_providers {\n    empty = { source = \"nfv-iac/empty\" }\n  }\n}\n"
		for _, kind := range []string{"vim", "package"} {
			text += fmt.Sprintf("resource \"empty_%s\" \"test\" {\n  value = %q\n}\n", kind, value)
		}
		text += fmt.Sprintf("resource \"empty_instance\" \"test\" {\n  count = %d\n  needs = \"${empty_vim.test.id} ${empty_package.test.id}\"\n  value = \"%s ${count.index}\"\n}\n",
			l.row.instances, value)
		acctest.Write(l.B, m.dir, "main.tf", text)
	}
	configure("first")
	fleetSteps(l, m, func() { configure("second") })
}

// writeGrowth prints what an instance costs in the large fleet and in the small one. Of Terraform only the provider counts: Terraform's
// own share grows with the number of resources with the empty provider, too.
func (r *report) writeGrowth(w io.Writer) {
	cpu := func(k row, of fleet) time.Duration {
		k.workload, k.n, k.instances = of.String(), of.instances*of.objects, of.instances
		var all []time.Duration
		for _, m := range r.measures[k] {
			if k.by != byEngine {
				m.cpu = m.provider
			}
			all = append(all, m.cpu)
		}
		if len(all) == 0 {
			return 0
		}
		slices.Sort(all)
		return median(all) / time.Duration(of.instances)
	}
	for _, by := range []string{byEmpty, byEngine, byTerraform} {
		for _, step := range []string{stepApply, stepPlan, stepChange, stepDestroy} {
			k := row{step: step, by: by}
			small, large := cpu(k, fleet{smallFleet, fleetGrowth}), cpu(k, fleet{largeFleet, fleetGrowth})
			if small > 0 && large > 0 {
				_, _ = fmt.Fprintf(w, "%s, %s: CPU of an instance %.1f ms among %d, %.1f ms among %d: %.2f, bar %.1f\n", by, step,
					1000*small.Seconds(), smallFleet, 1000*large.Seconds(), largeFleet, large.Seconds()/small.Seconds(), barGrowth)
			}
		}
	}
}
