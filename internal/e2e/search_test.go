//go:build unix

package e2e_test

import (
	"archive/zip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// place is where a secret could show up.
type place string

const (
	placeState   place = "state"
	placePlan    place = "plan"
	placeLog     place = "log"
	placeOutput  place = "output"
	placeStore   place = "store"
	placeCommand place = "command line"
	placeTrace   place = "trace"
	placeReport  place = "report"
)

// secret is a text that must not be found, but for the places that are allowed.
type secret struct {
	name    string
	forms   []string
	allowed []place
}

// search looks for secrets in everything that it is given.
type search struct {
	testing.TB
	secrets []secret

	mu sync.Mutex
	// searched counts the bytes by place, so that a search of nothing is noticed.
	searched map[place]int
	// found holds what was reported, so that each finding is reported once, and the
	// names of secrets that were found where they may be.
	found map[string]bool
}

func newSearch(t testing.TB) *search {
	return &search{TB: t, searched: map[place]int{}, found: map[string]bool{}}
}

func base64Of(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// add makes the search look for a text, as it is and as JSON and base64 carry it;
// of a text of several lines, for its longest line.
func (s *search) add(name, text string, allowed ...place) {
	s.Helper()
	if len(text) < 8 {
		s.Fatalf("%s is too short to be looked for", name)
	}
	forms := []string{text, base64Of(text)}
	// The middle of a base64 text is the same wherever the text begins in what
	// was encoded, up to a shift of two bytes.
	for shift := 1; shift < 3; shift++ {
		encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + text))
		forms = append(forms, encoded[4:len(encoded)-3])
	}
	if quoted, err := json.Marshal(text); err == nil {
		forms = append(forms, strings.Trim(string(quoted), `"`))
	}
	if strings.Contains(strings.TrimSpace(text), "\n") {
		lines := strings.Fields(text)
		slices.SortFunc(lines, func(a, b string) int { return len(b) - len(a) })
		// A kubeconfig repeats the CA certificate, which is not a secret; its keys
		// and tokens stand behind names that say so.
		parts := keysOf(text)
		if strings.Contains(text, "PRIVATE KEY") {
			parts = append(parts, lines[0])
		}
		if len(parts) == 0 {
			s.Fatalf("%s has no line that can be looked for", name)
		}
		forms = append(forms, parts...)
	}
	s.secrets = append(s.secrets, secret{name: name, forms: forms, allowed: allowed})
}

// keysOf returns the private parts of a kubeconfig.
func keysOf(kubeconfig string) []string {
	var out []string
	for line := range strings.Lines(kubeconfig) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if key == "client-key-data" || key == "token" {
			out = append(out, strings.Trim(value, `"`))
		}
	}
	return out
}

// text searches a text.
func (s *search) text(where place, what, text string) {
	s.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.searched[where] += len(text)
	for _, secret := range s.secrets {
		for _, form := range secret.forms {
			at := strings.Index(text, form)
			if at < 0 {
				continue
			}
			if slices.Contains(secret.allowed, where) {
				s.found[secret.name] = true
				break
			}
			finding := fmt.Sprintf("%s is in the %s", secret.name, where)
			if !s.found[finding] {
				s.found[finding] = true
				line := text[:at]
				line = line[strings.LastIndexByte(line, '\n')+1:]
				s.Errorf("%s: %s, after %q", finding, what, line[max(0, len(line)-300):])
			}
			break
		}
	}
}

// file searches a file.
func (s *search) file(where place, what, path string) {
	s.Helper()
	data, err := os.ReadFile(path)
	require.NoError(s, err)
	s.text(where, what, string(data))
}

// tree searches all files of a directory but the named ones.
func (s *search) tree(where place, dir string, but ...string) {
	s.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || slices.Contains(but, e.Name()) {
			return err
		}
		s.file(where, path, path)
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.Fatal(err)
	}
}

// zip searches the files of an archive.
func (s *search) zip(where place, what, path string) {
	s.Helper()
	archive, err := zip.OpenReader(path)
	require.NoError(s, err)
	defer func() { _ = archive.Close() }()
	for _, f := range archive.File {
		if strings.HasPrefix(f.Name, "tfconfig/") {
			continue // the configuration itself
		}
		r, err := f.Open()
		require.NoError(s, err)
		data, err := io.ReadAll(r)
		require.NoError(s, err)
		s.text(where, what+": "+f.Name, string(data))
	}
}

// commandInterval is how often command lines are read while terraform runs.
const commandInterval = 50 * time.Millisecond

// watchCommands searches the command lines of a terraform and of its children
// until the returned function is called.
func (s *search) watchCommands(run *running) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(commandInterval)
		defer tick.Stop()
		for {
			for _, pid := range append(children(run.cmd.Process.Pid), run.cmd.Process.Pid) {
				line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
				if err == nil {
					s.text(placeCommand, "process", string(line))
				}
			}
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// control checks that the secrets that may be somewhere were found there: a search
// that finds nothing at all shows nothing.
func (s *search) control() {
	s.Helper()
	for _, secret := range s.secrets {
		if len(secret.allowed) > 0 && !s.found[secret.name] {
			s.Errorf("%s was found nowhere, not even in the %v", secret.name, secret.allowed)
		}
	}
}

// report checks that something was searched in every place.
func (s *search) report(places []place) {
	s.Helper()
	for _, p := range places {
		s.Logf("%s: %d bytes searched", p, s.searched[p])
		if s.searched[p] == 0 {
			s.Errorf("nothing was searched in the %s", p)
		}
	}
}
