package heat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The stack is looked at after a tenth of the time that has passed: what is done soon is
// noticed soon, and what takes long is asked for seldom. The number of requests does not
// depend on the size of the stack.
const (
	shortestPause = 250 * time.Millisecond
	longestPause  = 3 * time.Second
	pauseShare    = 10
	// progressPause is how often the progress is reported.
	progressPause = 2 * time.Second
	// silence is how long nothing may happen in a stack that Heat is at work on, until Heat is
	// asked again: an engine that ends forgets what it was at, and no other one goes on with
	// it. Where nothing was forgotten, asking again changes nothing.
	silence = 2 * time.Minute
)

// errSilent says that nothing has happened in a stack for as long as silence.
var errSilent = errors.New("no progress for " + silence.String())

// waitUntil calls look until it is done, with pauses that grow. An unreachable service is asked
// again as long as the operation has time: Heat goes on meanwhile.
func waitUntil(ctx context.Context, look func(ctx context.Context) (done bool, err error)) error {
	began := time.Now()
	var unreachable error
	for {
		done, err := look(ctx)
		switch {
		case ctx.Err() != nil:
			if unreachable != nil {
				return unreachable
			}
			return ctx.Err()
		case isPassing(err):
			unreachable = err
		case err != nil || done:
			return err
		default:
			unreachable = nil
		}
		// When ctx has ended, the next look says so.
		_ = poll.Sleep(ctx, min(max(time.Since(began)/pauseShare, shortestPause), longestPause))
	}
}

// isPassing reports whether a service may answer by and by.
func isPassing(err error) bool {
	return openstack.IsUnavailable(err)
}

// await waits until Heat has ended its work. A failure is a *stackError with the reason; at
// the end of the time the error says what Heat still works on; when Heat has stopped, the
// error is errSilent.
func (s *session) await(ctx context.Context, stack *openstack.Stack) error {
	events := s.events(stack)
	var last *openstack.Stack
	err := waitUntil(ctx, func(ctx context.Context) (bool, error) {
		found, err := s.client.StackByID(ctx, stack.Name, stack.ID)
		if err != nil {
			return false, err
		}
		if found == nil {
			last = nil
			return true, nil
		}
		last = found
		if !found.InProgress() {
			return true, nil
		}
		events.report(ctx)
		if events.silent() {
			return false, errSilent
		}
		return false, nil
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return s.unfinished(ctx, stack, err)
	case err != nil:
		return err
	case last == nil:
		return fmt.Errorf("stack %s was deleted during the wait", stack.Name)
	case last.Failed():
		return s.failure(ctx, last)
	default:
		return nil
	}
}

// outcome waits as await does, for what comes next whichever way it ends: it fails only
// when that cannot be known.
func (s *session) outcome(ctx context.Context, stack *openstack.Stack) error {
	err := s.await(ctx, stack)
	if errors.As(err, new(*stackError)) || errors.Is(err, errSilent) {
		return nil
	}
	return err
}

// eventReader tells the user what happens in a stack.
type eventReader struct {
	session   *session
	stack     *openstack.Stack
	last      string
	next      time.Time
	lastEvent time.Time
}

func (s *session) events(stack *openstack.Stack) *eventReader {
	return &eventReader{session: s, stack: stack, lastEvent: time.Now()}
}

func (e *eventReader) silent() bool { return time.Since(e.lastEvent) > silence }

func (e *eventReader) report(ctx context.Context) {
	if time.Now().Before(e.next) {
		return
	}
	e.next = time.Now().Add(progressPause)
	events, err := e.session.client.StackEvents(ctx, e.stack, e.last)
	if err != nil {
		// It is for onlookers; and unread events are not silence.
		e.lastEvent = time.Now()
		return
	}
	if len(events) == 0 {
		return
	}
	e.lastEvent = time.Now()
	latest := events[len(events)-1]
	e.last = latest.ID
	e.session.progress(ctx, fmt.Sprintf("Heat: %s of stack %s is %s", latest.Resource, e.stack.Name, latest.Status))
}

// stackError says that an action on a stack failed.
type stackError struct {
	stack   *openstack.Stack
	reasons []string
	// culprits are those of the resources that failed by themselves.
	resources []openstack.StackResource
	culprits  []*openstack.StackResource
}

func (e *stackError) Error() string {
	text := fmt.Sprintf("stack %s is %s", e.stack.Name, e.stack.Status)
	if len(e.reasons) == 0 {
		return text + ": " + e.stack.Reason
	}
	return text + ":\n" + strings.Join(e.reasons, "\n")
}

// maxReasons bounds how many resources an error tells of.
const maxReasons = 5

// failure says why the last action on a stack failed, in the words of its resources.
func (s *session) failure(ctx context.Context, stack *openstack.Stack) error {
	out := &stackError{stack: stack}
	resources, err := s.client.StackResources(ctx, stack)
	if err != nil {
		// The status of the stack itself is still true.
		return out
	}
	l := &live{stack: stack, resources: resources}
	out.resources, out.culprits = resources, culprits(stack, resources)
	for _, r := range out.culprits {
		out.reasons = append(out.reasons, fmt.Sprintf("%s %s is %s: %s%s", r.Type, l.pathOf(r), r.Status, r.Reason, hint(r.Reason)))
	}
	slices.Sort(out.reasons)
	if more := len(out.reasons) - maxReasons; more > 0 {
		out.reasons = append(out.reasons[:maxReasons], fmt.Sprintf("and %d more", more))
	}
	return out
}

// culprits are the resources that failed by themselves in the last action: those above them
// only repeat it, and what failed in an action before says nothing of this one, which may
// not have come to it. When nothing has failed since, all are reported.
func culprits(stack *openstack.Stack, resources []openstack.StackResource) []*openstack.StackResource {
	now := lowest(resources, func(r *openstack.StackResource) bool {
		return r.Failed() && !r.UpdatedAt.Before(stack.UpdatedAt.Time)
	})
	if len(now) > 0 {
		return now
	}
	return lowest(resources, (*openstack.StackResource).Failed)
}

// lowest are the chosen resources, without those that only hold others of them.
func lowest(resources []openstack.StackResource, chosen func(*openstack.StackResource) bool) []*openstack.StackResource {
	var out []*openstack.StackResource
	above := map[string]bool{}
	for i := range resources {
		if r := &resources[i]; chosen(r) {
			out = append(out, r)
			above[r.StackID()] = true
		}
	}
	return slices.DeleteFunc(out, func(r *openstack.StackResource) bool { return above[r.PhysicalID] })
}

// hint adds to a reason what to do, where it does not tell by itself: Heat takes the
// addresses from a port before it replaces it, which Neutron's default policy allows only
// to the owner of the network.
func hint(reason string) string {
	if strings.Contains(reason, "update_port:fixed_ips") {
		return "; Heat replaces a port that moves to another network, for which the project must own the network that the port leaves, or Neutron's policy update_port:fixed_ips must allow it"
	}
	return ""
}

// pathOf names a resource by those that it is in.
func (l *live) pathOf(r *openstack.StackResource) string {
	path := r.Name
	for range 10 {
		if r.StackID() == l.stack.ID {
			break
		}
		if r = l.holder(r.StackID()); r == nil {
			break
		}
		path = r.Name + "/" + path
	}
	return path
}

// cleanupLimit bounds what is still asked when the time of an operation is over, so that its
// error can say what was not ready.
const cleanupLimit = 10 * time.Second

// unfinished says what Heat was still at when the time was over.
func (s *session) unfinished(ctx context.Context, stack *openstack.Stack, cause error) error {
	late, stop := vnfm.CleanupContext(ctx, cleanupLimit)
	defer stop()
	resources, err := s.client.StackResources(late, stack)
	if err != nil {
		return fmt.Errorf("waiting for stack %s: %w", stack.Name, cause)
	}
	l := &live{stack: stack, resources: resources}
	var pending []string
	for _, r := range lowest(resources, func(r *openstack.StackResource) bool { return strings.HasSuffix(r.Status, "_IN_PROGRESS") }) {
		pending = append(pending, fmt.Sprintf("%s %s is %s", r.Type, l.pathOf(r), r.Status))
	}
	slices.Sort(pending)
	if more := len(pending) - maxReasons; more > 0 {
		pending = append(pending[:maxReasons], fmt.Sprintf("and %d more", more))
	}
	if len(pending) == 0 {
		return fmt.Errorf("waiting for stack %s: %w", stack.Name, cause)
	}
	return fmt.Errorf("waiting for stack %s: %w; Heat continues, its last state was:\n%s", stack.Name, cause, strings.Join(pending, "\n"))
}
