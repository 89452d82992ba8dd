package layout

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

const lockInterval = 50 * time.Millisecond

// Lock keeps every other command off the lab until the returned function is called. It waits for its turn until ctx ends.
func (d Dir) Lock(ctx context.Context) (unlock func(), err error) {
	for {
		unlock, err := d.tryLock()
		if err == nil {
			return unlock, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("locking %s: %w", d, err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for the command that has locked %s: %w", d, ctx.Err())
		case <-time.After(lockInterval):
		}
	}
}

func (d Dir) tryLock() (func(), error) {
	file, err := os.OpenFile(d.lockFile(), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	// `lab down` may have deleted the file between opening and locking it: such a lock would exclude nobody.
	locked, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	present, err := os.Stat(d.lockFile())
	if err != nil || !os.SameFile(locked, present) {
		return nil, errors.Join(fmt.Errorf("the lab was deleted meanwhile: %w", ErrNoLab), file.Close())
	}
	return func() { _ = file.Close() }, nil
}
