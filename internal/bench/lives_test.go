//go:build linux

package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/chaintest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const engineAgent = "bench-engine"

// providerAgent is the user agent of the provider under test, or how it begins.
func providerAgent() string {
	if agent := os.Getenv(envAgent); agent != "" {
		return agent
	}
	return "terraform-provider-vnf/"
}

// stage is where lives are led: a lab with nobody else in it.
type stage struct {
	lab      labtest.Env
	observer dynamic.Interface
	audit    *audit
	tools    tools
	// empty are those of the provider that does nothing.
	empty  tools
	report *report
	// slow is the network between the subjects and the API server; nil for this machine's own.
	slow *chaintest.Chain
}

// life is one network function from its first apply to its end.
type life struct {
	*testing.B
	*stage
	workload  *workload
	row       row
	namespace string
	// others are the namespaces of a fleet besides.
	others []string
}

// namespaces are those in which the life is led.
func (l *life) namespaces() []string { return append([]string{l.namespace}, l.others...) }

// objects are those of a kind in the namespaces of the life.
func (l *life) objects(kind string) []unstructured.Unstructured {
	l.Helper()
	mine := map[string]bool{}
	for _, namespace := range l.namespaces() {
		mine[namespace] = true
	}
	list, err := (&loop{client: l.observer, namespaces: l.namespaces()}).in(kind).List(l.Context(), metav1.ListOptions{})
	require.NoError(l, err)
	return slices.DeleteFunc(list.Items, func(obj unstructured.Unstructured) bool { return !mine[obj.GetNamespace()] })
}

// lead leads one life in a namespace of its own.
func (s *stage) lead(b *testing.B, w *workload, by string, work func(l *life)) {
	b.Helper()
	w.write(b, false)
	name := fmt.Sprint(w.n)
	if w.allVDUs {
		name += ", all VDUs"
	}
	s.report.changed[name] = w.changed
	l := &life{B: b, stage: s, workload: w, row: row{workload: name, n: w.n, by: by}, namespace: s.lab.Namespace(b)}
	s.lab.Kubectl(b, "-n", l.namespace, "wait", "--for=create", "--timeout=300s", "serviceaccount/default", "configmap/kube-root-ca.crt")
	work(l)
	l.expectNothing()
	s.lab.Kubectl(b, "delete", "namespace", l.namespace, "--timeout=300s")
}

// inProcess measures a step that this process does itself.
func (l *life) inProcess(step, userAgent string, work func(ctx context.Context) error) measure {
	l.Helper()
	l.audit.skip(l.B)
	l.slow.Take()
	debug.FreeOSMemory()
	resetPeak()
	cpu, begin := selfCPU(), time.Now()
	if err := work(l.Context()); err != nil {
		l.Fatalf("%s, %s of %s objects: %v", l.row.by, step, l.row.workload, err)
	}
	m := measure{wall: time.Since(begin), cpu: selfCPU() - cpu, peak: residentOf("self").all, chain: l.slow.Take()}
	m.calls = l.audit.take(l.B, userAgent)
	return m
}

// keep adds a measure to the report.
func (l *life) keep(step string, m measure) {
	k := l.row
	k.step = step
	l.report.add(k, m)
}

// expectRolledOut fails when a Deployment is not as it should be: a client that
// does not wait must not win.
func (l *life) expectRolledOut() {
	l.Helper()
	ready, want := 0, len(l.workload.deployments)*len(l.namespaces())
	for _, obj := range l.objects("Deployment") {
		if isRolledOut(&obj) {
			ready++
		}
	}
	if ready != want {
		l.Fatalf("%s: %d of %d Deployments are rolled out", l.row.by, ready, want)
	}
}

// expectNothing fails when something of the network function is still there. What
// the loop deleted in the background gets a moment.
func (l *life) expectNothing() {
	l.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		var left []string
		for _, share := range shares {
			for _, obj := range l.objects(share.kind) {
				if strings.HasPrefix(obj.GetName(), strings.ToLower(share.kind)+"-") {
					left = append(left, share.kind+"/"+placeOf(&obj))
				}
			}
		}
		if len(left) == 0 {
			return
		}
		if (l.row.by != byLoop && l.row.by != byHelm) || time.Now().After(deadline) {
			l.Fatalf("%s left %v", l.row.by, left)
		}
		wait(l.B, 200*time.Millisecond)
	}
}

// watchScale tells, after the scale, how long ago the scaled VDU was ready.
func (l *life) watchScale(replicas int64) func(noticed time.Time) time.Duration {
	ctx, cancel := context.WithTimeout(l.Context(), 5*time.Minute)
	ready := make(chan time.Time, 1)
	go func() {
		defer cancel()
		at, err := readyAt(ctx, l.observer, l.namespace, scaledVDU, replicas)
		if err == nil {
			ready <- at
		}
		close(ready)
	}()
	return func(noticed time.Time) time.Duration {
		l.Helper()
		at, ok := <-ready
		if !ok {
			l.Fatal("nobody saw that the scaled VDU was ready")
		}
		return noticed.Sub(at)
	}
}

// drift changes one field behind the client's back, and restores it with false.
func (l *life) drift(change bool) {
	l.Helper()
	value := "first line of a configuration file of the usual length"
	if change {
		value = "drifted"
	}
	patch := fmt.Appendf(nil, `{"data":{"key00":%q}}`, value)
	_, err := l.observer.Resource(resources["ConfigMap"]).Namespace(l.namespace).Patch(l.Context(), driftedObject, types.MergePatchType, patch, metav1.PatchOptions{})
	require.NoError(l, err)
}

// driftedObject is a ConfigMap that is not in the change set.
const driftedObject = "configmap-0001"

// loopLife leads the life with the bare loop.
func loopLife(l *life) {
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
	step(stepDrift, func(ctx context.Context) error { return bare.check(ctx, dir) })
	step(stepRepair, func(ctx context.Context) error { return bare.repair(ctx, dir, driftedObject) })
	l.workload.write(l.B, true)
	step(stepChange, func(ctx context.Context) error { return bare.apply(ctx, dir) })
	l.expectRolledOut()
	lag := l.watchScale(2)
	var noticed time.Time
	m := l.inProcess(stepScale, loopAgent, func(ctx context.Context) error {
		err := bare.scale(ctx, scaledVDU, 2)
		noticed = time.Now()
		return err
	})
	m.lag = new(time.Duration)
	*m.lag = lag(noticed)
	l.keep(stepScale, m)
	step(stepHeal, func(ctx context.Context) error { return bare.restart(ctx, scaledVDU) })
	step(stepDestroy, func(ctx context.Context) error { return bare.remove(ctx, dir) })
}

// engineLife leads the life with the VNF manager in this process, without Terraform.
func engineLife(l *life) {
	engine := l.newEngine()
	spec := vnfm.InstanceSpec{
		Name: "bench", VIMID: l.registerVIM(engine), Namespace: l.namespace,
		OperationalState: vnfm.Started, OnFailure: vnfm.OnFailureResume,
	}
	step := func(name string, work func(ctx context.Context) error) {
		l.keep(name, l.inProcess(name, engineAgent, work))
	}
	onboard := func(ctx context.Context) error {
		p, _, err := engine.OnboardPackage(ctx, vnfm.PackageSpec{Name: "bench", Source: l.workload.dir, Integrity: "enforce", Signature: "ignore"}, "")
		if err == nil {
			spec.PackageID = p.ID
		}
		return err
	}
	var id string
	step(stepOnboard, onboard)
	step(stepApply, func(ctx context.Context) error {
		i, err := engine.Instantiate(ctx, spec)
		if err == nil {
			id = i.ID
		}
		return err
	})
	l.expectRolledOut()
	step(stepPlan, func(ctx context.Context) error { return l.expectInSync(ctx, engine, id, spec) })
	update := func(ctx context.Context) error {
		_, err := engine.Update(ctx, id, spec)
		return err
	}
	l.drift(true)
	step(stepDrift, func(ctx context.Context) error {
		if l.expectInSync(ctx, engine, id, spec) == nil {
			return errors.New("the drift is not seen")
		}
		return nil
	})
	step(stepRepair, update)
	l.workload.write(l.B, true)
	require.NoError(l, onboard(l.Context()))
	step(stepChange, update)
	l.expectRolledOut()
	spec.ScaleLevels = map[string]int{aspect: 1}
	lag := l.watchScale(2)
	m := l.inProcess(stepScale, engineAgent, update)
	m.lag = new(time.Duration)
	*m.lag = lag(l.lastOperation(engine, id))
	l.keep(stepScale, m)
	spec.Heal = &vnfm.HealSpec{Trigger: "1", VDUIDs: []string{scaledVDU}}
	step(stepHeal, update)
	step(stepDestroy, func(ctx context.Context) error {
		return engine.Terminate(ctx, id, vnfm.TerminateSpec{Type: vnfm.Graceful, Volumes: vnfm.VolumesDelete})
	})
}

// newEngine returns a VNF manager with a store of its own, until the end of the benchmark.
func (l *life) newEngine() *lcm.Engine {
	l.Helper()
	files := acctest.NewStore(l.B)
	keys, err := seal.New(seal.Source{KeyFile: files.KeyFile})
	require.NoError(l, err)
	engine := lcm.New(lcm.Config{
		OpenStore: func(ctx context.Context) (store.Store, error) { return sqlite.Open(ctx, files.Path, "test") },
		Keyring:   keys,
		Drivers:   map[vnfm.VIMType]vnfm.InfraDriver{vnfm.VIMTypeKubernetes: kubernetes.New(kube.NewPool(engineAgent))},
	})
	l.Cleanup(func() { require.NoError(l, engine.Close()) })
	return engine
}

func (l *life) registerVIM(engine *lcm.Engine) string {
	l.Helper()
	vim, _, err := engine.RegisterVIM(l.Context(), "", vnfm.VIMSpec{
		Name: "bench", Type: vnfm.VIMTypeKubernetes,
		Kubernetes:  &vnfm.KubernetesConnection{Endpoint: l.lab.Endpoint, CACertificate: l.lab.ReadFile(l.B, l.lab.CAFile)},
		Credentials: vnfm.Credentials{vnfm.CredentialBearerToken: vnfm.Secret(l.lab.AdminToken)},
	})
	require.NoError(l, err)
	return vim.ID
}

// expectInSync previews and observes an instance, as a plan does, and compares. Digests of secrets have the key of the instance.
func (l *life) expectInSync(ctx context.Context, engine *lcm.Engine, id string, spec vnfm.InstanceSpec) error {
	want, problems, err := engine.PreviewInstance(ctx, id, spec)
	if err != nil {
		return err
	}
	if err := problems.Err(); err != nil {
		return err
	}
	seen, err := engine.Observe(ctx, id)
	if err != nil {
		return err
	}
	for key, digest := range want.Objects {
		if seen.Objects[key] != digest {
			return fmt.Errorf("%s: want %s, the VIM shows %q", key, digest, seen.Objects[key])
		}
	}
	return nil
}

// lastOperation returns when the last operation of an instance completed.
func (l *life) lastOperation(m vnfm.Manager, id string) time.Time {
	l.Helper()
	ops, err := m.Operations(l.Context(), id)
	if err != nil || len(ops) == 0 {
		l.Fatalf("operations of the instance: %v, %v", ops, err)
	}
	last := ops[len(ops)-1]
	if last.State != vnfm.StateCompleted {
		l.Fatalf("the operation %s is %s: %s", last.Type, last.State, last.Error)
	}
	return last.StateEnteredAt
}

// tools are the programs under test and how they are called.
type tools struct {
	terraform string
	// provider is a copy of the built provider that no later build replaces.
	provider string
	// config is a CLI configuration that takes the provider from there.
	config string
}

func newTools(b *testing.B) tools {
	b.Helper()
	acctest.PreCheck(b)
	// That of the machine's owner is for builds.
	b.Setenv("GOGC", "")
	debug.SetGCPercent(100)
	t := tools{terraform: os.Getenv("TF_ACC_TERRAFORM_PATH")}
	if t.terraform == "" {
		path, err := exec.LookPath("terraform")
		require.NoError(b, err)
		t.terraform = path
	}
	built := os.Getenv(envProvider)
	if built == "" {
		root := filepath.Dir(filepath.Dir(filepath.Dir(acctest.ExamplePackage(b, "hello"))))
		built = filepath.Join(root, "bin", "terraform-provider-vnf")
	}
	dir := b.TempDir()
	t.provider, t.config = filepath.Join(dir, "terraform-provider-vnf"), filepath.Join(dir, "terraform.rc")
	if err := install(built, t.provider); err != nil {
		b.Skipf("%v: run make build", err)
	}
	text := fmt.Sprintf("disable_checkpoint = true\nprovider_installation {\n  dev_overrides {\n    \"nfv-iac/vnf\" = %q\n  }\n}\n", dir)
	require.NoError(b, os.WriteFile(t.config, []byte(text), 0o600))
	return t
}

// install copies a program as Terraform does when it unpacks an archive: in pieces of 32 KiB. Linux keeps a file that is written in one
// piece in large pages and maps them as a whole, so that the same program seems to need 30 MiB more memory.
func install(from, to string) error {
	source, err := os.Open(from) //nolint:gosec // the program under test
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o700) //nolint:gosec // a program
	if err != nil {
		return err
	}
	// Without the wrappers the kernel would copy the file itself, in one piece.
	_, err = io.CopyBuffer(struct{ io.Writer }{target}, struct{ io.Reader }{source}, make([]byte, 32<<10))
	return errors.Join(err, target.Close())
}

// newEmptyTools builds the provider that does nothing.
func newEmptyTools(b *testing.B) tools {
	b.Helper()
	t, dir := newTools(b), b.TempDir()
	t.provider, t.config = filepath.Join(dir, "terraform-provider-empty"), filepath.Join(dir, "terraform.rc")
	out, err := exec.CommandContext(b.Context(), "go", "build", "-ldflags=-s -w", "-o", t.provider, "./empty").CombinedOutput()
	require.NoErrorf(b, err, "%s", out)
	text := fmt.Sprintf("disable_checkpoint = true\nprovider_installation {\n  dev_overrides {\n    \"nfv-iac/empty\" = %q\n  }\n}\n", dir)
	require.NoError(b, os.WriteFile(t.config, []byte(text), 0o600))
	return t
}

// module is a root module in a folder of its own.
type module struct {
	*testing.B
	tools tools
	dir   string
	store acctest.Store
}

func (t tools) module(b *testing.B) *module {
	return &module{B: b, tools: t, dir: b.TempDir(), store: acctest.NewStore(b)}
}

// configure writes the configuration: nothing, or the provider and the parts.
func (m *module) configure(parts ...string) {
	m.Helper()
	text := ""
	if len(parts) > 0 {
		text = "terraform {\n  required_providers {\n    vnf = { source = \"nfv-iac/vnf\" }\n  }\n}\n" + m.store.Config(parts...)
	}
	acctest.Write(m.B, m.dir, "main.tf", text)
}

// run runs terraform and measures it. Counting requests is the caller's.
func (m *module) run(args ...string) measure {
	m.Helper()
	cmd := exec.CommandContext(m.Context(), m.tools.terraform, args...) //nolint:gosec // the program under test
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+m.tools.config, "TF_IN_AUTOMATION=1", "TF_INPUT=0", "CHECKPOINT_DISABLE=1", "TF_LOG=")
	u, err := runMeasured(m.Context(), cmd)
	require.NoError(m, err)
	out := measure{wall: u.wall, cpu: u.cpu, peak: u.peak, private: u.private, started: u.started}
	if u.started > 0 {
		out.provider = max(0, u.cpu-u.own)
	}
	if info, err := os.Stat(filepath.Join(m.dir, "terraform.tfstate")); err == nil {
		out.state = info.Size()
	}
	return out
}

// counted runs terraform, measures it and counts requests.
func (l *life) counted(m *module, args ...string) measure {
	l.Helper()
	l.audit.skip(l.B)
	l.slow.Take()
	out := m.run(args...)
	out.chain = l.slow.Take()
	out.calls = l.audit.take(l.B, providerAgent())
	return out
}

// terraformLife leads the life with the built provider under terraform.
func terraformLife(l *life) {
	m := l.tools.module(l.B)
	run := func(args ...string) measure {
		l.Helper()
		return l.counted(m, args...)
	}
	step := func(name string, args ...string) {
		l.Helper()
		l.keep(name, run(args...))
	}
	configure := func(arguments string) {
		m.configure(acctest.VIM(l.B, l.lab, "bench"), fmt.Sprintf(`
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
  %s
}
`, l.workload.dir, l.namespace, arguments))
	}
	configure("")
	step(stepValidate, "validate")
	step(stepApply, "apply", "-auto-approve", "-no-color")
	l.expectRolledOut()
	step(stepPlan, "plan", "-detailed-exitcode", "-no-color")
	l.drift(true)
	step(stepDrift, "plan", "-no-color")
	step(stepRepair, "apply", "-auto-approve", "-no-color")
	l.workload.write(l.B, true)
	// The plan tries each changed object on the API server, the apply does not do so again.
	planned := run("plan", "-out=change.tfplan", "-no-color")
	applied := run("apply", "-no-color", "change.tfplan")
	l.keep(stepChangePlan, planned)
	l.keep(stepChangeApply, applied)
	l.keep(stepChange, planned.and(applied))
	l.expectRolledOut()
	configure(fmt.Sprintf("scale_levels = { %s = 1 }", aspect))
	lag := l.watchScale(2)
	scaled := run("apply", "-auto-approve", "-no-color")
	manager := m.store.Manager(l.B)
	instances, err := manager.Instances(l.Context(), vnfm.InstanceFilter{})
	if err != nil || len(instances) != 1 {
		l.Fatalf("instances in the store: %v, %v", instances, err)
	}
	scaled.lag = new(time.Duration)
	*scaled.lag = lag(l.lastOperation(manager, instances[0].ID))
	l.keep(stepScale, scaled)
	configure(fmt.Sprintf("scale_levels = { %s = 1 }\nheal = { trigger = \"1\", vdu_ids = [%q] }", aspect, scaledVDU))
	step(stepHeal, "apply", "-auto-approve", "-no-color")
	step(stepDestroy, "destroy", "-auto-approve", "-no-color")
}

// emptyLife leads no life: it runs the same commands with a provider that does nothing.
func emptyLife(l *life) {
	m := l.empty.module(l.B)
	step := func(name string, args ...string) measure {
		l.Helper()
		out := m.run(args...)
		l.keep(name, out)
		return out
	}
	configure := func(value string) {
		text := "terraform {\n  required_providers {\n    empty = { source = \"nfv-iac/empty\" }\n  }\n}\n"
		for _, r := range []struct{ kind, needs string }{{"vim", "null"}, {"package", "null"}, {"instance", "\"${empty_vim.test.id} ${empty_package.test.id}\""}} {
			text += fmt.Sprintf("resource \"empty_%s\" \"test\" {\n  needs = %s\n  value = %q\n}\n", r.kind, r.needs, value)
		}
		acctest.Write(l.B, m.dir, "main.tf", text)
	}
	apply := []string{"apply", "-auto-approve", "-no-color"}
	configure("first")
	step(stepValidate, "validate")
	step(stepApply, apply...)
	step(stepPlan, "plan", "-detailed-exitcode", "-no-color")
	configure("drifted")
	step(stepDrift, "plan", "-no-color")
	step(stepRepair, apply...)
	configure("second")
	planned, applied := step(stepChangePlan, "plan", "-out=change.tfplan", "-no-color"), step(stepChangeApply, "apply", "-no-color", "change.tfplan")
	l.keep(stepChange, planned.and(applied))
	configure("third")
	step(stepScale, apply...)
	configure("fourth")
	step(stepHeal, apply...)
	step(stepDestroy, "destroy", "-auto-approve", "-no-color")
}
