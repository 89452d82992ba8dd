package stages

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	kwokconfig "sigs.k8s.io/kwok/pkg/config"
	"sigs.k8s.io/kwok/pkg/utils/gotpl"
	"sigs.k8s.io/kwok/pkg/utils/lifecycle"
)

const container = "amf"

// load reads the rendered configuration the way KWOK does.
func load(t *testing.T) []*internalversion.Stage {
	t.Helper()
	data, err := Render(func(model string) string { return "/logs/" + model })
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kwok.yaml")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	objects, err := kwokconfig.Load(t.Context(), path)
	if err != nil {
		t.Fatalf("loading\n%s\n%v", data, err)
	}
	if logs := kwokconfig.FilterWithType[*internalversion.Logs](objects); len(logs) != len(Models()) {
		t.Errorf("%d logs for %d models", len(logs), len(Models()))
	}
	return kwokconfig.FilterWithType[*internalversion.Stage](objects)
}

func newPod(edit func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "amf-0", Namespace: "core", UID: "u1", Annotations: map[string]string{}},
		Spec: corev1.PodSpec{
			NodeName:       "node-0",
			InitContainers: []corev1.Container{{Name: "wait", Image: "wait:1"}},
			Containers:     []corev1.Container{{Name: container, Image: "amf:1"}, {Name: "sidecar", Image: "sidecar:1"}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}}},
	}
	edit(pod)
	return pod
}

func annotate(key, value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Annotations[key] = value }
}

func ownedByJob(pod *corev1.Pod) {
	pod.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Name: "migrate"}}
}

// player plays stages on one pod, as KWOK would against the API server.
type player struct {
	stages   lifecycle.Lifecycle
	renderer gotpl.Renderer
	pod      *corev1.Pod
	deleted  bool
}

func newPlayer(t *testing.T, pod *corev1.Pod) *player {
	t.Helper()
	var ofPods []*internalversion.Stage
	for _, stage := range load(t) {
		if stage.Spec.ResourceRef.Kind == "Pod" {
			ofPods = append(ofPods, stage)
		}
	}
	stages, err := lifecycle.NewLifecycle(ofPods)
	if err != nil {
		t.Fatal(err)
	}
	addresses := func(list ...string) func(...any) []string { return func(...any) []string { return list } }
	return &player{stages: stages, pod: pod, renderer: gotpl.NewRenderer(gotpl.FuncMap{
		"NodeIPsWith": addresses("127.0.0.1"), "PodIPsWith": addresses("10.128.0.7"),
	})}
}

// step plays the stage that matches and returns its name and delay, or "" when none does.
func (p *player) step(t *testing.T) (string, time.Duration) {
	t.Helper()
	event := &lifecycle.Event{Labels: p.pod.Labels, Annotations: p.pod.Annotations, Data: p.pod}
	possible, err := p.stages.ListAllPossible(t.Context(), event)
	if err != nil {
		t.Fatal(err)
	}
	if len(possible) == 0 {
		return "", 0
	}
	if len(possible) > 1 {
		t.Fatalf("%s and %s match together", possible[0].Name(), possible[1].Name())
	}
	stage := possible[0]
	delay, _, err := stage.Delay(t.Context(), event, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	_, err = stage.DoSteps(0, p.pod.Finalizers, p.pod, p.renderer,
		func(*internalversion.StageEvent) error { return nil },
		func() error { p.deleted = true; return nil },
		func(patch *lifecycle.Patch) error { return p.apply(patch) },
		func(*lifecycle.Apply) error { return nil },
	)
	if err != nil {
		t.Fatalf("stage %s: %v", stage.Name(), err)
	}
	return stage.Name(), delay
}

func (p *player) apply(patch *lifecycle.Patch) error {
	if patch.Type != types.StrategicMergePatchType || patch.Subresource != "status" {
		return fmt.Errorf("a patch of type %s to subresource %q", patch.Type, patch.Subresource)
	}
	before, err := json.Marshal(p.pod)
	if err != nil {
		return err
	}
	after, err := strategicpatch.StrategicMergePatch(before, patch.Data, corev1.Pod{})
	if err != nil {
		return err
	}
	p.pod = &corev1.Pod{}
	return json.Unmarshal(after, p.pod)
}

// playAll plays stages until one repeats, none matches or the pod is deleted, and returns their names.
func (p *player) playAll(t *testing.T) []string {
	t.Helper()
	var played []string
	for !p.deleted {
		name, _ := p.step(t)
		if name == "" || slices.Contains(played, name) {
			break
		}
		played = append(played, name)
	}
	return played
}

func (p *player) condition(kind corev1.PodConditionType) corev1.ConditionStatus {
	for _, condition := range p.pod.Status.Conditions {
		if condition.Type == kind {
			return condition.Status
		}
	}
	return ""
}

func TestPodLife(t *testing.T) {
	tests := map[string]struct {
		edit   func(*corev1.Pod)
		played []string
		phase  corev1.PodPhase
		ready  corev1.ConditionStatus
		check  func(*testing.T, corev1.ContainerStatus)
	}{
		"sound": {
			edit:   func(*corev1.Pod) {},
			played: []string{"pod-ready"}, phase: corev1.PodRunning, ready: corev1.ConditionTrue,
			check: func(t *testing.T, status corev1.ContainerStatus) {
				t.Helper()
				if !status.Ready || status.State.Running == nil || status.RestartCount != 0 || status.ContainerID == "" {
					t.Errorf("container %+v", status)
				}
			},
		},
		"unknown fault": {
			edit:   annotate(FailAnnotation, "later"),
			played: []string{"pod-ready"}, phase: corev1.PodRunning, ready: corev1.ConditionTrue,
		},
		"ready later": {
			edit:   annotate(ReadyDelayAnnotation, "5s"),
			played: []string{"pod-start", "pod-becomes-ready"}, phase: corev1.PodRunning, ready: corev1.ConditionTrue,
		},
		"never ready": {
			edit:   annotate(FailAnnotation, FailNeverReady),
			played: []string{"pod-start"}, phase: corev1.PodRunning, ready: corev1.ConditionFalse,
		},
		"crash": {
			edit:   annotate(FailAnnotation, FailCrash),
			played: []string{"pod-crash", "pod-crash-again"}, phase: corev1.PodRunning, ready: corev1.ConditionFalse,
			check: func(t *testing.T, status corev1.ContainerStatus) {
				t.Helper()
				waiting, last := status.State.Waiting, status.LastTerminationState.Terminated
				// The loop plays pod-crash-again twice before it sees that it repeats.
				if waiting == nil || waiting.Reason != "CrashLoopBackOff" || last == nil || last.ExitCode != 1 || status.RestartCount != 3 {
					t.Errorf("container %+v", status)
				}
			},
		},
		"image": {
			edit:   annotate(FailAnnotation, FailImage),
			played: []string{"pod-image"}, phase: corev1.PodPending, ready: corev1.ConditionFalse,
			check: func(t *testing.T, status corev1.ContainerStatus) {
				t.Helper()
				if status.State.Waiting == nil || status.State.Waiting.Reason != "ImagePullBackOff" {
					t.Errorf("container %+v", status)
				}
			},
		},
		"job": {
			edit:   ownedByJob,
			played: []string{"pod-ready", "job-complete"}, phase: corev1.PodSucceeded, ready: corev1.ConditionFalse,
		},
		"job ready later": {
			edit:   func(pod *corev1.Pod) { ownedByJob(pod); annotate(ReadyDelayAnnotation, "1s")(pod) },
			played: []string{"pod-start", "pod-becomes-ready", "job-complete"}, phase: corev1.PodSucceeded, ready: corev1.ConditionFalse,
		},
		"failing job": {
			edit:   func(pod *corev1.Pod) { ownedByJob(pod); annotate(FailAnnotation, FailCrash)(pod) },
			played: []string{"job-fail"}, phase: corev1.PodFailed, ready: corev1.ConditionFalse,
			check: func(t *testing.T, status corev1.ContainerStatus) {
				t.Helper()
				if status.State.Terminated == nil || status.State.Terminated.ExitCode != 1 {
					t.Errorf("container %+v", status)
				}
			},
		},
		"deleted": {
			edit:   func(pod *corev1.Pod) { now := metav1.Now(); pod.DeletionTimestamp = &now },
			played: []string{"pod-delete"}, phase: corev1.PodPending,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPlayer(t, newPod(test.edit))
			if diff := cmp.Diff(test.played, p.playAll(t)); diff != "" {
				t.Errorf("stages (-want +got):\n%s", diff)
			}
			if p.pod.Status.Phase != test.phase || p.condition(corev1.PodReady) != test.ready {
				t.Errorf("phase %s, ready %q; want %s, %q", p.pod.Status.Phase, p.condition(corev1.PodReady), test.phase, test.ready)
			}
			if p.condition(corev1.PodScheduled) != corev1.ConditionTrue {
				t.Error("the condition of the scheduler is lost")
			}
			if p.deleted {
				return
			}
			if got := len(p.pod.Status.ContainerStatuses); got != 2 {
				t.Fatalf("%d container statuses", got)
			}
			if p.pod.Status.PodIP != "10.128.0.7" || p.pod.Status.HostIP != "127.0.0.1" {
				t.Errorf("addresses %q on %q", p.pod.Status.PodIP, p.pod.Status.HostIP)
			}
			if test.check != nil {
				test.check(t, p.pod.Status.ContainerStatuses[0])
			}
		})
	}
}

// TestPodRecovers takes faults from a pod and gives it others, as somebody would with kubectl annotate.
func TestPodRecovers(t *testing.T) {
	p := newPlayer(t, newPod(annotate(FailAnnotation, FailImage)))
	for _, step := range []struct{ fail, stage string }{
		{fail: FailImage, stage: "pod-image"},
		{fail: "", stage: "pod-ready"},
		{fail: FailNeverReady, stage: "pod-becomes-unready"},
		{fail: "", stage: "pod-becomes-ready"},
		{fail: FailCrash, stage: "pod-crash"},
		{fail: "", stage: "pod-becomes-ready"},
	} {
		p.pod.Annotations = map[string]string{FailAnnotation: step.fail}
		if got, _ := p.step(t); got != step.stage {
			t.Fatalf("with fault %q: stage %q, want %q", step.fail, got, step.stage)
		}
	}
	if p.condition(corev1.PodReady) != corev1.ConditionTrue || p.pod.Status.ContainerStatuses[0].RestartCount != 1 {
		t.Errorf("in the end: %+v", p.pod.Status)
	}
}

func program(pod *corev1.Pod) {
	pod.Labels = map[string]string{ProgramLabel: "cluster-api"}
	pod.Spec.Containers[0].Image = "registry.k8s.io/cluster-api/cluster-api-controller:v1.14.2"
}

// TestProgramAnswers has a pod whose program is run become Ready when that answers, and no longer.
func TestProgramAnswers(t *testing.T) {
	p := newPlayer(t, newPod(program))
	if name, container := ProgramOf(p.pod); name != "core" || container.Name != "amf" {
		t.Errorf("the program is %q of container %+v", name, container)
	}
	if diff := cmp.Diff([]string{"pod-start"}, p.playAll(t)); diff != "" {
		t.Errorf("before it answers (-want +got):\n%s", diff)
	}
	for _, step := range []struct{ answers, stage string }{
		{answers: "true", stage: "pod-becomes-ready"},
		{answers: "false", stage: "pod-becomes-unready"},
	} {
		p.pod.Annotations = map[string]string{AnswersAnnotation: step.answers}
		if got, _ := p.step(t); got != step.stage {
			t.Errorf("with answers %q: stage %q, want %q", step.answers, got, step.stage)
		}
	}
	if p.condition(corev1.PodReady) != corev1.ConditionFalse {
		t.Errorf("in the end: %+v", p.pod.Status)
	}
}

func TestProgramOf(t *testing.T) {
	for image, want := range map[string]string{
		"registry.k8s.io/cluster-api/kubeadm-control-plane-controller:v1.14.2": "control-plane",
		"mirror.example.com:5000/capd-manager@sha256:0123":                     "in-memory",
		"registry.example.com/cluster-api-controller-exporter:1":               "",
	} {
		pod := newPod(program)
		pod.Spec.Containers[0].Image = image
		if got, _ := ProgramOf(pod); got != want {
			t.Errorf("image %s is program %q, want %q", image, got, want)
		}
	}
	if got, _ := ProgramOf(newPod(func(pod *corev1.Pod) { program(pod); pod.Labels = nil })); got != "" {
		t.Errorf("without the label it is program %q", got)
	}
}

func TestReadyDelay(t *testing.T) {
	p := newPlayer(t, newPod(annotate(ReadyDelayAnnotation, "5s")))
	p.step(t)
	if name, delay := p.step(t); name != "pod-becomes-ready" || delay != 5*time.Second {
		t.Errorf("stage %q after %s", name, delay)
	}
}

func TestModelOf(t *testing.T) {
	waiting := func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: container, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}},
		}}
	}
	tests := map[string]struct {
		edit    func(*corev1.Pod)
		want    string
		text    string
		refused bool
	}{
		"sound":       {edit: func(*corev1.Pod) {}, want: modelRunning, text: "listening"},
		"crash":       {edit: annotate(FailAnnotation, FailCrash), want: modelCrash, text: "panic: cannot reach database"},
		"never ready": {edit: annotate(FailAnnotation, FailNeverReady), want: modelNeverReady, text: "not ready"},
		"job":         {edit: ownedByJob, want: modelJob, text: "work done"},
		"not started": {edit: waiting, refused: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ModelOf(newPod(test.edit), container)
			if (err != nil) != test.refused || got != test.want {
				t.Fatalf("model %q, error %v", got, err)
			}
			if log := string(Log(got, time.Now())); !strings.Contains(log, test.text) {
				t.Errorf("log %q does not say %q", log, test.text)
			}
		})
	}
}
