package store

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Holder names this process as the holder of a lease, so that everybody who reads
// the name knows which process it is, and the same machine can tell whether it
// still runs: "pid=<pid> host=<name> boot=<boot id> pidns=<namespace>
// start=<ticks>". The last three are known on Linux only.
func Holder() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "unknown"
	}
	name := fmt.Sprintf("pid=%d host=%s", os.Getpid(), strings.Join(strings.Fields(host), "-"))
	p, ok := thisProcess()
	if !ok {
		return name
	}
	return fmt.Sprintf("%s boot=%s pidns=%s start=%s", name, p.boot, p.pidns, p.start)
}

// HolderDead reports whether the process that Holder named is known to be dead:
// it ran on this machine since its last boot, in the same PID namespace, and is
// gone or another process has its number. False says nothing.
func HolderDead(holder string) bool {
	fields := map[string]string{}
	for _, f := range strings.Fields(holder) {
		k, v, _ := strings.Cut(f, "=")
		fields[k] = v
	}
	pid, err := strconv.Atoi(fields["pid"])
	if err != nil || pid <= 0 || fields["start"] == "" {
		return false
	}
	own, ok := thisProcess()
	if !ok || own.boot != fields["boot"] || own.pidns != fields["pidns"] {
		return false
	}
	return processGone(pid, fields["start"])
}

// process is what tells a process from all others of the machine, with its pid.
type process struct {
	// boot changes with every start of the machine.
	boot string
	// pidns is the PID namespace: the same number is another process in another
	// container.
	pidns string
	// start is the time of the process's start in clock ticks since boot: numbers
	// of processes are used again.
	start string
}
