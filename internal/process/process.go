// Package process names processes, so that the readers of a lease learn which process holds it, and the same machine can tell whether it still runs.
package process

import (
	"cmp"
	"fmt"
	neturl "net/url"
	"os"
	"os/user"
	"strconv"
	"strings"
	"unicode"
)

// Name names this process, as the holder of a lease for example, so that everybody who reads
// the name knows which process it is, and the same machine can tell whether it
// still runs: "pid=<pid> host=<name> user=<name> run=<URL> boot=<boot id> pidns=<namespace>
// start=<ticks>". The run is that of a CI system; the last three are known on Linux only.
func Name() string {
	p, ok := thisProcess()
	return holder(os.Getpid(), p, ok)
}

// ParentName is Name for the process that has started this one, which is Terraform for a provider.
func ParentName() string {
	p, ok := thisProcess()
	p.start = startOf(os.Getppid())
	return holder(os.Getppid(), p, ok && p.start != "")
}

// holder names a process; known says that p is.
func holder(pid int, p identity, known bool) string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "unknown"
	}
	name := fmt.Sprintf("pid=%d host=%s user=%s", pid, oneWord(host), oneWord(userName()))
	if run := runURL(os.Getenv); run != "" {
		name += " run=" + run
	}
	if !known {
		return name
	}
	return fmt.Sprintf("%s boot=%s pidns=%s start=%s", name, p.boot, p.pidns, p.start)
}

// Run names the process that has started this one, which is the run of Terraform for a provider: no other process, of this machine or of
// another, has the same name. It is empty where that cannot be told.
func Run() string {
	own, ok := thisProcess()
	start := startOf(os.Getppid())
	if !ok || start == "" {
		return ""
	}
	return fmt.Sprintf("pid=%d boot=%s pidns=%s start=%s", os.Getppid(), own.boot, own.pidns, start)
}

func oneWord(text string) string { return strings.Join(strings.Fields(text), "-") }

// userName is the login name of the user, or its number where no name is known.
func userName() string {
	if u, err := user.Current(); err == nil && strings.TrimSpace(u.Username) != "" {
		return u.Username
	}
	return strconv.Itoa(os.Getuid())
}

// runURL is the page of the CI run that this process belongs to, from the environment variables that HCP Terraform, GitLab, GitHub and
// Jenkins document; empty where there is none.
func runURL(getenv func(string) string) string {
	var url string
	organization, workspace, _ := strings.Cut(getenv("TFC_WORKSPACE_SLUG"), "/")
	switch {
	case getenv("TFC_RUN_ID") != "" && workspace != "":
		url = fmt.Sprintf("https://%s/app/%s/workspaces/%s/runs/%s", cmp.Or(getenv("TFE_HOSTNAME"), "app.terraform.io"), organization, workspace, getenv("TFC_RUN_ID"))
	case getenv("CI_JOB_URL") != "":
		url = getenv("CI_JOB_URL")
	case getenv("GITHUB_RUN_ID") != "" && getenv("GITHUB_REPOSITORY") != "":
		url = fmt.Sprintf("%s/%s/actions/runs/%s", cmp.Or(getenv("GITHUB_SERVER_URL"), "https://github.com"), getenv("GITHUB_REPOSITORY"), getenv("GITHUB_RUN_ID"))
	default:
		url = getenv("BUILD_URL")
	}
	// A lease must not send its readers to what is not an address, and can be read by others than may log in to it.
	u, err := neturl.Parse(url)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || strings.ContainsFunc(url, unicode.IsSpace) {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// Describe says in words which process Name has named: "alice on host build-7 (process 4711, run https://…)". Another text is
// returned as it is.
func Describe(holder string) string {
	f := holderFields(holder)
	if f["pid"] == "" || f["host"] == "" {
		return holder
	}
	in := "process " + f["pid"]
	if f["run"] != "" {
		in += ", run " + f["run"]
	}
	return fmt.Sprintf("%s on host %s (%s)", cmp.Or(f["user"], "somebody"), f["host"], in)
}

func holderFields(holder string) map[string]string {
	fields := map[string]string{}
	for _, f := range strings.Fields(holder) {
		k, v, _ := strings.Cut(f, "=")
		fields[k] = v
	}
	return fields
}

// Dead reports whether the process that Name named is known to be dead:
// it ran on this machine since its last boot, in the same PID namespace, and is
// gone or another process has its number. False says nothing.
func Dead(holder string) bool {
	pid, start, here := onThisMachine(holder)
	if !here {
		return false
	}
	gone, _ := lookUp(pid, start)
	return gone
}

// Runs reports whether the process that Name named is known to be alive, on this machine and in the same PID namespace. False
// says nothing.
func Runs(holder string) bool {
	pid, start, here := onThisMachine(holder)
	if !here {
		return false
	}
	_, runs := lookUp(pid, start)
	return runs
}

// onThisMachine returns which process Name named, if this process can see it.
func onThisMachine(holder string) (pid int, start string, ok bool) {
	fields := holderFields(holder)
	pid, err := strconv.Atoi(fields["pid"])
	if err != nil || pid <= 0 || fields["start"] == "" {
		return 0, "", false
	}
	own, ok := thisProcess()
	// The kernel gives the number of a PID namespace to a new one once the old one is gone.
	if !ok || !seesOwnNamespace() || own.boot != fields["boot"] || own.pidns != fields["pidns"] {
		return 0, "", false
	}
	return pid, fields["start"], true
}

// identity is what tells a process from all others of the machine, with its pid.
type identity struct {
	// boot changes with every start of the machine.
	boot string
	// pidns is the PID namespace: the same number is another process in another
	// container.
	pidns string
	// start is the time of the process's start in clock ticks since boot: numbers
	// of processes are used again.
	start string
}
