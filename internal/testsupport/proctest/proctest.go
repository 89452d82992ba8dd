// Package proctest ends processes that tests have not started themselves.
package proctest

import (
	"errors"
	"os"
)

// Kill ends a process at once. One that has ended already is success.
func Kill(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	if err := p.Kill(); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}
