package cluster_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
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
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/controllers"
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
	t.Run("admin token", b.testAdminToken)
	t.Run("client certificate", b.testClientCertificate)
	t.Run("basic authentication", b.testBasic)
	t.Run("limited token", b.testLimited)
	t.Run("faults", b.testFaults)
	t.Run("crash", b.testCrash)
	t.Run("deletion by name", b.testDeletionByName)
	t.Run("jobs", b.testJobs)
	t.Run("volumes", b.testVolumes)
	t.Run("autoscaler", b.testAutoscaler)
	t.Run("audit log", b.testAudit)
	t.Run("kubectl", b.testKubectl)
	t.Run("repair", b.testRepair)
	t.Run("down", b.testDown)
}

func (b *bench) testSecondUp(t *testing.T) {
	start := time.Now()
	if out := b.must(t, "up"); !strings.Contains(out, "is running") {
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

func (b *bench) listNamespaces(t *testing.T, config *rest.Config) error {
	t.Helper()
	_, err := newClient(t, config).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	return err
}

func (b *bench) testAdminToken(t *testing.T) {
	config := &rest.Config{Host: b.env.Endpoint, BearerToken: b.env.AdminToken, TLSClientConfig: rest.TLSClientConfig{CAFile: b.env.CAFile}}
	if err := b.listNamespaces(t, config); err != nil {
		t.Error(err)
	}
	config.BearerToken += "0"
	if err := b.listNamespaces(t, config); !apierrors.IsUnauthorized(err) {
		t.Errorf("with a wrong token: %v", err)
	}
}

func (b *bench) testClientCertificate(t *testing.T) {
	config := &rest.Config{Host: b.env.Endpoint, TLSClientConfig: rest.TLSClientConfig{
		CAFile: b.env.CAFile, CertFile: b.env.ClientCertificateFile, KeyFile: b.env.ClientKeyFile,
	}}
	if err := b.listNamespaces(t, config); err != nil {
		t.Error(err)
	}
}

func (b *bench) testBasic(t *testing.T) {
	config := &rest.Config{
		Host: b.env.Basic.Endpoint, Username: b.env.Basic.Username, Password: b.env.Basic.Password,
		TLSClientConfig: rest.TLSClientConfig{CAFile: b.env.Basic.CAFile},
	}
	if err := b.listNamespaces(t, config); err != nil {
		t.Error(err)
	}
	watch, err := newClient(t, config).CoreV1().Namespaces().Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	select {
	case <-watch.ResultChan():
	case <-time.After(patience):
		t.Error("no event comes through")
	}
	config.Password += "0"
	if err := b.listNamespaces(t, config); !apierrors.IsUnauthorized(err) {
		t.Errorf("with a wrong password: %v", err)
	}
}

func (b *bench) testLimited(t *testing.T) {
	client := newClient(t, &rest.Config{Host: b.env.Endpoint, BearerToken: b.env.LimitedToken, TLSClientConfig: rest.TLSClientConfig{CAFile: b.env.CAFile}})
	maps := client.CoreV1().ConfigMaps(b.env.LimitedNamespace)
	if _, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "mine"}}, metav1.CreateOptions{}); err != nil {
		t.Errorf("its own config map: %v", err)
	}
	if err := maps.Delete(t.Context(), "mine", metav1.DeleteOptions{}); err != nil {
		t.Errorf("deleting it: %v", err)
	}
	for what, try := range map[string]func() error{
		"pods of its namespace": func() error {
			_, err := client.CoreV1().Pods(b.env.LimitedNamespace).List(t.Context(), metav1.ListOptions{})
			return err
		},
		"config maps elsewhere": func() error {
			_, err := client.CoreV1().ConfigMaps(metav1.NamespaceDefault).List(t.Context(), metav1.ListOptions{})
			return err
		},
	} {
		if err := try(); !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v", what, err)
		}
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

func (b *bench) testFaults(t *testing.T) {
	defer b.must(t, "fault", "clear")
	security, err := rest.TLSConfigFor(b.admin)
	if err != nil {
		t.Fatal(err)
	}
	// Not the client of client-go, which tries again after a reset.
	attempt := func() (time.Duration, error) {
		client := &http.Client{Timeout: patience, Transport: &http.Transport{TLSClientConfig: security, DisableKeepAlives: true}}
		start := time.Now()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.env.Fault.Endpoint+"/readyz", nil)
		if err != nil {
			return 0, err
		}
		response, err := client.Do(request)
		if err != nil {
			return 0, err
		}
		body, err := io.ReadAll(response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil {
			return 0, err
		}
		if string(body) != "ok" {
			return 0, fmt.Errorf("%s: %q", response.Status, body)
		}
		return time.Since(start), nil
	}
	if _, err := attempt(); err != nil {
		t.Fatalf("without a fault: %v", err)
	}
	b.must(t, "fault", "cut")
	if _, err := attempt(); err == nil {
		t.Error("a request passes while everything is cut")
	}
	// The first two are the greetings of TLS.
	b.must(t, "fault", "drop-after", "2")
	if _, err := attempt(); err == nil {
		t.Error("a request needs no more than two reads")
	}
	b.must(t, "fault", "delay", "150ms")
	if took, err := attempt(); err != nil || took < 300*time.Millisecond {
		t.Errorf("delayed: %s, %v", took, err)
	}
	b.must(t, "fault", "clear")
	if _, err := attempt(); err != nil {
		t.Errorf("after the faults: %v", err)
	}
	if out := b.must(t, "fault"); out != "clear\n" {
		t.Errorf("fault says %q", out)
	}
	if _, err := b.run(t, "fault", "explode"); err == nil {
		t.Error("an unknown fault was accepted")
	}
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

func (b *bench) testJobs(t *testing.T) {
	namespace := b.namespace(t, "jobs")
	none := int32(0)
	for name, annotations := range map[string]map[string]string{"good": nil, "bad": {stages.FailAnnotation: stages.FailCrash}} {
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: batchv1.JobSpec{BackoffLimit: &none, Template: template(annotations)}}
		job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
		if _, err := b.client.BatchV1().Jobs(namespace).Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]batchv1.JobConditionType{"good": batchv1.JobComplete, "bad": batchv1.JobFailed} {
		eventually(t, "job "+name, func() error {
			job, err := b.client.BatchV1().Jobs(namespace).Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			for _, condition := range job.Status.Conditions {
				if condition.Type == want && condition.Status == corev1.ConditionTrue {
					return nil
				}
			}
			return fmt.Errorf("not %s: %+v", want, job.Status.Conditions)
		})
	}
}

func (b *bench) testVolumes(t *testing.T) {
	namespace := b.namespace(t, "volumes")
	claims := b.client.CoreV1().PersistentVolumeClaims(namespace)
	wait := "wait"
	for name, class := range map[string]*string{"default": nil, "waiting": &wait} {
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: class,
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		}}
		if _, err := claims.Create(t.Context(), claim, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	volumeOf := map[string]string{}
	bound := func(name string) func() error {
		return func() error {
			claim, err := claims.Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if claim.Status.Phase != corev1.ClaimBound {
				return fmt.Errorf("claim %s is %s", name, claim.Status.Phase)
			}
			volumeOf[name] = claim.Spec.VolumeName
			return nil
		}
	}
	eventually(t, "claim of the default class", bound("default"))
	if bound("waiting")() == nil {
		t.Error("a claim that waits for its first consumer was bound without one")
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "consumer"}, Spec: template(nil).Spec}
	pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "waiting"},
	}}}
	if _, err := b.client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "claim with a consumer", bound("waiting"))

	if err := claims.Delete(t.Context(), "default", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "deletion of the volume", func() error {
		_, err := b.client.CoreV1().PersistentVolumes().Get(t.Context(), volumeOf["default"], metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("the volume is there: %w", err)
		}
		return nil
	})
}

func (b *bench) testAutoscaler(t *testing.T) {
	namespace := b.namespace(t, "autoscaler")
	deployments := b.client.AppsV1().Deployments(namespace)
	if _, err := deployments.Create(t.Context(), deployment(2, nil), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	hpa := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "amf", Annotations: map[string]string{controllers.DesiredAnnotation: "4"}},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "amf"},
			MaxReplicas:    6,
		},
	}
	if _, err := b.client.AutoscalingV2().HorizontalPodAutoscalers(namespace).Create(t.Context(), hpa, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "four replicas, written by the autoscaler", func() error {
		got, err := deployments.Get(t.Context(), "amf", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if got.Status.ReadyReplicas != 4 {
			return fmt.Errorf("%d replicas are ready", got.Status.ReadyReplicas)
		}
		for _, entry := range got.ManagedFields {
			if entry.Manager == controllers.AutoscalerManager && entry.Subresource == "scale" {
				return nil
			}
		}
		return errors.New("no managed fields of the autoscaler")
	})
}

func (b *bench) testAudit(t *testing.T) {
	config := rest.CopyConfig(b.admin)
	config.UserAgent = "audit-probe"
	if err := b.listNamespaces(t, config); err != nil {
		t.Fatal(err)
	}
	eventually(t, "request in the audit log", func() error {
		data, err := os.ReadFile(b.env.AuditLog)
		if err != nil {
			return err
		}
		found := 0
		for line := range strings.Lines(string(data)) {
			var event struct {
				UserAgent string `json:"userAgent"`
				Stage     string `json:"stage"`
				User      struct {
					Username string `json:"username"`
				} `json:"user"`
			}
			if err := json.Unmarshal([]byte(line), &event); err != nil {
				return fmt.Errorf("line %q: %w", line, err)
			}
			if strings.HasPrefix(event.User.Username, "system:kube-") || event.User.Username == "system:lab" || event.User.Username == "system:kwok" {
				t.Fatalf("the control plane is in the log: %s", line)
			}
			if event.UserAgent == "audit-probe" && event.User.Username == "lab-admin" {
				found++
			}
		}
		if found != 1 {
			return fmt.Errorf("%d entries for one request", found)
		}
		return nil
	})
}

func (b *bench) testKubectl(t *testing.T) {
	if out := b.must(t, "kubectl", "get", "nodes", "-o", "name"); out != "node/node-0\nnode/node-1\n" {
		t.Errorf("nodes: %q", out)
	}
	if _, err := b.run(t, "kubectl", "get", "nonsense"); err == nil {
		t.Error("kubectl fails and lab kubectl does not")
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
	t.Run("basic authentication", b.testBasic)
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
