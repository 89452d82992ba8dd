package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The kinds of processes that processor time is counted by.
const (
	kindKubernetes = "kubernetes"
	kindOpenStack  = "openstack"
	kindCompilers  = "compilers"
	kindTests      = "tests"
	kindOther      = "other"
)

// sampler reads what the processes of the machine use while tests run. It belongs to the loop of the session alone.
type sampler struct {
	labs []string
	self int

	// idle is the part of the processors' time without work that would not give way, of each of the last samples.
	idle []float64
	// all and busy are what the processors have spent since the sampler began.
	all, busy time.Duration
	// programs is the processor time by kind and program.
	programs map[string]map[string]time.Duration

	seen     map[string]*sighting
	services map[int]string
	lastTime time.Time
	lastAll  time.Duration
	lastBusy time.Duration
	// lastYielding is the time with work that gives way.
	lastYielding time.Duration
}

// sighting is what the sampler remembers of a process.
type sighting struct {
	used          time.Duration
	kind, program string
	name          string
	owner         *attempt
	generation    int
}

// samples is how many samples the idle time is averaged over.
const samples = 3

// period is the time between two samples.
const period = time.Second

func newSampler(labs []string, self int) *sampler {
	s := &sampler{labs: labs, self: self, programs: map[string]map[string]time.Duration{}, seen: map[string]*sighting{}}
	s.lastAll, s.lastBusy, s.lastYielding = readProcessors()
	s.lastTime = time.Now()
	// Processes that ran before count from now on.
	s.sample(nil)
	s.programs = map[string]map[string]time.Duration{}
	return s
}

// idleNow is the part of the processors' time in the last seconds that a test could have; 0 when it is not known.
func (s *sampler) idleNow() float64 {
	if len(s.idle) < samples {
		return 0
	}
	sum := 0.0
	for _, each := range s.idle {
		sum += each
	}
	return sum / float64(len(s.idle))
}

// sample takes one sample for the units that run.
func (s *sampler) sample(running []*attempt) {
	now := time.Now()
	passed := now.Sub(s.lastTime)
	s.lastTime = now
	all, busy, yielding := readProcessors()
	if step := all - s.lastAll; step > 0 {
		s.idle = append(s.idle, 1-float64(busy-s.lastBusy-(yielding-s.lastYielding))/float64(step))
		s.idle = s.idle[max(0, len(s.idle)-samples):]
		s.all += step
		s.busy += busy - s.lastBusy
	}
	s.lastAll, s.lastBusy, s.lastYielding = all, busy, yielding

	table := readProcesses()
	s.services = readServices(s.labs)
	owners := map[int]*attempt{}
	for _, a := range running {
		if pid := a.pid(); pid != 0 {
			owners[pid] = a
		}
	}
	spent := map[string]time.Duration{}
	for _, p := range table {
		if p.pid == 2 || p.parent == 2 {
			continue // the kernel's own
		}
		s.follow(p, table, owners, running, spent)
	}
	for _, kind := range []string{kindKubernetes, kindOpenStack} {
		share(running, kind, spent[kind])
	}
	for _, a := range running {
		a.see(table, owners, passed)
	}
	for key, known := range s.seen {
		if known.generation++; known.generation > 1 {
			delete(s.seen, key)
		}
	}
}

// follow counts what a process has used since the last sample.
func (s *sampler) follow(p processInfo, table map[int]processInfo, owners map[int]*attempt, running []*attempt, spent map[string]time.Duration) {
	known := s.seen[keyOf(p)]
	if known == nil {
		known = &sighting{name: p.name, program: programOf(p)}
		known.kind, known.owner = s.classify(p, known.program, table, owners, running)
		s.seen[keyOf(p)] = known
	} else if known.owner == nil && (known.kind == kindTests || known.kind == kindOther) {
		// A process of a unit may turn out to be a service of a lab, or leave the unit.
		if kind := s.above(p, known.program, table, owners); kind != "" {
			known.kind = kind
		} else if known.kind == kindTests {
			known.kind, known.owner = s.classify(p, known.program, table, owners, running)
		}
	}
	if known.name != p.name {
		known.name, known.program = p.name, programOf(p)
	}
	known.generation = -1
	step := p.used - known.used
	known.used = p.used
	if step <= 0 {
		return
	}
	if s.programs[known.kind] == nil {
		s.programs[known.kind] = map[string]time.Duration{}
	}
	s.programs[known.kind][known.program] += step
	spent[known.kind] += step
	if a := owners[p.pid]; a != nil {
		a.own = p.used
	} else if known.owner != nil {
		known.owner.services += step
	}
}

// classify says what a process belongs to: by its ancestors or, where a program has detached itself, by the folder of a lab
// in its arguments or by the environment of a unit.
func (s *sampler) classify(p processInfo, program string, table map[int]processInfo, owners map[int]*attempt, running []*attempt) (string, *attempt) {
	if kind := s.above(p, program, table, owners); kind != "" {
		return kind, nil
	}
	for _, lab := range s.labs {
		switch {
		case names(p.pid, filepath.Join(lab, kindOpenStack)):
			return kindOpenStack, nil
		case names(p.pid, lab):
			return kindKubernetes, nil
		}
	}
	for _, a := range running {
		if environment(p.pid, envDir) == a.dir {
			return kindTests, a
		}
	}
	if parent, ok := table[p.parent]; ok && parent.pid > 1 {
		if known := s.seen[keyOf(parent)]; known != nil {
			return known.kind, known.owner
		}
		return s.classify(parent, program, table, owners, running)
	}
	return compilerOr(program, kindOther), nil
}

// above is the kind of a process by what has started it: a service of a lab, wherever that was started, a unit, or this
// program.
func (s *sampler) above(p processInfo, program string, table map[int]processInfo, owners map[int]*attempt) string {
	for at, ok := p, true; ok && at.pid > 1; at, ok = table[at.parent], at.parent > 1 {
		switch kind := s.services[at.pid]; {
		case kind != "":
			return kind
		case owners[at.pid] != nil:
			return kindTests
		case at.pid == s.self:
			return compilerOr(program, kindOther)
		}
	}
	return ""
}

// readServices reads which processes the labs say are theirs.
func readServices(labs []string) map[int]string {
	services := map[int]string{}
	for _, lab := range labs {
		for pattern, kind := range map[string]string{"state.json": kindKubernetes, "*/state.json": kindKubernetes, "*/openstack.json": kindOpenStack} {
			files, _ := filepath.Glob(filepath.Join(lab, pattern))
			for _, file := range files {
				var state struct {
					Processes map[string]struct {
						PID int `json:"pid"`
					} `json:"processes"`
				}
				data, err := os.ReadFile(file) //nolint:gosec // A file of the lab.
				if err != nil || json.Unmarshal(data, &state) != nil {
					continue
				}
				for _, process := range state.Processes {
					services[process.PID] = kind
				}
			}
		}
	}
	return services
}

// keyOf names a process: identifiers come again.
func keyOf(p processInfo) string { return p.started + "/" + itoa(p.pid) }

func compilerOr(program, other string) string {
	switch program {
	case "go", "compile", "link", "asm", "cgo", "gcc", "cc1", "vet":
		return kindCompilers
	default:
		return other
	}
}

// share parts what the programs of a lab used equally among the running units that use it.
func share(running []*attempt, kind string, spent time.Duration) {
	var users []*attempt
	for _, a := range running {
		if a.uses(kind) {
			users = append(users, a)
		}
	}
	for _, a := range users {
		a.services += spent / time.Duration(len(users))
	}
}

// see notes which programs the unit has running.
func (a *attempt) see(table map[int]processInfo, owners map[int]*attempt, passed time.Duration) {
	mine := map[string]bool{}
	for _, p := range table {
		if owners[p.pid] != nil {
			continue
		}
		for at, ok := p, true; ok && at.pid > 1; at, ok = table[at.parent], at.parent > 1 {
			if owners[at.pid] == a {
				mine[waitName(p)] = true
				break
			}
		}
	}
	for name := range mine {
		if a.present == nil {
			a.present = map[string]time.Duration{}
		}
		a.present[name] += passed
	}
}

// waitName groups the programs that a test waits for.
func waitName(p processInfo) string {
	switch {
	case compilerOr(p.name, "") != "":
		return kindCompilers
	case strings.HasPrefix(p.name, "lab-kubectl"):
		return "kubectl"
	case strings.HasPrefix(p.name, "ansible"):
		return "ansible"
	default:
		return p.name
	}
}
