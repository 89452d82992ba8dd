package kube

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube/readiness"
)

const (
	// Limits of a diagnosis of one object.
	maxEvents = 5
	maxPods   = 3
	// maxExplained bounds the objects that are looked into; the others keep their
	// condition.
	maxExplained = 20
)

// depth says how far an explanation goes.
type depth struct {
	// lines and bytes bound the end of a log.
	lines, bytes int
	// all has the conditions of objects, and logs of containers that run and are not ready as well.
	all bool
}

var (
	// forError is for a text that people read in a terminal, forReport for one that they read in a ticket.
	forError  = depth{lines: 10, bytes: 2 << 10}
	forReport = depth{lines: 50, bytes: 8 << 10, all: true}
)

// subject is an object that is to be explained, as it was last seen.
type subject struct {
	ref     Ref
	obj     *unstructured.Unstructured
	verdict readiness.Verdict
}

// Explain says of each object what state it is in and why: its condition, its
// last events, its pods that are not ready, and the end of the log of containers
// that crash. It tells what it can find within ctx and never fails.
func (c *Client) Explain(ctx context.Context, refs []Ref) []ObjectState {
	return c.explain(ctx, c.look(ctx, refs), forError)
}

// Report is Explain of those of the objects that are not ready, with more of what is known of them.
func (c *Client) Report(ctx context.Context, refs []Ref) (unready []ObjectState) {
	subjects := slices.DeleteFunc(c.look(ctx, refs), func(s subject) bool { return s.verdict.Ready })
	return c.explain(ctx, subjects, forReport)
}

// look reads objects and judges them.
func (c *Client) look(ctx context.Context, refs []Ref) []subject {
	subjects := make([]subject, len(refs))
	var group errgroup.Group
	group.SetLimit(8)
	for i, ref := range refs {
		group.Go(func() error {
			s := subject{ref: ref}
			obj, err := c.Get(ctx, ref)
			switch {
			case err == nil:
				s.obj, s.verdict = obj, readiness.Of(obj, nil)
			case apierrors.IsNotFound(err):
				s.verdict = notFound
			default:
				s.verdict = readiness.Verdict{Reason: "Unknown", Message: err.Error()}
			}
			subjects[i] = s
			return nil
		})
	}
	_ = group.Wait()
	return subjects
}

func (c *Client) explain(ctx context.Context, subjects []subject, d depth) []ObjectState {
	out := make([]ObjectState, len(subjects))
	namespaces := map[string][]int{}
	for i, s := range subjects {
		out[i] = ObjectState{Ref: s.ref, Status: statusOf(s), Reason: s.verdict.Reason, Message: s.verdict.Message}
		if s.obj != nil && i < maxExplained {
			// Events of cluster-scoped objects are in the namespace default.
			if d.all {
				out[i].Conditions = conditionLines(s.obj)
			}
			ns := cmp.Or(s.ref.Namespace, "default")
			namespaces[ns] = append(namespaces[ns], i)
		}
	}
	var wg sync.WaitGroup
	for ns, indices := range namespaces {
		wg.Go(func() { c.explainNamespace(ctx, ns, subjects, indices, out, d) })
	}
	wg.Wait()
	return out
}

// conditionLines are the conditions of an object in words.
func conditionLines(obj *unstructured.Unstructured) []string {
	all := readiness.Conditions(obj)
	out := make([]string, 0, len(all))
	for _, c := range all {
		line := c.Type + "=" + c.Status
		if c.Reason != "" {
			line += " (" + c.Reason + ")"
		}
		if c.Message != "" {
			line += ": " + readiness.OneLine(c.Message)
		}
		out = append(out, line)
	}
	return out
}

func statusOf(s subject) string {
	switch {
	case s.verdict == notFound:
		return StatusNotFound
	case s.verdict.Failed:
		return StatusFailed
	case s.obj == nil:
		return StatusUnknown
	case s.verdict.Ready:
		return StatusReady
	case s.obj.GetDeletionTimestamp() != nil:
		return StatusTerminating
	default:
		return StatusInProgress
	}
}

// explainNamespace adds events, pods and logs to the objects of one namespace. Each
// index is its own, so out needs no lock. It takes one LIST of the pods, of the events and, where a pod waits
// for one, of the claims, and one of each kind between the objects and their pods.
func (c *Client) explainNamespace(ctx context.Context, namespace string, subjects []subject, indices []int, out []ObjectState, d depth) {
	why := causes{tree: newOwnerTree(c, namespace), owners: map[types.UID]string{}, of: map[types.UID]types.UID{}, claims: map[types.UID][]corev1.PersistentVolumeClaim{}}
	for _, i := range indices {
		uid := subjects[i].obj.GetUID()
		why.of[uid] = uid
		if mayHavePods(subjects[i].ref.Resource.GVK) {
			why.owners[uid] = string(uid)
		}
	}
	var (
		wg      sync.WaitGroup
		pods    map[string][]corev1.Pod
		unbound map[string]corev1.PersistentVolumeClaim
		events  []corev1.Event
	)
	// Objects that cannot be read, for lack of rights or of time, are left out: the state of
	// the object is reported in any case.
	wg.Go(func() {
		pods, _ = c.podsOf(ctx, &why.tree, why.owners)
		unbound = c.unboundClaims(ctx, namespace, pods)
	})
	wg.Go(func() { events, _ = c.eventsOf(ctx, namespace, "") })
	wg.Wait()
	for _, i := range indices {
		uid := subjects[i].obj.GetUID()
		why.addPods(uid, pods[string(uid)], unbound)
	}
	byObject := why.attribute(ctx, events)
	for _, i := range indices {
		uid := subjects[i].obj.GetUID()
		out[i].Events = lastEvents(byObject[uid], time.Now())
		for _, pod := range pods[string(uid)] {
			if !podReady(&pod) && len(out[i].Pods) < maxPods {
				out[i].Pods = append(out[i].Pods, podState(&pod, why.claims[pod.UID]...))
			}
		}
		for k := range out[i].Pods {
			p := &out[i].Pods[k]
			if d.all && p.container == "" {
				p.container = p.unready
			}
			if p.container != "" {
				wg.Go(func() { p.LogTail = c.logTail(ctx, namespace, p.Name, p.container, d) })
			}
		}
	}
	wg.Wait()
}

// mayHavePods leaves out the built-in kinds that never own one.
func mayHavePods(gvk schema.GroupVersionKind) bool {
	switch gvk.Group {
	case "":
		return gvk.Kind == "Pod" || gvk.Kind == "ReplicationController"
	case "apps", "batch":
		return true
	default:
		return strings.Contains(gvk.Group, ".") && !strings.HasSuffix(gvk.Group, ".k8s.io")
	}
}

func podReady(pod *corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodSucceeded {
		return true
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// podState says what is wrong with a pod: the first container that crashed or
// waits, else the condition that is not met, and the claims that are not bound.
func podState(pod *corev1.Pod, unbound ...corev1.PersistentVolumeClaim) PodState {
	s := PodState{Name: pod.Name, Phase: string(pod.Status.Phase), Reason: pod.Status.Reason, Message: pod.Status.Message}
	for i := range unbound {
		s.Claims = append(s.Claims, claimState(&unbound[i]))
	}
	statuses := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
	for _, cs := range statuses {
		s.Restarts += cs.RestartCount
		if s.unready == "" && cs.State.Running != nil && !cs.Ready {
			s.unready = cs.Name
		}
	}
	for _, cs := range statuses {
		if reason, message, crashed, bad := containerTrouble(cs); bad {
			s.Reason, s.Message = reason, "container "+cs.Name+": "+message
			if crashed {
				s.container = cs.Name
			}
			return s
		}
	}
	if s.Reason != "" {
		return s
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		for _, cond := range pod.Status.Conditions {
			if cond.Type == kind && cond.Status != corev1.ConditionTrue {
				s.Reason, s.Message = cond.Reason, cond.Message
				return s
			}
		}
	}
	return s
}

// containerTrouble tells a container that crashes or cannot start from one that is
// well or is just being started.
func containerTrouble(cs corev1.ContainerStatus) (reason, message string, crashed, bad bool) {
	end := func(t *corev1.ContainerStateTerminated) string {
		text := fmt.Sprintf("ended with exit code %d", t.ExitCode)
		if t.Reason != "" {
			text += " (" + t.Reason + ")"
		}
		if t.Message != "" {
			text += ": " + t.Message
		}
		return text
	}
	last := cs.LastTerminationState.Terminated
	switch {
	case cs.State.Terminated != nil && cs.State.Terminated.ExitCode != 0:
		return cmp.Or(cs.State.Terminated.Reason, "Error"), end(cs.State.Terminated), true, true
	case cs.State.Waiting != nil && last != nil:
		return cs.State.Waiting.Reason, strings.TrimPrefix(cs.State.Waiting.Message+"; "+end(last), "; "), true, true
	case cs.State.Waiting != nil && cs.State.Waiting.Reason == "CrashLoopBackOff":
		return cs.State.Waiting.Reason, cs.State.Waiting.Message, true, true
	case cs.State.Waiting != nil && cs.State.Waiting.Reason != "ContainerCreating" && cs.State.Waiting.Reason != "PodInitializing":
		return cs.State.Waiting.Reason, cs.State.Waiting.Message, false, true
	case cs.State.Running != nil && last != nil && last.ExitCode != 0 && !cs.Ready:
		return cmp.Or(last.Reason, "Error"), "was started again, before it " + end(last), true, true
	default:
		return "", "", false, false
	}
}

// crashing names the first containers that crash, for the progress of a wait.
func (c *Client) crashing(ctx context.Context, unready []subject) string {
	byNamespace := map[string]map[types.UID]string{}
	for _, s := range unready {
		if s.obj == nil || !mayHavePods(s.ref.Resource.GVK) {
			continue
		}
		if byNamespace[s.ref.Namespace] == nil {
			byNamespace[s.ref.Namespace] = map[types.UID]string{}
		}
		byNamespace[s.ref.Namespace][s.obj.GetUID()] = s.ref.String()
	}
	for ns, owners := range byNamespace {
		pods, err := c.PodsOf(ctx, ns, owners)
		if err != nil {
			continue
		}
		for _, list := range pods {
			for i := range list {
				if s := podState(&list[i]); !podReady(&list[i]) && (s.container != "" || s.Restarts > 0) {
					return fmt.Sprintf("pod %s: %s, %d restarts: %s", s.Name, s.Reason, s.Restarts, s.Message)
				}
			}
		}
	}
	return ""
}

var eventResource = Resource{
	GVK:        schema.GroupVersionKind{Version: "v1", Kind: "Event"},
	GVR:        schema.GroupVersionResource{Version: "v1", Resource: "events"},
	Namespaced: true,
}

func (c *Client) eventsOf(ctx context.Context, namespace, selector string) ([]corev1.Event, error) {
	events, _, err := listAll[corev1.Event](ctx, c, listRequest{resource: eventResource, namespace: namespace, options: ListOptions{FieldSelector: selector}})
	return events, err
}

// LastWarnings are the newest warnings of the events of a namespace, by the object that they are about: one request. Events of before
// that time are left out. Some
// controllers send what has failed as a normal event, and call the reason so.
func (c *Client) LastWarnings(ctx context.Context, namespace string, since time.Time) (map[types.UID]string, error) {
	events, err := c.eventsOf(ctx, namespace, "")
	if err != nil {
		return nil, err
	}
	// Times of events are whole seconds of the server's clock, which is known to half a second.
	now, oldest := c.serverNow(), since.Add(time.Duration(c.clockOffset.Load())-2*time.Second)
	events = slices.DeleteFunc(events, func(e corev1.Event) bool {
		return e.Type != corev1.EventTypeWarning && !strings.HasPrefix(e.Reason, "Failed") || eventTime(&e).Before(oldest)
	})
	slices.SortStableFunc(events, func(a, b corev1.Event) int { return eventTime(&a).Compare(eventTime(&b)) })
	out := map[types.UID]string{}
	for _, e := range events {
		out[e.InvolvedObject.UID] = fmt.Sprintf("%s (%s ago): %s", e.Reason, now.Sub(eventTime(&e)).Round(time.Second), readiness.OneLine(e.Message))
	}
	return out, nil
}

// lastEvents renders the newest events, the last one last, each message once.
func lastEvents(events []corev1.Event, now time.Time) []string {
	slices.SortStableFunc(events, func(a, b corev1.Event) int { return eventTime(&a).Compare(eventTime(&b)) })
	seen := map[string]bool{}
	var out []string
	for _, e := range slices.Backward(events) {
		key := e.Reason + withoutSuffix(e.Message, e.InvolvedObject.Name)
		if seen[key] {
			continue
		}
		seen[key] = true
		times := ""
		if n := eventCount(&e); n > 1 {
			times = fmt.Sprintf(", %d times", n)
		}
		out = append(out, fmt.Sprintf("%s %s (%s %s ago%s): %s", e.Type, e.Reason, e.InvolvedObject.Kind+" "+e.InvolvedObject.Name,
			now.Sub(eventTime(&e)).Round(time.Second), times, strings.TrimSpace(e.Message)))
		if len(out) == maxEvents {
			break
		}
	}
	slices.Reverse(out)
	return out
}

func eventTime(e *corev1.Event) time.Time {
	switch {
	case e.Series != nil && !e.Series.LastObservedTime.IsZero():
		return e.Series.LastObservedTime.Time
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	case !e.EventTime.IsZero():
		return e.EventTime.Time
	default:
		return e.CreationTimestamp.Time
	}
}

func eventCount(e *corev1.Event) int32 {
	if e.Series != nil {
		return e.Series.Count
	}
	return e.Count
}

// logTail is the end of the log of a container that crashed: of the one that runs
// or ended last, else of the one before.
func (c *Client) logTail(ctx context.Context, namespace, pod, container string, d depth) string {
	for _, previous := range []string{"false", "true"} {
		if tail := c.readLog(ctx, namespace, pod, container, previous, d); tail != "" {
			return tail
		}
	}
	return ""
}

func (c *Client) readLog(ctx context.Context, namespace, pod, container, previous string, d depth) string {
	path, err := Ref{Resource: podResource, Namespace: namespace, Name: pod}.path("log")
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	res, err := c.send(ctx, request{
		doing: "reading the log of", object: "pod " + namespace + "/" + pod,
		method: http.MethodGet, path: path, accept: "text/plain, */*",
		query: url.Values{"container": {container}, "previous": {previous}, "tailLines": {fmt.Sprint(d.lines)}},
	})
	if err != nil {
		return ""
	}
	defer func() { _ = res.Body.Close() }()
	// A partial log is better than none.
	body, _ := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	return d.tail(string(body))
}

// tail keeps the last lines and bytes of a log.
func (d depth) tail(log string) string {
	log = strings.TrimRight(strings.ToValidUTF8(log, "?"), "\n")
	lines := strings.Split(log, "\n")
	if len(lines) > d.lines {
		lines = lines[len(lines)-d.lines:]
	}
	log = strings.Join(lines, "\n")
	if len(log) > d.bytes {
		log = "..." + strings.ToValidUTF8(log[len(log)-d.bytes+len("..."):], "")
	}
	return log
}
