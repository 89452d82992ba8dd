//go:build linux

package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/pgtest"
)

// storeObjects is the size of the network function whose records are measured.
const storeObjects = 300

// site is a store of one kind.
type site struct {
	kind string
	// argument is the argument store of the provider.
	argument string
	// namespace is that of the records in Kubernetes; empty for other stores.
	namespace string
	// reset begins to count statements, statements returns how many there were. Both are nil for stores without SQL servers.
	reset      func()
	statements func() int
	// records returns the bytes of the record of the instance, and of all records, as the store keeps them.
	records func() (instance, all int)
}

// storeRow is a step with one store, storeMeasure a run of it.
type (
	storeRow     struct{ step, kind string }
	storeMeasure struct {
		wall                         time.Duration
		requests, toStore, statement int
		// chain is how many requests waited for one another, behind a slow network.
		chain int
		calls calls
	}
)

// BenchmarkStores leads a network function through its life with each kind of store, and prints what each adds to the local one: time,
// requests to its API server, statements to its SQL server; and the size of the records.
func BenchmarkStores(b *testing.B) {
	s := &stage{lab: labtest.Kubernetes(b), report: newReport(), tools: newTools(b)}
	s.audit = newAudit(b, s.lab.AuditLog)
	observer, err := newDynamic(s.lab, observeAgent)
	require.NoError(b, err)
	s.observer = observer
	w := newWorkload(b, storeObjects, false)
	measures, sizes := map[storeRow][]storeMeasure{}, map[string][2]int{}
	for range b.N * lives(b) {
		for _, open := range []func(*testing.B, *stage) *site{localSite, postgresSite, kubernetesSite} {
			at := open(b, s)
			s.lead(b, w, byTerraform, func(l *life) {
				sizes[at.kind] = storeLife(l, at, func(step string, m storeMeasure) {
					k := storeRow{step, at.kind}
					measures[k] = append(measures[k], m)
				})
			})
		}
	}
	writeStores(os.Stdout, measures, sizes)
}

// storeLife leads a life with a store. It returns the bytes of the record of the instance and of all records, as they are after the
// change.
func storeLife(l *life, at *site, keep func(string, storeMeasure)) [2]int {
	m := l.tools.module(l.B)
	step := func(name string, args ...string) {
		l.Helper()
		if at.reset != nil {
			at.reset()
		}
		out := l.counted(m, append(args, "-no-color")...)
		kept := storeMeasure{wall: out.wall, requests: out.calls.total, toStore: out.calls.in[at.namespace], chain: out.chain, calls: out.calls}
		if at.namespace == "" {
			kept.toStore = 0
		}
		if at.statements != nil {
			kept.statement = at.statements()
		}
		keep(name, kept)
	}
	acctest.Write(l.B, m.dir, "main.tf", fmt.Sprintf(`
terraform {
  required_providers {
    vnf = { source = "nfv-iac/vnf" }
  }
}

provider "vnf" {
  store      = { %s }
  encryption = { key_file = %q }
}
%s
resource "vnf_package" "test" {
  name   = "bench"
  source = %q
}

resource "vnf_instance" "test" {
  name            = "bench"
  vim_id          = vnf_vim.test.id
  package_id      = vnf_package.test.id
  namespace       = %q
  deletion_policy = { volumes = "delete" }
}
`, at.argument, m.store.KeyFile, acctest.VIM(l.B, l.lab, "bench"), l.workload.dir, l.namespace))
	step(stepApply, "apply", "-auto-approve")
	step(stepPlan, "plan", "-detailed-exitcode")
	// The first one after a creation notes in the records that the user knows of them.
	step(stepPlanAgain, "plan", "-detailed-exitcode")
	l.workload.write(l.B, true)
	step(stepChangePlan, "plan", "-out=change.tfplan")
	step(stepChangeApply, "apply", "change.tfplan")
	instance, all := at.records()
	step(stepDestroy, "destroy", "-auto-approve")
	return [2]int{instance, all}
}

func localSite(b *testing.B, _ *stage) *site {
	files := acctest.NewStore(b)
	return &site{kind: localStore, argument: fmt.Sprintf("local = { path = %q }", files.Path), records: func() (instance, all int) {
		found, err := files.Records(b).List(b.Context(), store.Query{})
		require.NoError(b, err)
		for _, r := range found {
			all += len(r.Data) + len(r.Sealed)
			if r.Kind == store.KindInstance {
				instance += len(r.Data) + len(r.Sealed)
			}
		}
		return instance, all
	}}
}

func postgresSite(b *testing.B, _ *stage) *site {
	at, _ := postgresOf(b)
	return at
}

// postgresOf is a PostgreSQL of this machine, and its server.
func postgresOf(b *testing.B) (*site, *pgtest.Server) {
	b.Helper()
	server := pgtest.Start(b, "shared_preload_libraries=pg_stat_statements")
	conn, err := pgx.Connect(b.Context(), server.ConnStr("postgres"))
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, conn.Close(b.Context())) })
	numbers := func(query string, into ...any) {
		b.Helper()
		require.NoError(b, conn.QueryRow(b.Context(), query).Scan(into...))
	}
	server.Exec(b, "postgres", "CREATE EXTENSION pg_stat_statements")
	return &site{
		kind: "postgres", argument: fmt.Sprintf("postgres = { conn_str = %q }", server.ConnStr("postgres")),
		reset: func() { server.Exec(b, "postgres", "SELECT pg_stat_statements_reset()") },
		statements: func() (n int) {
			numbers("SELECT coalesce(sum(calls), 0)::int FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'", &n)
			return n
		},
		records: func() (instance, all int) {
			numbers(`SELECT coalesce(sum(octet_length(data) + octet_length(sealed)) FILTER (WHERE kind = '`+string(store.KindInstance)+`'), 0)::int,
				coalesce(sum(octet_length(data) + octet_length(sealed)), 0)::int FROM vnf.records`, &instance, &all)
			return instance, all
		},
	}, server
}

func kubernetesSite(b *testing.B, s *stage) *site {
	namespace := s.lab.Namespace(b)
	return &site{
		kind: "kubernetes", namespace: namespace,
		argument: fmt.Sprintf("kubernetes = { namespace = %q, endpoint = %q, ca_certificate = file(%q), bearer_token = %q }",
			namespace, s.lab.Endpoint, s.lab.CAFile, s.lab.AdminToken),
		records: func() (instance, all int) {
			list, err := s.observer.Resource(resources["Secret"]).Namespace(namespace).List(b.Context(), metav1.ListOptions{LabelSelector: "store.vnf.nfv-iac.github.io/object=record"})
			require.NoError(b, err)
			for i := range list.Items {
				var secret corev1.Secret
				require.NoError(b, runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[i].Object, &secret))
				text, err := json.Marshal(&secret)
				require.NoError(b, err)
				all += len(text)
				if secret.Labels["store.vnf.nfv-iac.github.io/kind"] == string(store.KindInstance) {
					instance += len(text)
				}
			}
			return instance, all
		},
	}
}

// localStore is the store that others are compared with.
const localStore = "local"

// stepPlanAgain is a plan without a change that follows another one.
const stepPlanAgain = "- another one"

var (
	storeKinds = []string{localStore, "postgres", "kubernetes"}
	storeSteps = []string{stepApply, stepPlan, stepPlanAgain, stepChangePlan, stepChangeApply, stepDestroy}
)

// medianWall is the median of the times of a step.
func medianWall(all []storeMeasure) time.Duration {
	walls := make([]time.Duration, 0, len(all))
	for _, m := range all {
		walls = append(walls, m.wall)
	}
	slices.Sort(walls)
	if len(walls) == 0 {
		return 0
	}
	return median(walls)
}

// writeStores prints a line for each step and store.
func writeStores(w io.Writer, measures map[storeRow][]storeMeasure, sizes map[string][2]int) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprint(t, "\nstep\tstore\tk\tmedian s\tmin\tmax\tadds s\trequests\tto store\tstatements\t\n")
	for _, step := range storeSteps {
		var floor time.Duration
		for _, kind := range storeKinds {
			all := measures[storeRow{step, kind}]
			if len(all) == 0 {
				continue
			}
			walls := make([]time.Duration, 0, len(all))
			for _, m := range all {
				walls = append(walls, m.wall)
			}
			slices.Sort(walls)
			middle, last := median(walls), all[len(all)-1]
			if kind == localStore {
				floor = middle
			}
			_, _ = fmt.Fprintf(t, "%s\t%s\t%d\t%.2f\t%.2f\t%.2f\t%+.2f\t%d\t%d\t%d\t\n", step, kind, len(all), middle.Seconds(),
				walls[0].Seconds(), walls[len(walls)-1].Seconds(), (middle - floor).Seconds(), last.requests, last.toStore, last.statement)
		}
	}
	_ = t.Flush()
	for _, kind := range storeKinds {
		if size, ok := sizes[kind]; ok {
			_, _ = fmt.Fprintf(w, "%s: %d bytes for the record of an instance of %d objects, %d for all records\n", kind, size[0], storeObjects, size[1])
		}
	}
	for _, step := range storeSteps {
		for _, kind := range []string{localStore, "kubernetes"} {
			if all := measures[storeRow{step, kind}]; len(all) > 0 {
				_, _ = fmt.Fprintf(w, "%s, %s: %s\n", step, kind, all[len(all)-1].calls)
			}
		}
	}
	_, _ = fmt.Fprintf(w, "Requests are to the one API server of VIM and store. Load average of the machine at the end: %s\n", loadAverage())
}
