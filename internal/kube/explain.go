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
	// maxExplained bounds the objects whose events, pods and logs are read; the others have their
	// condition alone.
	maxExplained = 20
)

// depth is the level of detail of an explanation.
type depth struct {
	// lines and bytes bound the end of a log.
	lines, bytes int
	// all adds the conditions of objects, and the logs of containers that run but are not ready.
	all bool
}

var (
	// forError is for messages in a terminal, forReport for texts in a ticket.
	forError  = depth{lines: 10, bytes: 2 << 10}
	forReport = depth{lines: 50, bytes: 8 << 10, all: true}
)

// subject is an object to explain, as it was last seen.
type subject struct {
	ref     Ref
	obj     *unstructured.Unstructured
	verdict readiness.Verdict
}

// Explain returns the state of each object and its causes: the condition, the last events, the pods
// that are not ready, and the end of the logs of crashing containers. It reports everything that it
// finds within ctx and never fails.
func (c *Client) Explain(ctx context.Context, refs []Ref) []ObjectState {
	return c.explain(ctx, c.look(ctx, refs), forError)
}

// Report explains the objects that are not ready, in more detail than Explain.
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
			if d.all {
				out[i].Conditions = conditionLines(s.obj)
			}
			// Events of cluster-scoped objects are in the namespace default.
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

// conditionLines renders each condition of an object as one line.
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

// explainNamespace adds events, pods and logs to the objects of one namespace. No other goroutine
// writes the same indices, so out needs no lock. It takes one LIST of the pods, one of the events,
// one of the claims if a pod waits for one, and one of each kind between the objects and their
// pods.
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
	// Errors are ignored: without rights or time the diagnosis lacks details, but has the state of
	// each object.
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

// mayHavePods is false for the built-in kinds that never own pods.
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

// podState describes the trouble of a pod: the first container that crashed or cannot start, else
// the pod's own reason, else the first condition that is not met; and the unbound claims.
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

// containerTrouble distinguishes a container that crashes or cannot start (bad) from one that runs
// or is being started.
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

// crashing describes one crashing pod, for the progress of a wait.
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

// LastWarnings returns the newest warning about each object of a namespace, with one request. It
// ignores events before since. Some controllers report failures as normal events with a reason that
// begins with "Failed"; these count as warnings.
func (c *Client) LastWarnings(ctx context.Context, namespace string, since time.Time) (map[types.UID]string, error) {
	events, err := c.eventsOf(ctx, namespace, "")
	if err != nil {
		return nil, err
	}
	// Event times are whole seconds of the server's clock, whose offset is known to half a second.
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

// lastEvents renders the newest events in the order of time, each message once.
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

// logTail returns the end of a container's log: of the present run, else of the previous one.
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
