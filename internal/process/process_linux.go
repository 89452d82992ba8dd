package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
)

func thisProcess() (identity, bool) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return identity{}, false
	}
	ns, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return identity{}, false
	}
	_, start, err := processStat("self")
	if err != nil {
		return identity{}, false
	}
	return identity{boot: strings.TrimSpace(string(boot)), pidns: strings.Trim(strings.TrimPrefix(ns, "pid:"), "[]"), start: start}, true
}

// seesOwnNamespace reports whether /proc shows the PID namespace of this process: where nobody has mounted it again, it shows that of
// the parent, in which the same number is another process.
func seesOwnNamespace() bool {
	self, err := os.Readlink("/proc/self")
	return err == nil && self == strconv.Itoa(os.Getpid())
}

// lookUp reports whether the process of that number and start is gone, or runs. Neither means that it cannot be told.
func lookUp(pid int, start string) (gone, runs bool) {
	state, started, err := processStat(strconv.Itoa(pid))
	switch {
	case err == nil:
		// A killed process whose parent does not wait for it stays as a zombie.
		gone = started != start || state == "Z" || state == "X"
		return gone, !gone
	case errors.Is(err, fs.ErrNotExist):
		// With the mount option hidepid, /proc lacks the processes of other users.
		return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH), false
	default:
		return false, false
	}
}

// startOf is when a process has started; empty when that cannot be told.
func startOf(pid int) string {
	_, start, err := processStat(strconv.Itoa(pid))
	if err != nil {
		return ""
	}
	return start
}

// processStat returns the state and the start time of a process: the fields 3 and
// 22 of /proc/<pid>/stat (proc_pid_stat(5)). The second field is the name of the
// program and can hold blanks and parentheses.
func processStat(pid string) (state, start string, err error) {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if errors.Is(err, syscall.ESRCH) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return "", "", err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 {
		return "", "", fmt.Errorf("/proc/%s/stat has %d fields after the name, at least 20 expected", pid, len(fields))
	}
	return fields[0], fields[19], nil
}
