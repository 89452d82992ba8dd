//go:build unix

package labtest

import (
	"context"
	"os"
	"syscall"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
)

// lockFile waits for the lock of one of some files, which the operating system gives
// back when the process ends in whatever way.
func lockFile(ctx context.Context, paths ...string) (unlock func(), err error) {
	for {
		for _, path := range paths {
			f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // a path of the lab
			if err != nil {
				return nil, err
			}
			if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
				return func() { _ = f.Close() }, nil
			}
			_ = f.Close()
		}
		if err := poll.Sleep(ctx, 50*time.Millisecond); err != nil {
			return nil, err
		}
	}
}
