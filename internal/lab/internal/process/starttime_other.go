//go:build !linux

package process

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

var errEnded = errors.New("the process has ended")

// ending tells whether a process has begun to end. This system does not say so.
func ending(int) bool { return false }

// startTime is the start of the process as ps prints it, to the second.
func startTime(pid int) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "ps", "-o", "stat=,lstart=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return "", fmt.Errorf("asking ps about process %d: %w", pid, err)
	}
	state, started, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if strings.HasPrefix(state, "Z") {
		return "", errEnded
	}
	return strings.TrimSpace(started), nil
}
