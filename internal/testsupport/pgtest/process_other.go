//go:build !linux

package pgtest

import (
	"errors"
	"os"
	"syscall"
)

type credential struct{}

func unprivileged() (*credential, error) {
	if os.Geteuid() == 0 {
		return nil, errors.New("it does not run as root")
	}
	return nil, nil
}

func (c *credential) own(string) error { return nil }

func (c *credential) process() *syscall.SysProcAttr { return nil }

func keepThread() {}
