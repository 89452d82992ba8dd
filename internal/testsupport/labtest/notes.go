package labtest

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// envNotes names a folder in which the tests of a process note which labs they use and what they wait for. The test runner
// reads it: processor time of a lab's services is shared among its users, and a process that waits for another test makes
// room for a further one. Without the variable nothing is noted.
const envNotes = "VNF_TEST_DIR"

// notes guards the files of the folder.
var notes struct {
	sync.Mutex
	waiting int
}

// noteUse notes that the process uses a lab of a kind, "kubernetes" or "openstack".
func noteUse(kind string) { writeNote("uses."+kind, os.O_CREATE|os.O_TRUNC, "") }

// noteWait notes that a test waits for another one, until the function that it returns is called.
func noteWait(what string) (done func()) {
	notes.Lock()
	defer notes.Unlock()
	began := time.Now()
	if notes.waiting++; notes.waiting == 1 {
		writeNote("waiting", os.O_CREATE|os.O_TRUNC, "")
	}
	return func() {
		notes.Lock()
		defer notes.Unlock()
		if notes.waiting--; notes.waiting == 0 {
			if dir := os.Getenv(envNotes); dir != "" {
				_ = os.Remove(filepath.Join(dir, "waiting")) //nolint:gosec // a folder of the test runner
			}
		}
		noteTime(what, time.Since(began))
	}
}

// noteTime notes how long a test has waited for something.
func noteTime(what string, d time.Duration) {
	writeNote("waits", os.O_CREATE|os.O_APPEND, fmt.Sprintf("%.3f %s\n", d.Seconds(), what))
}

// writeNote is best effort: a report that lacks a line is no reason for a test to fail.
func writeNote(name string, mode int, text string) {
	dir := os.Getenv(envNotes)
	if dir == "" {
		return
	}
	file, err := os.OpenFile(filepath.Join(dir, name), mode|os.O_WRONLY, 0o600) //nolint:gosec // a folder of the test runner
	if err != nil {
		return
	}
	_, _ = file.WriteString(text)
	_ = file.Close()
}
