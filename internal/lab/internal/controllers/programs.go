package controllers

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/stages"
)

// probeInterval is how often a program is asked whether it is ready, and restartDelay how long one that has ended stays
// ended.
const (
	probeInterval = time.Second
	restartDelay  = time.Second
)

// ProgramsConfig is what programs are run with.
type ProgramsConfig struct {
	// Client may do everything.
	Client kubernetes.Interface
	// Dir is the directory of the lab, Folder the one of the programs.
	Dir    layout.Dir
	Folder string
	// Server is the URL of the API server, Authority the certificate of its CA.
	Server    string
	Authority []byte
	Log       *slog.Logger
}

// Programs runs the programs of pods that are not played, as a kubelet would: with the arguments, the Secrets and the
// rights that the pod has, from its coming to its going. KWOK plays the rest of such a pod, and makes it Ready when the
// program answers.
type Programs struct {
	ProgramsConfig
	factory informers.SharedInformerFactory
	pods    coreinformers.PodInformer
	work    *loop

	// running are the programs by namespace and name of their pods.
	mutex   sync.Mutex
	running map[string]*Program
}

// NewPrograms finds the programs that an earlier Run has left running.
func NewPrograms(config ProgramsConfig) (*Programs, error) {
	all, err := ListPrograms(config.Dir)
	if err != nil {
		return nil, err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(config.Client, 0,
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = stages.ProgramLabel }))
	p := &Programs{ProgramsConfig: config, factory: factory, pods: factory.Core().V1().Pods(), running: map[string]*Program{}}
	for _, program := range all {
		p.running[program.Namespace+"/"+program.Pod] = program
	}
	p.work = newLoop("programs", config.Log, p.reconcile)
	handler := p.work.enqueue()
	if _, err := p.pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { handler.OnAdd(object, false) },
		UpdateFunc: handler.OnUpdate,
		DeleteFunc: func(object any) { handler.OnUpdate(object, object) },
	}); err != nil {
		return nil, fmt.Errorf("watching the pods of programs: %w", err)
	}
	return p, nil
}

// Run runs the programs until ctx ends, and leaves them running then: the next Run takes them over, and StopPrograms
// ends them.
func (p *Programs) Run(ctx context.Context) error {
	for key := range p.running {
		// Its pod may have gone meanwhile.
		p.work.queue.Add(key)
	}
	p.factory.StartWithContext(ctx)
	defer p.factory.Shutdown()
	if !cache.WaitForCacheSync(ctx.Done(), p.pods.Informer().HasSynced) {
		return fmt.Errorf("reading the pods of programs: %w", context.Cause(ctx))
	}
	p.work.run(ctx)
	return nil
}

// reconcile starts the program of a pod, asks it whether it is ready, starts it again when it has ended, and ends it when
// the pod has gone.
func (p *Programs) reconcile(ctx context.Context, namespace, name string) (time.Duration, error) {
	key := namespace + "/" + name
	pod, err := p.pods.Lister().Pods(namespace).Get(name)
	if err != nil && !apierrors.IsNotFound(err) {
		return 0, fmt.Errorf("reading the pod: %w", err)
	}
	program := p.programOf(key)
	gone := err != nil || pod.DeletionTimestamp != nil
	if program != nil && (gone || program.UID != pod.UID) {
		if err := p.forget(ctx, key, program); err != nil {
			return 0, err
		}
		program = nil
	}
	if gone || pod.Spec.NodeName == "" {
		return 0, nil
	}
	what, container := stages.ProgramOf(pod)
	if container == nil {
		return 0, nil
	}
	switch {
	case program == nil:
		program, err := p.start(ctx, pod, what, container)
		if err != nil {
			p.complain(ctx, pod, err)
			return 0, err
		}
		p.remember(key, program)
		return probeInterval, nil
	case !program.Process.Alive():
		p.Log.WarnContext(ctx, "a program has ended and is started again", "program", what, "pod", key, "log", p.Dir.Log(logName(what)))
		if err := p.forget(ctx, key, program); err != nil {
			return 0, err
		}
		return restartDelay, p.report(ctx, pod, false)
	default:
		return probeInterval, p.report(ctx, pod, program.ready(ctx, container))
	}
}

// report writes to the pod whether its program answers.
func (p *Programs) report(ctx context.Context, pod *corev1.Pod, answers bool) error {
	text := fmt.Sprint(answers)
	if pod.Annotations[stages.AnswersAnnotation] == text {
		return nil
	}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, stages.AnswersAnnotation, text)
	_, err := p.Client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("writing that its program answers: %w", err)
	}
	return nil
}

// complain says in an event why the program of a pod does not start, once.
func (p *Programs) complain(ctx context.Context, pod *corev1.Pod, reason error) {
	now := metav1.Now()
	_, err := p.Client.CoreV1().Events(pod.Namespace).Create(ctx, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: pod.Name + ".program", Namespace: pod.Namespace},
		InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Type:           corev1.EventTypeWarning, Reason: "Failed", Message: "Error: " + reason.Error(),
		Source: corev1.EventSource{Component: "lab"}, FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		p.Log.WarnContext(ctx, "an event could not be written", "pod", pod.Name, "error", err)
	}
}

// LogFile is the log of the program of a pod; empty for a pod that is played.
func (p *Programs) LogFile(namespace, pod string) string {
	program := p.programOf(namespace + "/" + pod)
	if program == nil {
		return ""
	}
	return p.Dir.Log(logName(program.Name))
}

func (p *Programs) programOf(key string) *Program {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.running[key]
}

func (p *Programs) remember(key string, program *Program) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.running[key] = program
}

// forget ends a program and removes its files.
func (p *Programs) forget(ctx context.Context, key string, program *Program) error {
	if err := program.stop(ctx, p.Dir); err != nil {
		return err
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	delete(p.running, key)
	return nil
}

// ready asks a program as the readiness probe of its container says.
func (p *Program) ready(ctx context.Context, container *corev1.Container) bool {
	path := "/readyz"
	if probe := container.ReadinessProbe; probe != nil && probe.HTTPGet != nil {
		path = probe.HTTPGet.Path
	}
	ctx, cancel := context.WithTimeout(ctx, probeInterval)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+layout.Address(p.Ports[portHealth])+path, http.NoBody)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}
