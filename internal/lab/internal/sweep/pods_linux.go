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

// users are the processes that the owner of a lab has started to use it, and what these have started: scripts/with-lab says
// so in their environment. They belong to nobody when it has been killed.
func users(entry layout.Entry) []process.Record {
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil
	}
	var found []process.Record
	for _, file := range files {
		environment, err := os.ReadFile(file)
		if err != nil || !set(environment, "VNF_LAB_DIR", string(entry.Dir)) || !set(environment, "VNF_LAB_OWNER", strconv.Itoa(entry.Owner.PID)) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		if record, err := process.Of(pid); err == nil {
			found = append(found, record)
		}
	}
	return found
}

// set tells whether a variable has a value.
func set(environment []byte, name, value string) bool {
	return bytes.Contains(append([]byte{0}, environment...), []byte("\x00"+name+"="+value+"\x00"))
}

// podPrograms are the programs of pods of a lab whose directory has gone: each works in a folder there, which was deleted, and
// has the path of one as an argument.
func podPrograms(dir layout.Dir) []process.Record {
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
