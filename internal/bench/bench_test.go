//go:build linux

package bench

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// Environment variables that choose what is measured.
const (
	// envLives is how often each network function is led through its life, 3 by default.
	envLives = "BENCH_LIVES"
	// envSubjects is who leads it, of "loop,empty,engine,terraform".
	envSubjects = "BENCH_SUBJECTS"
	// envProvider is the provider's binary, to compare builds; bin/terraform-provider-vnf by default.
	envProvider = "BENCH_PROVIDER"
	// envAgent is how the user agent of that build begins, so that the requests of
	// others are not counted in a lab that is not the benchmark's own.
	envAgent = "BENCH_AGENT"
)

const (
	defaultLives    = 3
	defaultSubjects = "loop,empty,engine,terraform"
)

// lives reads envLives.
func lives(b *testing.B) int {
	b.Helper()
	text := os.Getenv(envLives)
	if text == "" {
		return defaultLives
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		b.Fatalf("%s is %q and must be a number from 1", envLives, text)
	}
	return n
}

// sizes are the numbers of objects that are measured.
var sizes = []struct {
	n       int
	allVDUs bool
}{{60, false}, {300, false}, {300, true}, {1000, false}, {3000, false}, {10000, false}}

// newStage prepares a lab and the programs under test.
func newStage(b *testing.B) *stage {
	b.Helper()
	s := &stage{lab: labtest.Kubernetes(b), report: newReport()}
	s.audit = newAudit(b, s.lab.AuditLog)
	observer, err := newDynamic(s.lab, observeAgent)
	require.NoError(b, err)
	s.observer = observer
	s.tools, s.empty = newTools(b), newEmptyTools(b)
	return s
}

// BenchmarkKubernetes measures everything that Kubernetes touches and prints one
// table. The subjects take turns, so that a noisy neighbour meets all of them.
func BenchmarkKubernetes(b *testing.B) {
	s := newStage(b)
	b.Run("fixed", func(b *testing.B) {
		for range b.N * lives(b) {
			s.fixedCosts(b)
		}
	})
	for _, size := range sizes {
		name := fmt.Sprintf("objects=%d", size.n)
		if size.allVDUs {
			name += ",vdus=all"
		}
		b.Run(name, func(b *testing.B) {
			w := newWorkload(b, size.n, size.allVDUs)
			b.Logf("%d objects, %d kB of manifests, %d Deployments, %d objects in the change set", w.n, w.size(b)/1000, len(w.deployments), w.changed)
			for range b.N * lives(b) {
				s.leadAll(b, w)
			}
		})
	}
	if len(s.report.rows) > 0 {
		_, _ = fmt.Fprintln(os.Stdout)
		s.report.write(os.Stdout)
	}
}

// subject is who leads lives.
type subject struct {
	name, by string
	work     func(*life)
}

// chosen are the subjects of envSubjects.
func chosen(all ...subject) []subject {
	names := os.Getenv(envSubjects)
	if names == "" {
		names = defaultSubjects
	}
	return slices.DeleteFunc(all, func(s subject) bool { return !slices.Contains(strings.Split(names, ","), s.name) })
}

// leadAll lets every subject lead one life.
func (s *stage) leadAll(b *testing.B, w *workload) {
	b.Helper()
	for _, subject := range chosen(
		subject{"loop", byLoop, loopLife},
		subject{"empty", byEmpty, emptyLife},
		subject{"engine", byEngine, engineLife},
		subject{"terraform", byTerraform, terraformLife},
	) {
		s.lead(b, w, subject.by, subject.work)
	}
}

// fixedCosts measures what is there without any object: Terraform alone, the
// start of the provider, and a VIM.
func (s *stage) fixedCosts(b *testing.B) {
	b.Helper()
	k := func(step string) row { return row{step: step, by: byTerraform} }
	empty := s.tools.module(b)
	empty.configure()
	plan := empty.run("plan", "-no-color")
	s.report.add(row{step: stepEmpty, by: "terraform alone"}, plan)
	without := empty.run("providers", "schema", "-json")

	m := s.tools.module(b)
	m.configure("# the provider alone")
	s.report.add(row{step: stepStart, by: "handshake"}, measure{wall: s.handshake(b)})
	s.audit.skip(b)
	schema := m.run("providers", "schema", "-json")
	schema.wall = max(0, schema.wall-without.wall)
	schema.calls = s.audit.take(b, providerAgent())
	s.report.add(k(stepStart), schema)

	m.configure(acctest.VIM(b, s.lab, "bench"))
	vim := m.run("apply", "-auto-approve", "-no-color")
	vim.calls = s.audit.take(b, providerAgent())
	s.report.add(k(stepVIM), vim)
	refresh := m.run("plan", "-detailed-exitcode", "-no-color")
	refresh.calls = s.audit.take(b, providerAgent())
	s.report.add(k(stepVIMPlan), refresh)
	m.run("destroy", "-auto-approve", "-no-color")
	s.audit.skip(b)
}

// handshake is the time from the start of the provider to the line by which it
// says where it listens.
func (s *stage) handshake(b *testing.B) time.Duration {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), s.tools.provider) //nolint:gosec // the program under test
	cmd.Env = append(os.Environ(),
		"TF_PLUGIN_MAGIC_COOKIE=d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
		"PLUGIN_PROTOCOL_VERSIONS=6")
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	begin := time.Now()
	require.NoError(b, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	took := time.Since(begin)
	if err != nil || strings.Count(line, "|") < 4 {
		b.Fatalf("the provider said %q: %v", line, err)
	}
	require.NoError(b, cmd.Process.Kill())
	_ = cmd.Wait() // Killed.
	return took
}
