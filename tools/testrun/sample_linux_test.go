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

// What a unit starts counts as the unit's, also when the program has left the tree of its processes.
func TestSampler_classify(t *testing.T) {
	folder := t.TempDir()
	lab := filepath.Join(folder, "lab")
	for _, dir := range []string{lab, filepath.Join(lab, kindOpenStack), filepath.Join(folder, "unit")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	running := []*attempt{{dir: filepath.Join(folder, "unit")}}
	// The program itself is in none of the folders, which its command line names.
	s := &sampler{labs: []string{lab}, self: -1, seen: map[string]*sighting{}}
	for dir, want := range map[string]string{lab: kindKubernetes, filepath.Join(lab, kindOpenStack): kindOpenStack, running[0].dir: kindTests, os.TempDir(): kindOther} {
		command := exec.Command("sleep", "60")
		command.Dir, command.Env = dir, []string{envDir + "=" + dir}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		table := readProcesses()
		p := table[command.Process.Pid]
		// As if it had been adopted by the first process.
		p.parent = 1
		kind, owner := s.classify(p, "sleep", table, nil, running)
		if kind != want || (owner == running[0]) != (want == kindTests) {
			t.Errorf("a program in %s is of kind %s, want %s", dir, kind, want)
		}
		_ = command.Process.Kill()
		_ = command.Wait()
	}
}
