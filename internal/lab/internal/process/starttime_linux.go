package process

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

var errEnded = errors.New("the process has ended")

// startTime is the start of the process in clock ticks since boot: field 22 of /proc/<pid>/stat, proc(5).
func startTime(pid int) (string, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	// The second field is the program's name in parentheses and may contain both spaces and parentheses.
	_, rest, found := cutLast(string(data), ") ")
	fields := strings.Fields(rest)
	if !found || len(fields) < 20 {
		return "", fmt.Errorf("unexpected content of /proc/%d/stat", pid)
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
