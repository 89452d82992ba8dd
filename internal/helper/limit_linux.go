package helper

import (
	"os"
	"strconv"
	"syscall"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
)

// slack is what the runtime asks for ahead of its use, in bytes.
const slack = 256 << 20

var dataSize = lazyregexp.New(`(?m)^VmData:\s+(\d+) kB$`)

// limitMemory has the system refuse an allocation that goes far past the limit before anybody can look at it
// (RLIMIT_DATA, getrlimit(2)). A limit that cannot be set is left to the watch.
func limitMemory(limit int64) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return
	}
	var now uint64
	if found := dataSize.FindSubmatch(status); found != nil {
		kib, _ := strconv.ParseUint(string(found[1]), 10, 64)
		now = kib << 10
	}
	var set syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_DATA, &set) != nil {
		return
	}
	set.Cur = min(set.Max, now+uint64(limit)+slack) //nolint:gosec // no limit is negative
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &set)
}
