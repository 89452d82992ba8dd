// Package labtest gives tests a running lab: a real Kubernetes control plane whose
// pods are simulated. A test that needs it is skipped where the lab cannot run,
// and fails there when LAB_REQUIRE is "all".
package labtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// EnvDir is the environment variable that names the directory of a lab to be used
// instead of the one that tests share.
const EnvDir = "VNF_LAB_DIR"

// envRequire is the environment variable that turns skips into failures.
const envRequire = "LAB_REQUIRE"

// envOnly is the environment variable that leaves out the tests of FullRun when it is
// "kubernetes".
const envOnly = "LAB_ONLY"

// startTimeout bounds the start of a lab, and is longer than a lab needs on a busy
// machine.
const startTimeout = 4 * time.Minute

// Env is a lab that runs. The JSON keys are those of `lab env --format json`.
type Env struct {
	Dir string `json:"dir"`
	// Endpoint is the API server, with a certificate of CAFile.
	Endpoint string `json:"endpoint"`
	CAFile   string `json:"ca_file"`
	// Kubeconfig, AdminToken and the client certificate have all rights.
	Kubeconfig            string `json:"kubeconfig"`
	AdminToken            string `json:"admin_token"`
	ClientCertificateFile string `json:"client_certificate_file"`
	ClientKeyFile         string `json:"client_key_file"`
	// LimitedToken has rights on ConfigMaps and Secrets of LimitedNamespace alone.
	LimitedToken     string `json:"limited_token"`
	LimitedNamespace string `json:"limited_namespace"`
	// Basic is a proxy that asks for user name and password.
	Basic Basic `json:"basic"`
	// FaultProxy is a proxy whose connections Fault breaks; tests ask FaultyEndpoint.
	FaultProxy struct {
		Endpoint string `json:"endpoint"`
	} `json:"fault"`
	// AuditLog holds one JSON event for each request, empty without an audit log.
	AuditLog          string `json:"audit_log"`
	KubernetesVersion string `json:"kubernetes_version"`
	// Management is empty in a lab without Cluster API.
	Management Management `json:"cluster_api"`
	// PIDs are the processes of the lab.
	PIDs map[string]int `json:"pids"`

	binary string
}

// Basic is the access by user name and password.
type Basic struct {
	Endpoint string `json:"endpoint"`
	Username string `json:"username"`
	Password string `json:"password"`
	CAFile   string `json:"ca_file"`
}

// Management is what a lab has as a management cluster of Cluster API.
type Management struct {
	Version string `json:"version"`
	// OlderEndpoint is the same API server with Cluster API's kinds in v1beta1 alone,
	// for bearer tokens.
	OlderEndpoint string `json:"older_endpoint"`
	// ClusterClass is the manifest of class `in-memory`, see Env.ClusterClass.
	ClusterClass string `json:"cluster_class"`
}

// Kubernetes returns a running lab: the one that VNF_LAB_DIR names, else the one
// in .lab of the repository, that of make lab-up, which is started when it does not
// run and stays for the next tests. Without bin/lab, or when the lab does not start, the test is
// skipped.
func Kubernetes(t testing.TB) Env {
	t.Helper()
	NotShort(t, "a lab")
	env, err := find()
	if err != nil {
		Missing(t, fmt.Sprintf("lab: %v, run make lab-up", err))
	}
	return env
}

// Second returns another running lab, with an API server, etcd, controllers and
// nodes of its own: the first test that needs it starts it, inside the directory of the
// lab of Kubernetes, and `lab down` of that one stops both.
func Second(t testing.TB) Env {
	t.Helper()
	Kubernetes(t)
	env, err := findSecond()
	if err != nil {
		Missing(t, fmt.Sprintf("second lab: %v", err))
	}
	return env
}

// NotShort skips a test that needs something which the short tests, those of `go test
// -short`, do without: a lab, Terraform, root or another machine's program. That is what
// was asked for, so that LAB_REQUIRE does not make it a failure.
func NotShort(t testing.TB, needs string) {
	t.Helper()
	if testing.Short() {
		t.Skip("short: the test needs " + needs)
	}
}

// FullRun skips the test in `make test`, which sets LAB_ONLY to "kubernetes"; `make test-all` runs it. Such a test needs more
// than Terraform and a lab of Kubernetes, or covers failures, interruptions or other writers. scripts/test groups these tests by the
// reason: "Cluster API", "OpenStack", "real nodes", and everything else.
func FullRun(t testing.TB, why string) {
	t.Helper()
	if os.Getenv(envOnly) == "kubernetes" {
		t.Skip("make test-all runs it: " + why)
	}
}

// Missing skips a test because of a part that is not there, or fails it when
// LAB_REQUIRE is "all", unless only the short tests are run.
func Missing(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv(envRequire) == "all" && !testing.Short() {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

// Eventually tries each second until there is no error, for as long as limit.
func Eventually(t testing.TB, limit time.Duration, what string, try func() error) {
	t.Helper()
	for deadline := time.Now().Add(limit); ; <-time.After(time.Second) {
		err := try()
		if err == nil {
			return
		}
		require.False(t, time.Now().After(deadline), "waiting for %s: %v", what, err)
	}
}

// find starts a lab once in a process.
var find = sync.OnceValues(func() (Env, error) {
	return withLab(startTimeout, func(ctx context.Context, binary string) (Env, error) {
		if dir := os.Getenv(EnvDir); dir != "" {
			return read(ctx, binary, dir)
		}
		return start(ctx, binary, filepath.Join(filepath.Dir(binary), "..", ".lab"), binary+".lock")
	})
})

// withLab calls with the lab's program, for as long as a start may take.
func withLab[E any](limit time.Duration, do func(ctx context.Context, binary string) (E, error)) (none E, err error) {
	root, err := repository()
	if err != nil {
		return none, err
	}
	binary := filepath.Join(root, "bin", "lab")
	if _, err := os.Stat(binary); errors.Is(err, fs.ErrNotExist) {
		return none, errors.New("bin/lab is not built")
	} else if err != nil {
		return none, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return do(ctx, binary)
}

// findSecond starts the second lab once in a process.
var findSecond = sync.OnceValues(func() (Env, error) {
	first, err := find()
	if err != nil {
		return Env{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	dir := filepath.Join(first.Dir, "second")
	return start(ctx, first.binary, dir, dir+".lock")
})

// start starts the lab of a directory, or finds it running. Tests of several
// processes may ask at the same moment, and `lab up` has no lock yet while it makes
// the directory.
func start(ctx context.Context, binary, dir, lock string) (Env, error) {
	if err := up(ctx, binary, dir, lock, "up"); err != nil {
		return Env{}, err
	}
	return read(ctx, binary, dir)
}

// up has the lab's program start the lab of a directory.
func up(ctx context.Context, binary, dir, lock string, command ...string) error {
	unlock, err := lockFile(ctx, lock)
	if err != nil {
		return fmt.Errorf("waiting for another test to start the lab in %s: %w", dir, err)
	}
	defer unlock()
	_, err = run(ctx, binary, append(command, "--dir", dir)...)
	return err
}

// read asks a lab that runs for its environment.
func read(ctx context.Context, binary, dir string) (Env, error) {
	env := Env{binary: binary}
	err := readInto(ctx, binary, dir, &env, "env")
	env.Dir = dir
	return env, err
}

// readInto decodes what a command of the lab's program says of the environment of a lab.
func readInto(ctx context.Context, binary, dir string, env any, command ...string) error {
	out, err := run(ctx, binary, append(command, "--dir", dir, "--format", "json")...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, env); err != nil {
		return fmt.Errorf("reading the output of lab %s: %w", strings.Join(command, " "), err)
	}
	return nil
}

// Root returns the directory of the repository. Paths that the compiler knows do
// not lead there: binaries are built with -trimpath.
func Root(t testing.TB) string {
	t.Helper()
	root, err := repository()
	require.NoError(t, err)
	return root
}

// repository is the directory of the module that the test belongs to.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(data, []byte("module github.com/nfv-iac/terraform-provider-vnf\n")) {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("the test does not run inside the repository")
		}
		dir = parent
	}
}

// run returns the standard output of a program; an error holds what it said.
func run(ctx context.Context, binary string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, binary, args...) //nolint:gosec // the lab's own program
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	// A child that the lab left behind must not keep the pipes, and so the test, open.
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		return stdout.Bytes(), fmt.Errorf("%s %s: %w: %s", filepath.Base(binary), args[0], err, strings.TrimSpace(stderr.String()))
	}
	return stdout.Bytes(), nil
}

// Kubectl runs kubectl with all rights and returns its standard output.
func (e Env) Kubectl(t testing.TB, args ...string) string {
	t.Helper()
	out, err := e.TryKubectl(t.Context(), args...)
	require.NoError(t, err, "kubectl %s", strings.Join(args, " "))
	return out
}

// Quota has a namespace hold at most a number of objects of a resource, such as "pods" or
// "count/configmaps", and waits until the API server keeps to that.
func (e Env) Quota(t testing.TB, namespace, name, resource string, hard int) {
	t.Helper()
	e.Kubectl(t, "-n", namespace, "create", "quota", name, fmt.Sprintf("--hard=%s=%d", resource, hard))
	known := fmt.Sprintf("--for=jsonpath={.status.hard.%s}=%d", strings.ReplaceAll(resource, ".", `\.`), hard)
	e.Kubectl(t, "-n", namespace, "wait", "resourcequota/"+name, known, "--timeout=2m")
}

// TryKubectl is Kubectl for what may fail, and for goroutines that may outlive their test. What
// is asked for most, names and fields of objects, is asked for without a process.
func (e Env) TryKubectl(ctx context.Context, args ...string) (string, error) {
	if q, ok := parseGet(args); ok {
		if s, err := e.connect(); err == nil {
			if out, err := s.answer(ctx, q); err == nil {
				return out, nil
			}
		}
	}
	out, err := run(ctx, filepath.Join(filepath.Dir(e.binary), "lab-kubectl"), append([]string{"--kubeconfig", e.Kubeconfig}, args...)...)
	return string(out), err
}

// Namespace creates a namespace with a fresh name and removes it, without waiting
// for the end, when the test is over.
func (e Env) Namespace(t testing.TB) string {
	t.Helper()
	random := make([]byte, 5)
	_, err := rand.Read(random)
	require.NoError(t, err)
	name := "test-" + hex.EncodeToString(random)
	server := e.Server(t)
	if status, err := server.Do(t.Context(), http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"`+name+`"}}`); err != nil || status != http.StatusCreated {
		t.Fatalf("creating namespace %s: status %d, %v", name, status, err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if status, err := server.Do(ctx, http.MethodDelete, "/api/v1/namespaces/"+name, ""); err != nil || (status != http.StatusOK && status != http.StatusNotFound) {
			t.Logf("removing namespace %s: status %d, %v", name, status, err)
		}
	})
	return name
}

// FaultyEndpoint is the API server behind the fault proxy. A test that asks for it
// has the proxy for itself until it ends: no other test's faults reach it. A test
// that needs both labs asks for the first lab's first, or two tests wait for each other.
func (e Env) FaultyEndpoint(t testing.TB) string {
	t.Helper()
	e.lockFaults(t)
	return e.FaultProxy.Endpoint
}

// Fault makes the connections through the fault proxy fail: "cut", "delay 300ms",
// "drop-after 10" or "clear", each word an argument. The proxy is clear again when
// the test is over.
func (e Env) Fault(t testing.TB, args ...string) {
	t.Helper()
	e.lockFaults(t)
	_, err := run(t.Context(), e.binary, append([]string{"fault", "--dir", e.Dir}, args...)...)
	require.NoError(t, err)
}

// faultOwners are the tests of this process that hold the lock of a fault proxy, each
// with the directory of its lab.
var faultOwners sync.Map

// faultOwner is a test and the lab whose fault proxy it has for itself.
type faultOwner struct{ test, dir string }

func (e Env) lockFaults(t testing.TB) {
	t.Helper()
	owner := faultOwner{test: t.Name(), dir: e.Dir}
	if _, held := faultOwners.LoadOrStore(owner, true); held {
		return
	}
	unlock, err := lockFile(t.Context(), filepath.Join(e.Dir, "fault.lock"))
	if err != nil {
		faultOwners.Delete(owner)
		t.Fatalf("waiting for the fault proxy: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if _, err := run(ctx, e.binary, "fault", "--dir", e.Dir, "clear"); err != nil {
			t.Errorf("clearing the faults: %v", err)
		}
		faultOwners.Delete(owner)
		unlock()
	})
}

// ReadFile returns the text of one of the lab's files.
func (e Env) ReadFile(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}
