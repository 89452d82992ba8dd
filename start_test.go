package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the initialisation of packages may allocate, in bytes: one of the project, and all together. Terraform starts the provider several
// times for each command, and a KiB is a microsecond or two of each start.
const (
	mayAllocate    = 32 << 10
	mayAllocateAll = 6 << 20
	ownPackages    = "github.com/nfv-iac/terraform-provider-vnf/"
)

// initialised is a line of the runtime's trace: init <package> @1.2 ms, 0.034 ms clock, 5678 bytes, 90 allocs.
var initialised = regexp.MustCompile(`^init (\S+) @.* (\d+) bytes, \d+ allocs$`)

// TestStartAllocatesLittle limits what the initialisation of packages allocates. Regular expressions are compiled at their first use, see
// lazyregexp.
func TestStartAllocatesLittle(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^$") //nolint:gosec // the test binary itself
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace bytes.Buffer
	cmd.Stderr = &trace
	require.NoError(t, cmd.Run())
	own, all := 0, 0
	for lines := bufio.NewScanner(&trace); lines.Scan(); {
		found := initialised.FindStringSubmatch(lines.Text())
		if found == nil {
			continue
		}
		size, err := strconv.Atoi(found[2])
		require.NoError(t, err)
		all += size
		if strings.HasPrefix(found[1], ownPackages) {
			own++
			if size > mayAllocate {
				t.Errorf("the initialisation of %s allocates %d bytes, more than %d", found[1], size, mayAllocate)
			}
		}
	}
	require.NotZero(t, own, "the trace names no package of the project")
	if all > mayAllocateAll {
		t.Errorf("the initialisation of all packages allocates %d bytes, more than %d: GODEBUG=inittrace=1 says which", all, mayAllocateAll)
	}
	t.Logf("%d packages of the project; all allocate %d bytes", own, all)
}
