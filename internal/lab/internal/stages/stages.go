// Package stages is the behaviour of the lab's nodes and pods, as KWOK reads it: which states they go through, how they
// fail on request, and what their logs say.
package stages

import (
	"bytes"
	"embed"
	"fmt"
	"strings"
	"text/template"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// FailAnnotation asks a pod to fail. It may be set, changed and taken away while the pod runs.
const FailAnnotation = "lab.vnf/fail"

// The values of FailAnnotation.
const (
	FailCrash      = "crash"
	FailNeverReady = "never-ready"
	FailImage      = "image"
)

// ReadyDelayAnnotation holds a pod's readiness back for a duration such as 5s.
const ReadyDelayAnnotation = "lab.vnf/ready-delay"

// ModelNamespace is where the model pods would live whose logs stand for those of the pods that behave like them.
// Neither the namespace nor the pods exist: KWOK only looks their names up.
const ModelNamespace = "lab-models"

// The names of the model pods.
const (
	modelRunning    = "running"
	modelCrash      = "crash"
	modelNeverReady = "never-ready"
	modelJob        = "job"
)

//go:embed parts.tmpl node.yaml pod.yaml
var files embed.FS

// Render is KWOK's configuration: the stages, and the logs of the model pods, whose files lie where logFile says.
func Render(logFile func(model string) string) ([]byte, error) {
	root := template.New("stages").Delims("[[", "]]").Option("missingkey=error")
	root.Funcs(template.FuncMap{
		"programLabel":      func() string { return ProgramLabel },
		"programImages":     programImages,
		"answersAnnotation": func() string { return AnswersAnnotation },
		// nested expands a part and indents every line but the first, which stands where the action stands.
		"nested": func(name string, spaces int) (string, error) {
			var out bytes.Buffer
			if err := root.ExecuteTemplate(&out, name, nil); err != nil {
				return "", err
			}
			return strings.ReplaceAll(strings.TrimSpace(out.String()), "\n", "\n"+strings.Repeat(" ", spaces)), nil
		},
	})
	if _, err := root.ParseFS(files, "*"); err != nil {
		return nil, fmt.Errorf("parsing the stages: %w", err)
	}
	var out bytes.Buffer
	for _, name := range []string{"node.yaml", "pod.yaml"} {
		out.WriteString("---\n")
		if err := root.ExecuteTemplate(&out, name, nil); err != nil {
			return nil, fmt.Errorf("expanding the stages of %s: %w", name, err)
		}
	}
	for _, model := range Models() {
		fmt.Fprintf(&out, "---\napiVersion: kwok.x-k8s.io/v1alpha1\nkind: Logs\nmetadata: {name: %q, namespace: %q}\nspec:\n  logs:\n  - logsFile: %q\n    previousLogsFile: %q\n",
			model, ModelNamespace, logFile(model), logFile(model))
	}
	return out.Bytes(), nil
}

// Models names the model pods.
func Models() []string { return []string{modelRunning, modelCrash, modelNeverReady, modelJob} }

// ModelOf names the model pod that behaves like a pod. A container that has not started has no log: the error is then
// the kubelet's.
func ModelOf(pod *corev1.Pod, container string) (string, error) {
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name == container && status.State.Waiting != nil && status.LastTerminationState.Terminated == nil {
			return "", fmt.Errorf("container %q in pod %q is waiting to start: %s", container, pod.Name, status.State.Waiting.Reason)
		}
	}
	switch pod.Annotations[FailAnnotation] {
	case FailCrash:
		return modelCrash, nil
	case FailNeverReady:
		return modelNeverReady, nil
	}
	for _, owner := range pod.OwnerReferences {
		if owner.Kind == "Job" {
			return modelJob, nil
		}
	}
	return modelRunning, nil
}

// Log is the log of a model pod in the format of the container runtime interface, which KWOK reads.
func Log(model string, at time.Time) []byte {
	lines := map[string][]string{
		modelRunning: {
			"starting",
			"configuration read",
			"listening",
			"ready",
		},
		modelCrash: {
			"starting",
			"configuration read",
			"panic: cannot reach database: dial tcp: lookup database: no such host",
			"goroutine 1 [running]:",
			"main.main()",
			"exit status 1",
		},
		modelNeverReady: {
			"starting",
			"configuration read",
			"waiting for the peer to register, not ready",
		},
		modelJob: {
			"starting",
			"work done",
		},
	}
	var out bytes.Buffer
	for _, line := range lines[model] {
		fmt.Fprintf(&out, "%s stdout F %s\n", at.UTC().Format(time.RFC3339Nano), line)
	}
	return out.Bytes()
}
