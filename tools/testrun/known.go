package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// known is what earlier runs took: the file of the repository for a machine that has not run the tests yet, and what this
// machine remembers of its own last run.
type known struct {
	tests map[string]map[string]time.Duration
	// last is how long the same selection took as a whole, 0 when it is not known.
	last time.Duration
}

// unknownTest is what is assumed of a test that nobody timed.
const unknownTest = time.Second

func (k known) total(pkg string) time.Duration {
	sum := unknownTest
	for _, d := range k.tests[pkg] {
		sum += d
	}
	return sum
}

func (k known) put(pkg, test string, d time.Duration) {
	if k.tests[pkg] == nil {
		k.tests[pkg] = map[string]time.Duration{}
	}
	k.tests[pkg][test] = d
}

// loadKnown reads the file of the repository, with a line `SECONDS PACKAGE TEST` for each test that takes long, and over it
// what this machine remembers.
func loadKnown(path, selection string) (known, error) {
	k := known{tests: map[string]map[string]time.Duration{}}
	err := eachLine(path, func(fields []string) error {
		if len(fields) != 3 {
			return errors.New("want SECONDS PACKAGE TEST")
		}
		seconds, err := strconv.ParseFloat(fields[0], 64)
		if err != nil {
			return err
		}
		k.put(fields[1], fields[2], time.Duration(seconds*float64(time.Second)))
		return nil
	})
	if err != nil {
		return k, err
	}
	m := memory{}
	if data, err := os.ReadFile(memoryPath()); err == nil && json.Unmarshal(data, &m) == nil {
		k.last = time.Duration(m.Totals[selection] * float64(time.Second))
	}
	return k, nil
}

// memory is what a machine remembers between runs.
type memory struct {
	// Totals are the seconds of whole runs by what was selected.
	Totals map[string]float64 `json:"totals"`
}

// memoryPath is a file in the user's cache folder. Without one nothing is remembered.
func memoryPath() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "terraform-provider-vnf", "test-times.json")
}

// remember notes how long a whole run took. A machine that keeps nothing loses the estimate of the next run alone.
func remember(selection string, took time.Duration) error {
	path := memoryPath()
	if path == "" {
		return nil
	}
	m := memory{}
	if data, err := os.ReadFile(path); err == nil {
		_ = json.Unmarshal(data, &m)
	}
	if m.Totals == nil {
		m.Totals = map[string]float64{}
	}
	m.Totals[selection] = took.Round(time.Second).Seconds()
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

// eachLine hands over the fields of each line of a file that is neither empty nor a comment. A missing file has none.
func eachLine(path string, take func(fields []string) error) error {
	file, err := os.Open(path) //nolint:gosec // A file of the repository.
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if err := take(fields); err != nil {
			return fmt.Errorf("%s:%d: %w", path, number, err)
		}
	}
	return lines.Err()
}
