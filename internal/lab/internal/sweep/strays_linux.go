package sweep

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/process"
)

// strays are the programs of pods of a lab whose directory has gone: each works in a folder there, which was deleted, and
// has the path of one as an argument.
func strays(dir layout.Dir) []process.Record {
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		return nil
	}
	var found []process.Record
	for _, link := range links {
		at, err := os.Readlink(link)
		if err != nil || !strings.HasPrefix(at, string(dir)+"/") || !strings.HasSuffix(at, " (deleted)") {
			continue
		}
		arguments, err := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline"))
		if err != nil || !bytes.Contains(arguments, []byte("="+string(dir)+"/")) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link)))
		if err != nil {
			continue
		}
		if record, err := process.Of(pid); err == nil {
			found = append(found, record)
		}
	}
	return found
}
