// Package progress writes what running operations say, one line for each step, into a file or onto a terminal: the protocol of
// Terraform has no place for it.
package progress

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/printable"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// interval is how often an operation gets a line that is only a step. Waits say several in a second.
const interval = time.Second

// Lines writes lines. It is safe for concurrent use, and several processes can write into the same file.
type Lines struct {
	mu sync.Mutex
	w  io.Writer
	// bars draws a bar for a step that counts.
	bars bool
	// written is when each operation got its last line.
	written map[string]time.Time
}

// Open returns Lines for a file, which is made if it is not there, or for a terminal such as /dev/tty. It stays open as long as the
// process runs.
func Open(name string) (*Lines, error) {
	f, err := os.OpenFile(filepath.Clean(name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return newLines(f, st.Mode()&os.ModeCharDevice != 0), nil
}

func newLines(w io.Writer, bars bool) *Lines {
	return &Lines{w: w, bars: bars, written: map[string]time.Time{}}
}

// Write writes what an operation says: the time, the instance, the operation, the time since its start, and the step or the state that
// it has entered. Progress is for onlookers: an error of the file is none of the operation.
func (l *Lines) Write(p vnfm.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, op := time.Now(), p.Operation
	if p.Line != "" && now.Sub(l.written[op.ID]) < interval {
		return
	}
	l.written[op.ID] = now
	says := p.Line
	switch {
	case says == "" && op.Error != "":
		says = string(op.State) + ": " + op.Error
	case says == "":
		says = string(op.State)
	case l.bars:
		says = bar(says) + says
	}
	if says == "" {
		return
	}
	// One write for each line, so that lines of several processes do not mix.
	_, _ = fmt.Fprintf(l.w, "%s  %s  %s  %s  %s\n", now.Format(time.TimeOnly), p.Instance, op.Type, now.Sub(op.StartedAt).Round(time.Second),
		printable.Text(strings.Join(strings.Fields(says), " ")))
}

var counted = lazyregexp.New(`^(\d{1,6})/(\d{1,6}) `)

// cells is how wide a bar is.
const cells = 20

// bar draws how much of a step is done that begins with "3/5 "; nothing for other steps.
func bar(says string) string {
	m := counted.FindStringSubmatch(says)
	if m == nil {
		return ""
	}
	// The expression bounds the numbers.
	done, _ := strconv.Atoi(m[1])
	total, _ := strconv.Atoi(m[2])
	full := cells
	if total > 0 {
		full = min(cells, done*cells/total)
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat("-", cells-full) + "] "
}
