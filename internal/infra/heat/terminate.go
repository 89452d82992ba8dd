package heat

import (
	"context"
	"fmt"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// gracePeriod is how long servers have to end by themselves by default:
// Nova's own limit (shutdown_timeout).
const gracePeriod = 60 * time.Second

// Terminate deletes the stack with everything in it. A graceful end lets the systems on
// the servers shut down before. Volumes go with it unless they are to be kept, or the
// template keeps them by its own deletion_policy and the user does not set theirs.
func (d *Driver) Terminate(ctx context.Context, t *vnfm.Target, spec vnfm.TerminateSpec, r vnfm.Recorder) error {
	s, err := d.open(ctx, t, r)
	if err != nil {
		return err
	}
	stack, err := s.find(ctx)
	if err != nil {
		return err
	}
	if stack == nil {
		return s.releaseImages(ctx, nil)
	}
	if !isDeleting(stack) {
		if err := s.setVolumePolicy(ctx, spec.Volumes); err != nil {
			return err
		}
	}
	if spec.Type == vnfm.Graceful && !isDeleting(stack) {
		if err := s.shutDown(ctx, stack, spec.GracePeriod); err != nil {
			return err
		}
	}
	return s.delete(ctx, stack)
}

// deleteTries is how often a deletion that fails for a reason unknown to the driver is asked for.
const deleteTries = 2

// delete has Heat delete the stack. What a service says is still in use is free by and by, and is tried again as long as ctx lasts; a
// deletion that fails for another reason is tried once more, for Heat goes on with what it had not come to.
func (s *session) delete(ctx context.Context, stack *openstack.Stack) error {
	again := retries{untilEnd: true}
	for tries := 0; ; {
		token := s.client.Token()
		if err := s.client.DeleteStack(ctx, stack.Name, stack.ID); err != nil {
			return err
		}
		gone, err := s.awaitGone(ctx, stack)
		if err != nil {
			return err
		}
		if gone {
			return s.releaseImages(ctx, nil)
		}
		failed, err := s.client.StackByID(ctx, stack.Name, stack.ID)
		if err != nil || failed == nil {
			return err
		}
		failure := s.failure(ctx, failed)
		if again.next(ctx, s.retryReason(ctx, failure, token)) {
			s.progress(ctx, fmt.Sprintf("stack %s is not deleted yet, its deletion is asked for again: %v", stack.Name, failure))
			continue
		}
		if tries++; tries >= deleteTries || ctx.Err() != nil {
			return fmt.Errorf("deleting the stack: %w", failure)
		}
	}
}

func isDeleting(stack *openstack.Stack) bool {
	return stack.Status == "DELETE_IN_PROGRESS" || stack.Status == "DELETE_FAILED"
}

// shutDown stops the servers and waits for that as long as they are given. One that does
// not end goes with the stack.
func (s *session) shutDown(ctx context.Context, stack *openstack.Stack, limit time.Duration) error {
	if limit <= 0 {
		limit = gracePeriod
	}
	bounded, stop := context.WithTimeout(ctx, limit)
	defer stop()
	err := s.turn(bounded, stack, openstack.ServerShutoff, s.client.StopServer)
	if bounded.Err() != nil && ctx.Err() == nil {
		s.progress(ctx, fmt.Sprintf("not all servers have stopped within %s; they are deleted nevertheless", limit))
		return nil
	}
	if err != nil && ctx.Err() == nil {
		// A server in ERROR cannot be stopped, and needs not.
		s.progress(ctx, "deleting although not all servers could be stopped: "+err.Error())
		return nil
	}
	return err
}

// awaitGone waits until a stack is deleted, or its deletion has failed. Heat is asked again
// when it has stopped.
func (s *session) awaitGone(ctx context.Context, stack *openstack.Stack) (bool, error) {
	events := s.events(stack)
	gone := false
	err := waitUntil(ctx, func(ctx context.Context) (bool, error) {
		found, err := s.client.StackByID(ctx, stack.Name, stack.ID)
		if err != nil {
			return false, err
		}
		if gone = found == nil; gone || found.Status == "DELETE_FAILED" {
			return true, nil
		}
		events.report(ctx)
		if events.silent() {
			events = s.events(stack)
			return false, s.client.DeleteStack(ctx, stack.Name, stack.ID)
		}
		return false, nil
	})
	if err != nil && ctx.Err() != nil {
		return false, s.unfinished(ctx, stack, err)
	}
	return gone, err
}
