package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	line := "4711 (a (b) c) S 17 4711 4711 0 -1 4194560 1 2 3 4 150 50 7 8 20 0 1 0 987654 1 2 3\n"
	p, ok := parseStat(4711, []byte(line))
	want := processInfo{pid: 4711, parent: 17, name: "a (b) c", started: "987654", used: 2 * time.Second}
	if !ok || p != want {
		t.Errorf("got %+v, want %+v", p, want)
	}
	for _, broken := range []string{"", "1 (a", "1 (a) S 1"} {
		if _, ok := parseStat(1, []byte(broken)); ok {
			t.Errorf("%q is taken for a process", broken)
		}
	}
}

// Processes that a unit starts count as the unit's, also when they have left its process tree; a lab's services are
// those that the lab names, with what they start, independent of who started the lab.
func TestSampler_classify(t *testing.T) {
	lab, unit := t.TempDir(), &attempt{dir: t.TempDir()}
	write(t, filepath.Join(lab, "state.json"), `{"processes": {"etcd": {"pid": 100}}}`)
	if err := os.Mkdir(filepath.Join(lab, kindOpenStack), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(lab, kindOpenStack, "openstack.json"), `{"processes": {"nova": {"pid": 200}}}`)
	command := exec.Command("sleep", "60")
	command.Env = []string{envDir + "=" + unit.dir}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	// Linux shows the environment a moment after the program has started.
	for deadline := time.Now().Add(10 * time.Second); environment(command.Process.Pid, envDir) == "" && time.Now().Before(deadline); {
		<-time.After(time.Millisecond)
	}
	defer func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	}()
	s := &sampler{labs: []string{lab}, self: 1000, seen: map[string]*sighting{}, services: readServices([]string{lab})}
	table := map[int]processInfo{
		100: {pid: 100, parent: 1}, 101: {pid: 101, parent: 100}, 200: {pid: 200, parent: 300}, 201: {pid: 201, parent: 200},
		300: {pid: 300, parent: 1000}, 301: {pid: 301, parent: 300}, 1000: {pid: 1000, parent: 1}, 1001: {pid: 1001, parent: 1000},
		command.Process.Pid: {pid: command.Process.Pid, parent: 1},
	}
	for pid, want := range map[int]string{
		100: kindKubernetes, 101: kindKubernetes, 200: kindOpenStack, 201: kindOpenStack, 301: kindTests, 1001: kindCompilers, command.Process.Pid: kindTests,
	} {
		kind, owner := s.classify(table[pid], "go", table, map[int]*attempt{300: unit}, []*attempt{unit})
		if kind != want || (owner == unit) != (pid == command.Process.Pid) {
			t.Errorf("process %d is of kind %s, want %s", pid, kind, want)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
