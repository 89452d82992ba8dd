package openstack_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/poll"
)

// patience is how long a lab may take to start on a busy machine that has to fetch the packages first.
const patience = 20 * time.Minute

// TestLifecycle starts Keystone, Glance and Cinder, whose catalogue has these alone, asks for a token and the images, makes a
// volume, loses all processes and has them repaired, and stops them: no process and no mount is left.
func TestLifecycle(t *testing.T) {
	lab := bench{binary: binary(t), dir: filepath.Join(t.TempDir(), "cloud")}
	if out, err := lab.run(t, "up", "--services", "block-storage"); err != nil {
		if strings.Contains(err.Error(), openstack.ErrUnable.Error()) {
			missing(t, err.Error())
		}
		t.Fatalf("%v\n%s", err, out)
	}
	t.Cleanup(func() {
		if _, err := lab.run(t, "down"); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { lab.logs(t) })
	env := lab.env(t)
	if count := lab.images(t, env); count != 5 {
		t.Errorf("the lab shows %d images, not 5", count)
	}
	id := lab.volume(t)
	if mounts := lab.mounts(t); mounts != "" {
		t.Errorf("mounts of the lab are to be seen outside of it:\n%s", mounts)
	}

	for name, pid := range env.PIDs {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatalf("killing %s: %v", name, err)
		}
	}
	for name, pid := range env.PIDs {
		lab.until(t, "the end of "+name, func() error {
			if program(pid) != "" {
				return errors.New("it runs")
			}
			return nil
		})
	}
	if out, err := lab.run(t, "status"); err == nil {
		t.Errorf("a lab whose processes were killed says that it runs:\n%s", out)
	}
	if mounts := lab.mounts(t); mounts != "" {
		t.Errorf("mounts are left of killed processes:\n%s", mounts)
	}
	if out, err := lab.run(t, "up"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	repaired := lab.env(t)
	if repaired.AuthURL != env.AuthURL {
		t.Errorf("the repaired lab is at %s, not at %s", repaired.AuthURL, env.AuthURL)
	}
	if count := lab.images(t, repaired); count != 5 {
		t.Errorf("the repaired lab shows %d images, not 5", count)
	}
	if out, err := lab.run(t, "request", "DELETE", openstack.Volume, "/volumes/"+id); err != nil {
		t.Errorf("deleting the volume in the repaired lab: %v\n%s", err, out)
	}
	lab.until(t, "the end of the volume", func() error {
		if _, err := os.Stat(lab.volumeFile(id)); err == nil {
			return errors.New("its file is there")
		}
		return nil
	})

	if out, err := lab.run(t, "down"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, pid := range repaired.PIDs {
		if program := program(pid); program != "" {
			t.Errorf("%s, process %d, is left: %s", name, pid, program)
		}
	}
	if mounts := lab.mounts(t); mounts != "" {
		t.Errorf("mounts are left of the lab:\n%s", mounts)
	}
	if _, err := os.Stat(lab.dir); err == nil {
		t.Error("the directory of the lab is left")
	}
}

// program is that of a process; empty when it has ended. It may still be listed then, for want of a parent that asks, but
// holds no program any more.
func program(pid int) string {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return ""
	}
	return path
}

// bench is a lab under test.
type bench struct{ binary, dir string }

// binary is the built lab. Without it the test is skipped, unless LAB_REQUIRE=all.
func binary(t *testing.T) string {
	t.Helper()
	path := os.Getenv("LAB_BIN")
	if path == "" {
		path = filepath.Join("..", "..", "..", "..", "bin", "lab")
	}
	if _, err := os.Stat(path); err != nil {
		missing(t, fmt.Sprintf("the lab is not built, run make build first: %v", err))
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return absolute
}

func missing(t *testing.T, reason string) {
	t.Helper()
	if os.Getenv("LAB_REQUIRE") == "all" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

func (b bench) run(t *testing.T, verb string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	if verb == "up" {
		// When the tests are killed a sweep stops their lab.
		args = append([]string{"--owner", strconv.Itoa(os.Getpid())}, args...)
	}
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(ctx, b.binary, append([]string{"openstack", verb, "--dir", b.dir}, args...)...) //nolint:gosec // The program under test.
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return stdout.String(), fmt.Errorf("lab openstack %s: %w: %s", verb, err, stderr.String())
	}
	return stdout.String(), nil
}

func (b bench) env(t *testing.T) openstack.Environment {
	t.Helper()
	out, err := b.run(t, "env")
	if err != nil {
		t.Fatal(err)
	}
	var env openstack.Environment
	if err := json.Unmarshal([]byte(out), &env); err != nil {
		t.Fatalf("reading %q: %v", out, err)
	}
	return env
}

// mounts are the lines of this process's mounts that lead into the lab or into the root of its programs.
func (b bench) mounts(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(data)) {
		if strings.Contains(line, b.dir) || strings.Contains(line, "openstack/root") {
			found = append(found, line)
		}
	}
	return strings.Join(found, "")
}

// images counts the images that the NFV user sees at the address that his token's catalogue names.
func (b bench) images(t *testing.T, env openstack.Environment) int {
	t.Helper()
	user := env.Users[openstack.UserNFV]
	body := fmt.Sprintf(`{"auth": {
		"identity": {"methods": ["password"], "password": {"user": {"name": %q, "domain": {"name": %q}, "password": %q}}},
		"scope": {"project": {"name": %q, "domain": {"name": %q}}}}}`,
		user.Name, env.Domain, user.Password, user.Project, env.Domain)
	var answer struct {
		Token struct {
			Catalog []struct {
				Type      string
				Endpoints []struct{ Interface, URL string }
			}
		}
	}
	header := call(t, http.MethodPost, env.AuthURL+"/auth/tokens", "", body, &answer)
	var kinds []string
	for _, service := range answer.Token.Catalog {
		kinds = append(kinds, service.Type)
	}
	slices.Sort(kinds)
	if diff := cmp.Diff([]string{openstack.Volume, openstack.Identity, openstack.Image, "volumev3"}, kinds); diff != "" {
		t.Errorf("services of the catalogue (-want +got):\n%s", diff)
	}
	for _, service := range answer.Token.Catalog {
		for _, endpoint := range service.Endpoints {
			if service.Type != openstack.Image || endpoint.Interface != "public" {
				continue
			}
			if endpoint.URL != env.Endpoints[openstack.Image] {
				t.Errorf("the catalogue says that Glance is at %s, the lab says %s", endpoint.URL, env.Endpoints[openstack.Image])
			}
			var list struct{ Images []struct{ Name string } }
			call(t, http.MethodGet, endpoint.URL+"/v2/images", header.Get("X-Subject-Token"), "", &list)
			return len(list.Images)
		}
	}
	t.Fatal("the catalogue has no images")
	return 0
}

// volume has Cinder make a volume, which takes no room.
func (b bench) volume(t *testing.T) string {
	t.Helper()
	out, err := b.run(t, "request", "POST", openstack.Volume, "/volumes", `{"volume": {"size": 5}}`)
	if err != nil {
		t.Fatal(err)
	}
	var made struct {
		Volume struct {
			ID string `json:"id"`
		} `json:"volume"`
	}
	if err := json.Unmarshal([]byte(out), &made); err != nil {
		t.Fatalf("reading %q: %v", out, err)
	}
	b.until(t, "the volume", func() error {
		out, err := b.run(t, "request", "GET", openstack.Volume, "/volumes/"+made.Volume.ID)
		if err == nil && !strings.Contains(out, `"status": "available"`) {
			err = fmt.Errorf("it is %s", out)
		}
		return err
	})
	info, err := os.Stat(b.volumeFile(made.Volume.ID))
	if err != nil {
		t.Fatal(err)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || info.Size() != 5<<30 || stat.Blocks != 0 {
		t.Errorf("the file of the volume has %d bytes: %+v", info.Size(), info.Sys())
	}
	return made.Volume.ID
}

func (b bench) volumeFile(id string) string {
	return filepath.Join(b.dir, "data", "volumes", "volume-"+id)
}

// logs shows the last that Cinder wrote, should the test have failed.
func (b bench) logs(t *testing.T) {
	t.Helper()
	const last = 4 << 10
	files, err := filepath.Glob(filepath.Join(b.dir, "log", "cinder-*.log"))
	if err != nil || !t.Failed() {
		return
	}
	for _, file := range files {
		data, err := os.ReadFile(file) //nolint:gosec // A log of the lab under test.
		t.Logf("%s: %v\n%s", filepath.Base(file), err, data[max(0, len(data)-last):])
	}
}

func (b bench) until(t *testing.T, what string, try func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if err := poll.Until(ctx, what, func(context.Context) error { return try() }); err != nil {
		t.Fatal(err)
	}
}

func call(t *testing.T, method, url, token, body string, out any) http.Header {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Auth-Token", token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // It was read.
	if response.StatusCode >= http.StatusBadRequest {
		t.Fatalf("%s %s: %s", method, url, response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(out); err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	return response.Header
}
