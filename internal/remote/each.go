package remote

import (
	"context"
	"errors"
	"sync"
)

// Each does something on many hosts, on at most bound of them at once, and joins the
// errors in the order of the hosts. One that fails does not keep the others from their
// turn; when ctx ends no more are begun. do names its host in its errors.
func Each[T any](ctx context.Context, bound int, hosts []T, do func(ctx context.Context, host T) error) error {
	errs := make([]error, len(hosts))
	turn := make(chan struct{}, max(bound, 1))
	var all sync.WaitGroup
	for i, host := range hosts {
		select {
		case turn <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			errs[i] = ctx.Err()
			break
		}
		all.Go(func() {
			defer func() { <-turn }()
			errs[i] = do(ctx, host)
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
