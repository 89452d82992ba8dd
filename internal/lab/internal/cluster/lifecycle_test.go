package cluster_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/stages"
)

// patience is how long anything may take on a busy machine.
const patience = 60 * time.Second

// binary is the built lab. Without it the test is skipped, unless LAB_REQUIRE=all.
func binary(t *testing.T) string {
	t.Helper()
	path := os.Getenv("LAB_BIN")
	if path == "" {
		path = filepath.Join("..", "..", "..", "..", "bin", "lab")
	}
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("LAB_REQUIRE") == "all" {
			t.Fatalf("the lab is not built: %v", err)
		}
		t.Skipf("the lab is not built, run make build first: %v", err)
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return absolute
}

// bench is a lab under test with its clients.
type bench struct {
	binary, dir string
	env         cluster.Environment
	admin       *rest.Config
	client      *kubernetes.Clientset
}

func (b *bench) run(t *testing.T, verb string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 4*time.Minute)
	defer cancel()
	if verb == "up" {
		// When the tests are killed a sweep stops their labs.
		args = append([]string{"--owner", strconv.Itoa(os.Getpid())}, args...)
	}
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(ctx, b.binary, append([]string{verb, "--dir", b.dir}, args...)...) //nolint:gosec // The program under test.
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return stdout.String(), fmt.Errorf("lab %s: %w: %s", verb, err, stderr.String())
	}
	return stdout.String(), nil
}

func (b *bench) must(t *testing.T, verb string, args ...string) string {
	t.Helper()
	out, err := b.run(t, verb, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// eventually tries until there is no error, for as long as patience lasts.
func eventually(t *testing.T, what string, try func() error) {
	t.Helper()
	deadline := time.After(patience)
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("%s: %v", what, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func newClient(t *testing.T, config *rest.Config) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestLabLifecycle(t *testing.T) {
	b := &bench{binary: binary(t), dir: filepath.Join(t.TempDir(), "lab")}
	t.Cleanup(func() {
		if _, err := b.run(t, "down"); err != nil {
			t.Error(err)
		}
	})
	if _, err := b.run(t, "status"); err == nil {
		t.Error("status of no lab succeeds")
	}
	b.must(t, "up", "--nodes", "2")
	if err := json.Unmarshal([]byte(b.must(t, "env")), &b.env); err != nil {
		t.Fatal(err)
	}
	admin, err := clientcmd.BuildConfigFromFlags("", b.env.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	admin.QPS = -1
	b.admin, b.client = admin, newClient(t, admin)
	// The lab's own control plane, unless the environment names another one.
	if b.env.KubernetesVersion != "v1.37.2" && os.Getenv("LAB_CONTROL_PLANE") == "" {
		t.Errorf("version %q", b.env.KubernetesVersion)
	}

	t.Run("second up", b.testSecondUp)
	t.Run("private files", b.testPrivateFiles)
	t.Run("crash", b.testCrash)
	t.Run("deletion by name", b.testDeletionByName)
	t.Run("repair", b.testRepair)
	t.Run("down", b.testDown)
}

func (b *bench) testSecondUp(t *testing.T) {
	start := time.Now()
	if out := b.must(t, "up"); !strings.Contains(out, "is running") || !strings.HasSuffix(out, "export KUBECONFIG="+filepath.Join(b.dir, "admin.kubeconfig")+"\n") {
		t.Errorf("second up says %q", out)
	}
	t.Logf("second up took %s", time.Since(start))
	var again cluster.Environment
	if err := json.Unmarshal([]byte(b.must(t, "env")), &again); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(again) != fmt.Sprint(b.env) {
		t.Errorf("the environment has changed:\n%v\n%v", b.env, again)
	}
	if _, err := b.run(t, "up", "--nodes", "3"); err == nil {
		t.Error("another number of nodes was accepted")
	}
	b.must(t, "status")
	if out := b.must(t, "env", "--format", "shell"); !strings.Contains(out, "export KUBECONFIG='"+b.env.Kubeconfig+"'\n") {
		t.Errorf("shell environment:\n%s", out)
	}
}

func (b *bench) testPrivateFiles(t *testing.T) {
	keys := 0
	err := filepath.WalkDir(b.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || strings.Contains(path, "/etcd/") {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if filepath.Ext(path) == ".key" {
			keys++
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if keys == 0 {
		t.Error("no key was looked at")
	}
}

// testDeletionByName removes a pod as KWOK does with what has ended: one that nobody deletes stays.
func (b *bench) testDeletionByName(t *testing.T) {
	pods := func(user string) corev1client.PodInterface {
		config := rest.CopyConfig(b.admin)
		config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:masters"}}
		return newClient(t, config).CoreV1().Pods(metav1.NamespaceDefault)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "successor"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "registry.example.com/main"}}}}
	if _, err := pods("lab-admin").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// The API server learns of a policy a moment after it is made.
	eventually(t, "deletion by name", func() error {
		err := pods("system:kwok").Delete(t.Context(), "successor", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil || !strings.Contains(err.Error(), "one of the same name has ended") {
			return fmt.Errorf("the deletion by name ended with %q", fmt.Sprint(err))
		}
		return nil
	})
	if err := pods("lab-admin").Delete(t.Context(), "successor", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "deletion", func() error {
		if _, err := pods("lab-admin").Get(t.Context(), "successor", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the pod is still there: %q", fmt.Sprint(err))
		}
		return nil
	})
}

// namespace makes a namespace that goes with the lab.
func (b *bench) namespace(t *testing.T, name string) string {
	t.Helper()
	_, err := b.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "service account default", func() error {
		_, err := b.client.CoreV1().ServiceAccounts(name).Get(t.Context(), "default", metav1.GetOptions{})
		return err
	})
	return name
}

func template(annotations map[string]string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "amf"}, Annotations: annotations},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "amf", Image: "amf:1"}}},
	}
}

func deployment(replicas int32, annotations map[string]string) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "amf"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "amf"}},
			Template: template(annotations),
		},
	}
}

func (b *bench) pod(t *testing.T, namespace string) (*corev1.Pod, error) {
	t.Helper()
	pods, err := b.client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	if len(pods.Items) != 1 || len(pods.Items[0].Status.ContainerStatuses) != 1 {
		return nil, fmt.Errorf("%d pods, or one without container status", len(pods.Items))
	}
	return &pods.Items[0], nil
}

func (b *bench) testCrash(t *testing.T) {
	namespace := b.namespace(t, "crash")
	if _, err := b.client.AppsV1().Deployments(namespace).Create(t.Context(), deployment(1, map[string]string{stages.FailAnnotation: stages.FailCrash}), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var name string
	eventually(t, "crash loop", func() error {
		pod, err := b.pod(t, namespace)
		if err != nil {
			return err
		}
		name = pod.Name
		status := pod.Status.ContainerStatuses[0]
		if status.State.Waiting == nil || status.State.Waiting.Reason != "CrashLoopBackOff" || status.RestartCount < 1 ||
			status.LastTerminationState.Terminated == nil || status.LastTerminationState.Terminated.ExitCode != 1 {
			return fmt.Errorf("container %+v", status)
		}
		return nil
	})
	log, err := b.client.CoreV1().Pods(namespace).GetLogs(name, &corev1.PodLogOptions{}).DoRaw(t.Context())
	if err != nil || !strings.Contains(string(log), "panic: cannot reach database") {
		t.Errorf("log %q, error %v", log, err)
	}
	lines := int64(1)
	log, err = b.client.CoreV1().Pods(namespace).GetLogs(name, &corev1.PodLogOptions{Previous: true, TailLines: &lines}).DoRaw(t.Context())
	if err != nil || string(log) != "exit status 1\n" {
		t.Errorf("last line of the previous log %q, error %v", log, err)
	}

	start := time.Now()
	if err := b.client.CoreV1().Pods(namespace).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "deletion", func() error {
		_, err := b.client.CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("the pod is there: %w", err)
		}
		return nil
	})
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("deleting a pod took %s", took)
	}
}

// kill ends programs of the lab, until its status says so.
func (b *bench) kill(t *testing.T, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if err := syscall.Kill(b.env.PIDs[name], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "status notices", func() error {
		if _, err := b.run(t, "status"); err == nil {
			return errors.New("status is content")
		}
		return nil
	})
}

func (b *bench) testRepair(t *testing.T) {
	b.kill(t, "serve", "kube-controller-manager")
	b.must(t, "up")
	var repaired cluster.Environment
	if err := json.Unmarshal([]byte(b.must(t, "env")), &repaired); err != nil {
		t.Fatal(err)
	}
	if repaired.Endpoint != b.env.Endpoint || repaired.Fault != b.env.Fault || repaired.PIDs["etcd"] != b.env.PIDs["etcd"] || repaired.PIDs["serve"] == b.env.PIDs["serve"] {
		t.Errorf("repaired from %+v to %+v", b.env, repaired)
	}
	b.env = repaired
}

// testDown also stops a second lab that was started inside the first.
func (b *bench) testDown(t *testing.T) {
	second := &bench{binary: b.binary, dir: filepath.Join(b.dir, "second")}
	second.must(t, "up", "--nodes", "1")
	if err := json.Unmarshal([]byte(second.must(t, "env")), &second.env); err != nil {
		t.Fatal(err)
	}
	if second.env.Endpoint == b.env.Endpoint {
		t.Errorf("two labs answer at %s", b.env.Endpoint)
	}
	b.must(t, "status")

	start := time.Now()
	b.must(t, "down")
	t.Logf("down took %s", time.Since(start))
	if _, err := os.Stat(b.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory is there: %v", err)
	}
	b.gone(t)
	second.gone(t)
	if out := b.must(t, "down"); !strings.Contains(out, "nothing to stop") {
		t.Errorf("second down says %q", out)
	}
}

// gone checks that no process of the lab runs and that nothing answers for it.
func (b *bench) gone(t *testing.T) {
	t.Helper()
	for name, pid := range b.env.PIDs {
		command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && strings.Contains(string(command), b.dir) {
			t.Errorf("%s still runs as process %d", name, pid)
		}
	}
	for _, text := range []string{b.env.Endpoint, b.env.Basic.Endpoint, b.env.Fault.Endpoint} {
		parsed, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		var dialer net.Dialer
		if conn, err := dialer.DialContext(t.Context(), "tcp", parsed.Host); err == nil {
			t.Errorf("%s still answers", text)
			_ = conn.Close()
		}
	}
}
