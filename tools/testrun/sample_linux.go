package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of processor time in /proc, which is the same on all Linux systems that Go supports.
const tick = time.Second / 100

// process is what /proc says of a process.
type processInfo struct {
	pid, parent int
	name        string
	started     string
	used        time.Duration
}

// readProcesses lists the processes of the machine.
func readProcesses() map[int]processInfo {
	out := map[int]processInfo{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return out
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		data, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err != nil {
			continue // it has ended
		}
		if p, ok := parseStat(pid, data); ok {
			out[pid] = p
		}
	}
	return out
}

// parseStat reads a line of /proc/PID/stat: the name stands in parentheses and may hold any character.
func parseStat(pid int, data []byte) (processInfo, bool) {
	open, closing := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if open < 0 || closing < open {
		return processInfo{}, false
	}
	fields := strings.Fields(string(data[closing+1:]))
	if len(fields) < 20 {
		return processInfo{}, false
	}
	parent, _ := strconv.Atoi(fields[1])
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return processInfo{
		pid: pid, parent: parent, name: string(data[open+1 : closing]), started: fields[19],
		used: time.Duration(user+system) * tick,
	}, true
}

// pythonProgram finds the program in a line of Python that sets its name.
var pythonProgram = regexp.MustCompile(`sys\.argv = \['([^']+)'`)

// programOf is the name of the program of a process: that of the script for an interpreter, that of the linked-in program
// for the lab.
func programOf(p processInfo) string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/cmdline")
	if err != nil || len(data) == 0 {
		return p.name
	}
	args := strings.Split(strings.TrimRight(string(data), "\x00"), "\x00")
	name := filepath.Base(strings.Fields(args[0] + " -")[0])
	switch {
	case name == "lab" && len(args) > 2 && args[1] == "run":
		return args[2]
	case name == "lab" && len(args) > 1:
		return "lab " + args[1]
	case strings.HasPrefix(name, "python") && len(args) > 1:
		if m := pythonProgram.FindStringSubmatch(string(data)); m != nil {
			return m[1]
		}
		for _, arg := range args[1:] {
			if !strings.HasPrefix(arg, "-") {
				return filepath.Base(arg)
			}
		}
	case strings.HasPrefix(name, "uwsgi"):
		for _, arg := range args[1:] {
			if strings.Contains(arg, "wsgi") && strings.HasPrefix(arg, "/") {
				return filepath.Base(arg)
			}
		}
	}
	return name
}

// names tells whether a process has a folder in its arguments.
func names(pid int, folder string) bool {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return err == nil && bytes.Contains(data, []byte(folder+"/"))
}

// environment is the value that a process was given for a variable.
func environment(pid int, name string) string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return ""
	}
	for entry := range strings.SplitSeq(string(data), "\x00") {
		if value, found := strings.CutPrefix(entry, name+"="); found {
			return value
		}
	}
	return ""
}

// readProcessors is the time that all processors together have spent, how much of it with work, and how much of this with
// work that gives way to other work (processes with a nice value).
func readProcessors() (all, busy, yielding time.Duration) {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0, 0
	}
	line, _, _ := strings.Cut(string(data), "\n")
	fields := strings.Fields(line)
	for i, field := range fields {
		value, err := strconv.Atoi(field)
		if i == 0 || i > 8 || err != nil {
			continue // the name, and guests, who are counted as users too
		}
		all += time.Duration(value) * tick
		if i != 4 && i != 5 { // idle, and waiting for a disk
			busy += time.Duration(value) * tick
		}
		if i == 2 {
			yielding = time.Duration(value) * tick
		}
	}
	return all, busy, yielding
}

// availableMemory is how many bytes programs can have without swapping.
func availableMemory() uint64 {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "MemAvailable:" {
			kib, _ := strconv.ParseUint(fields[1], 10, 64)
			return kib << 10
		}
	}
	return 0
}
