// Package killtest says how many kills a test makes and at which instants. A test that
// kills an operation at an instant of its own choice cannot try all instants in every run:
// it takes a few, others in every commit, and as many as KILLS says in a soak.
//
//	KILLS      how many kills a test makes of each operation; without it a few, which the
//	           test names. `make soak KILLS=1000` runs the kill tests alone.
//	TEST_SEED  what the instants follow from, any text. scripts/test sets it to the commit;
//	           without it the time is taken. Each test logs it, so that a failure can be
//	           repeated.
//
// Each test logs one line for each operation when it ends, which scripts/soak makes a table
// of: "soak: TEST OPERATION KILLS MET FAILURES SECONDS".
package killtest

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The environment variables, see the package.
const (
	EnvKills = "KILLS"
	EnvSeed  = "TEST_SEED"
)

// seed is that of the whole process.
var seed = sync.OnceValue(func() string {
	if text := os.Getenv(EnvSeed); text != "" {
		return text
	}
	return strconv.FormatInt(time.Now().UnixNano(), 10)
})

// Sampler chooses the instants of one test, for one goroutine, and counts its kills, which
// may be those of parallel sub-tests.
type Sampler struct {
	*rand.Rand

	t testing.TB
	// kills is what EnvKills says, 0 without it.
	kills int

	mu      sync.Mutex
	order   []string
	tallies map[string]*tally
}

// tally counts the kills of an operation.
type tally struct {
	kills, met, failures int
	took                 time.Duration
}

// New returns the sampler of a test. Tests of other names have other instants, so that one
// that is run alone chooses what it chose among all.
func New(t testing.TB) *Sampler {
	t.Helper()
	s := &Sampler{
		Rand: rand.New(rand.NewChaCha8(sha256.Sum256([]byte(seed() + "\n" + t.Name())))), //nolint:gosec // instants, not secrets
		t:    t, tallies: map[string]*tally{},
	}
	if text := os.Getenv(EnvKills); text != "" {
		kills, err := strconv.Atoi(text)
		require.NoError(t, err)
		require.GreaterOrEqual(t, kills, 1, "%s is %q, and must be a positive number", EnvKills, text)
		s.kills = kills
	}
	t.Logf("the instants follow from the seed: %s=%s", EnvSeed, seed())
	t.Cleanup(s.report)
	return s
}

// Soak tells that the number of kills was given: the test has all the time it needs.
func (s *Sampler) Soak() bool { return s.kills > 0 }

// Kills is how many kills to make of each operation: so few, unless EnvKills says how many.
func (s *Sampler) Kills(few int) int {
	if s.Soak() {
		return s.kills
	}
	return few
}

// Of chooses among so many instants, numbered from 0: a few, or as many as EnvKills says, in
// their order and none twice. The first and the last are among them when there is more than
// one to choose.
func (s *Sampler) Of(instants, few int) []int {
	kills := min(s.Kills(few), instants)
	if kills == instants || kills < 2 {
		chosen := s.Perm(instants)[:kills]
		slices.Sort(chosen)
		return chosen
	}
	chosen := []int{0, instants - 1}
	for _, n := range s.Perm(instants - 2)[:kills-2] {
		chosen = append(chosen, n+1)
	}
	slices.Sort(chosen)
	return chosen
}

// Begin counts a kill of an operation in a test, the sampler's own or a sub-test of it. The
// function that it returns ends it, when what follows the kill was looked at.
func (s *Sampler) Begin(t testing.TB, operation string) (end func()) {
	t.Helper()
	s.count(operation, func(t *tally) { t.kills++ })
	began, failed := time.Now(), t.Failed()
	return func() {
		s.count(operation, func(counted *tally) {
			counted.took += time.Since(began)
			if !failed && t.Failed() {
				counted.failures++
			}
		})
	}
}

// Met notes that a kill of an operation met it at work.
func (s *Sampler) Met(operation string) { s.count(operation, func(t *tally) { t.met++ }) }

func (s *Sampler) count(operation string, change func(*tally)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tallies[operation] == nil {
		s.tallies[operation] = &tally{}
		s.order = append(s.order, operation)
	}
	change(s.tallies[operation])
}

// report logs a line for each operation.
func (s *Sampler) report() {
	for _, operation := range s.order {
		s.t.Log(s.line(operation))
	}
}

func (s *Sampler) line(operation string) string {
	t := s.tallies[operation]
	return fmt.Sprintf("soak: %s %s %d %d %d %.1f",
		word(s.t.Name()), word(operation), t.kills, t.met, t.failures, t.took.Seconds())
}

// word is a text without the spaces that part the columns of a line.
func word(text string) string { return strings.Join(strings.Fields(text), "_") }
