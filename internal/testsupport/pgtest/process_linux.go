package pgtest

import (
	"errors"
	"os"
	"os/user"
	"runtime"
	"strconv"
	"syscall"
)

// credential is the user as whom the server runs: PostgreSQL refuses root. It is nil for the
// user of the test.
type credential struct{ uid, gid int }

func unprivileged() (*credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(u.Uid)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.Atoi(u.Gid)
		return &credential{uid: uid, gid: gid}, err
	}
	return nil, errors.New("there is no user postgres or nobody, and it does not run as root")
}

// own gives a file to the user.
func (c *credential) own(path string) error {
	if c == nil {
		return nil
	}
	return os.Chown(path, c.uid, c.gid)
}

// process ends with this process, also when that is killed.
func (c *credential) process() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
	if c != nil {
		attr.Credential = &syscall.Credential{Uid: uint32(c.uid), Gid: uint32(c.gid)} //nolint:gosec // Ids of the system.
	}
	return attr
}

// keepThread keeps a goroutine on its thread, with which the process that it starts ends.
func keepThread() { runtime.LockOSThread() }
