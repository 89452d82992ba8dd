package process

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

var errEnded = errors.New("the process has ended")

// stat reads the fields of /proc/<pid>/stat from the third on, proc(5).
func stat(pid int) ([]string, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	// The second field is the program's name in parentheses and may contain both spaces and parentheses.
	_, rest, found := cutLast(string(data), ") ")
	fields := strings.Fields(rest)
	if !found || len(fields) < 20 {
		return nil, fmt.Errorf("unexpected content of /proc/%d/stat", pid)
	}
	return fields, nil
}

// ending tells whether a process has begun to end, which its children hold up where it is the first one of a namespace: the
// kernel's flag PF_EXITING, in field 9.
func ending(pid int) bool {
	fields, err := stat(pid)
	if err != nil {
		return false
	}
	const exiting = 0x4
	flags, err := strconv.ParseUint(fields[6], 10, 64)
	return err == nil && flags&exiting != 0
}

// startTime is the start of the process in clock ticks since boot: field 22.
func startTime(pid int) (string, error) {
	fields, err := stat(pid)
	if err != nil {
		return "", err
	}
	if state := fields[0]; (state == "Z" || state == "X") && !threadsLeft(pid) {
		return "", errEnded
	}
	return fields[19], nil
}

// threadsLeft tells whether a process whose first thread has ended has others that have not: they still hold its files
// and ports.
func threadsLeft(pid int) bool {
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	return err == nil && len(threads) > 1
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
