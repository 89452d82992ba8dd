package bench

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// lookEvery is how often a witness looks.
const lookEvery = 50 * time.Millisecond

// cloudStep is one command of Terraform beside what the other side was busy with meanwhile.
type cloudStep struct {
	name        string
	wall, busy  time.Duration
	requests    int
	description string
}

// beside runs a step while a witness looks whether the other side is busy, and measures how long that was so.
func beside(b *testing.B, name string, busy func(ctx context.Context) (bool, error), run func()) cloudStep {
	b.Helper()
	ctx, stop := context.WithCancel(b.Context())
	seen := make(chan time.Duration, 1)
	go func() {
		var first, last time.Time
		for ticker := time.NewTicker(lookEvery); ctx.Err() == nil; {
			if is, err := busy(ctx); err == nil && is {
				if last = time.Now(); first.IsZero() {
					first = last
				}
			}
			select {
			case <-ctx.Done():
			case <-ticker.C:
			}
		}
		seen <- last.Sub(first)
	}()
	began := time.Now()
	run()
	step := cloudStep{name: name, wall: time.Since(began)}
	stop()
	step.busy = <-seen
	return step
}

// writeCloud prints the steps of a life: what is beyond is Terraform's and the provider's.
func writeCloud(w io.Writer, other string, steps []cloudStep) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintf(table, "\nstep\ts\t%s s\tbeyond s\trequests\t\n", other)
	for _, s := range steps {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t  %s\n", s.name, seconds(s.wall), seconds(s.busy), seconds(s.wall-s.busy), s.requests, s.description)
	}
	_ = table.Flush()
}

// countsByName is what a step has asked of whom.
func countsByName(counts map[string]int) (total int, text string) {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		total += counts[name]
		parts = append(parts, fmt.Sprintf("%s %d", name, counts[name]))
	}
	return total, strings.Join(parts, ", ")
}

// firewallConfig is a configuration of the example package firewall.
const firewallConfig = `
resource "vnf_vim" "test" {
  name = "cloud"
  openstack = {
    auth_url            = %q
    region              = %q
    username            = %q
    password            = %q
    project_name        = %q
    user_domain_name    = %q
    project_domain_name = %q
  }
}

resource "vnf_package" "test" {
  name   = "bench"
  source = %q
}

resource "vnf_instance" "test" {
  name       = "bench"
  vim_id     = vnf_vim.test.id
  package_id = vnf_package.test.id
  flavour_id = "simple"
  ext_virtual_links = {
    control = { resource_id = %q, ext_cps = { TG_CP1 = {} } }
    outside = { resource_id = %q, ext_cps = { FW_CP1 = {} } }
  }
  %s
}
`

// BenchmarkOpenStack leads the example package firewall through a life on OpenStack.
func BenchmarkOpenStack(b *testing.B) {
	env := labtest.OpenStackStacks(b)
	user, tools := env.NewProject(b), newTools(b)
	meter := env.Meter(b)
	auth := gophercloud.AuthOptions{
		IdentityEndpoint: env.AuthURL, Username: user.Name, Password: user.Password, DomainName: env.Domain, TenantName: user.Project,
	}
	cloud, err := openstack.AuthenticatedClient(b.Context(), auth)
	require.NoError(b, err)
	heat, err := openstack.NewOrchestrationV1(cloud, gophercloud.EndpointOpts{Region: env.Region})
	require.NoError(b, err)
	busy := func(ctx context.Context) (bool, error) {
		var found struct {
			Stacks []struct {
				Status string `json:"stack_status"`
			} `json:"stacks"`
		}
		_, err := heat.Get(ctx, heat.ServiceURL("stacks"), &found, nil) //nolint:bodyclose // it is read into found
		for _, s := range found.Stacks {
			if strings.HasSuffix(s.Status, "IN_PROGRESS") {
				return true, err
			}
		}
		return false, err
	}
	source, err := filepath.Abs(filepath.Join("..", "..", "examples", "packages", "firewall"))
	require.NoError(b, err)
	m := tools.module(b)
	configure := func(arguments string) {
		m.configure(fmt.Sprintf(firewallConfig, meter.AuthURL, env.Region, user.Name, user.Password, user.Project, env.Domain, env.Domain, source,
			env.Networks["net_mgmt"], env.Networks["net0"], arguments))
	}
	var steps []cloudStep
	step := func(name string, args ...string) {
		b.Helper()
		meter.Take()
		s := beside(b, name, busy, func() { m.run(args...) })
		s.requests, s.description = countsByName(meter.Take())
		steps = append(steps, s)
	}
	for b.Loop() {
		configure("")
		step(stepApply, "apply", "-auto-approve", "-no-color")
		step(stepPlan, "plan", "-detailed-exitcode", "-no-color")
		configure("scale_levels = { fw = 1 }")
		step(stepScale, "apply", "-auto-approve", "-no-color")
		configure("scale_levels = { fw = 1 }\nheal = { trigger = \"1\", vdu_ids = [\"FW\"] }")
		step(stepHeal, "apply", "-auto-approve", "-no-color")
		step(stepDestroy, "destroy", "-auto-approve", "-no-color")
	}
	writeCloud(os.Stdout, "Heat", steps)
}

// BenchmarkClusterAPI leads a workload cluster of the embedded chart in-memory through a life on Cluster API.
func BenchmarkClusterAPI(b *testing.B) {
	lab := labtest.ClusterAPI(b)
	namespace, tools := lab.ClusterNamespace(b), newTools(b)
	audit := newAudit(b, lab.AuditLog)
	observer, err := newDynamic(lab, observeAgent)
	require.NoError(b, err)
	clusters := observer.Resource(schema.GroupVersionResource{Group: "cluster.x-k8s.io", Version: "v1beta2", Resource: "clusters"}).Namespace(namespace)
	busy := func(ctx context.Context) (bool, error) {
		list, err := clusters.List(ctx, metav1.ListOptions{})
		return err == nil && slices.ContainsFunc(list.Items, func(c unstructured.Unstructured) bool { return !isSettled(&c) }), err
	}
	m := tools.module(b)
	configure := func(version string, workers int) {
		m.configure(acctest.VIM(b, lab, "bench"), fmt.Sprintf(`
resource "vnf_capi_workload_cluster" "test" {
  management_vim_id  = vnf_vim.test.id
  name               = "bench"
  namespace          = %q
  kubernetes_version = %q
  chart              = { name = "in-memory", values = [yamlencode({ provisioning = { startupDuration = "1s" } })] }
  control_plane      = { replicas = 1 }
  node_groups        = { a = { replicas = %d } }
}
`, namespace, version, workers))
	}
	var steps []cloudStep
	step := func(name string, args ...string) {
		b.Helper()
		audit.skip(b)
		s := beside(b, name, busy, func() { m.run(args...) })
		calls := audit.take(b, providerAgent())
		s.requests, s.description = calls.total, calls.String()
		steps = append(steps, s)
	}
	for b.Loop() {
		configure("1.34.0", 1)
		step(stepApply, "apply", "-auto-approve", "-no-color")
		step(stepPlan, "plan", "-detailed-exitcode", "-no-color")
		configure("1.34.0", 3)
		step(stepScale, "apply", "-auto-approve", "-no-color")
		configure("1.35.0", 3)
		step("upgrade", "apply", "-auto-approve", "-no-color")
		step(stepDestroy, "destroy", "-auto-approve", "-no-color")
	}
	writeCloud(os.Stdout, "Cluster API", steps)
}

// isSettled reports whether Cluster API has nothing to do with a cluster.
func isSettled(c *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(c.Object, "status", "conditions")
	is := func(kind, want string) bool {
		return slices.ContainsFunc(conditions, func(item any) bool {
			condition, _ := item.(map[string]any)
			return condition["type"] == kind && condition["status"] == want
		})
	}
	return c.GetDeletionTimestamp() == nil && is("Available", "True") && is("RollingOut", "False") && is("ScalingUp", "False") && is("ScalingDown", "False")
}
