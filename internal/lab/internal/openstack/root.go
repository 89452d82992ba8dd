package openstack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/process"
)

// root is a directory with Debian's packages, kept in the cache and shared by all labs. It is not a system that was
// installed: the packages are unpacked and none of their scripts is run, so that nothing is started, asked or set up
// for a machine that is not there. The methods prepare and links provide the parts that OpenStack needs.
type root struct {
	cache string
	// lists is the folder of apt's lists of what there is, which all roots share.
	lists string
	// under is the list of the packages of the root that this one lies above; empty for none.
	under string
	lab   *Lab
}

// serviceRoot is that of OpenStack's services.
func (l *Lab) serviceRoot() root {
	return root{cache: l.cache(), lists: filepath.Join(l.cache(), "apt", "lists"), lab: l}
}

func (r root) path(elements ...string) string {
	return filepath.Join(append([]string{r.cache, "root"}, elements...)...)
}

// folder is the path of something of apt's.
func (r root) folder(elements ...string) string {
	return filepath.Join(append([]string{r.cache, "apt"}, elements...)...)
}

// status is apt's list of the packages that are there.
func (r root) status() string { return r.folder("status") }

// unwanted is what of the packages is not unpacked.
func unwanted() []string {
	return []string{
		"./usr/share/doc/*", "./usr/share/man/*", "./usr/share/info/*", "./usr/share/locale/*", "./usr/share/fonts/*",
		"./usr/include/*", "./usr/lib/udev/*", "*.a",
	}
}

// ensure adds the packages that are not there yet, with all that they need.
func (r root) ensure(ctx context.Context, packages []string) error {
	for _, program := range []string{"apt-get", "dpkg-deb", "tar"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%w: they are Debian's packages, and this machine has no %s", ErrUnable, program)
		}
	}
	for _, folder := range []string{r.folder("state"), r.folder("archives", "partial"), filepath.Join(r.lists, "partial")} {
		if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // Packages are no secret.
			return fmt.Errorf("making the cache: %w", err)
		}
	}
	if err := r.begin(); err != nil {
		return err
	}
	complete, err := r.complete(packages)
	if err != nil || complete {
		return err
	}
	start := time.Now()
	if err := r.download(ctx, packages); err != nil {
		return err
	}
	archives, err := filepath.Glob(r.folder("archives", "*.deb"))
	if err != nil {
		return fmt.Errorf("looking for the packages: %w", err)
	}
	r.lab.Log.InfoContext(ctx, "unpacking Debian packages", "count", len(archives), "downloaded in", time.Since(start).Round(time.Second))
	if err := r.prepare(); err != nil {
		return err
	}
	if err := r.unpackAll(ctx, archives); err != nil {
		return err
	}
	if r.under != "" {
		// The root below has an index, without these libraries, which are where programs look without one.
		return nil
	}
	// The index of the shared libraries, which the script of a package would make.
	_, err = output(exec.CommandContext(ctx, "ldconfig", "-r", r.path())) //nolint:gosec // A folder of the cache.
	return err
}

// begin begins the list of packages of a root that lies above another one with those that are there.
func (r root) begin() error {
	if _, err := os.Stat(r.status()); r.under == "" || err == nil {
		return nil
	}
	packages, err := os.ReadFile(r.under)
	if err != nil {
		return fmt.Errorf("reading the list of packages: %w", err)
	}
	return layout.WriteFile(r.status(), packages)
}

// complete tells whether all packages are there.
func (r root) complete(packages []string) (bool, error) {
	status, err := os.ReadFile(r.status())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading the list of packages: %w", err)
	}
	for _, name := range packages {
		if !bytes.Contains(append([]byte("\n"), status...), []byte("\nPackage: "+name+"\n")) {
			return false, nil
		}
	}
	return true, nil
}

// download fetches what is missing from where the machine's own apt has its packages, with lists of the cache's own.
func (r root) download(ctx context.Context, packages []string) error {
	file, err := os.OpenFile(r.status(), os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("making the list of packages: %w", err)
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("making the list of packages: %w", err)
	}
	install := append([]string{"install", "--yes", "--download-only"}, packages...)
	lists, err := filepath.Glob(filepath.Join(r.lists, "*_Packages*"))
	if err != nil {
		return fmt.Errorf("looking for the lists of packages: %w", err)
	}
	if len(lists) > 0 && r.apt(ctx, install...) == nil {
		return nil
	}
	// There are no lists, or they are so old that what they name has gone.
	if err := r.apt(ctx, "update"); err != nil {
		return err
	}
	return r.apt(ctx, install...)
}

// apt runs apt-get with the machine's sources and with state of its own.
func (r root) apt(ctx context.Context, args ...string) error {
	options := []string{
		"-q",
		"-o", "Dir::State=" + r.folder("state"),
		"-o", "Dir::State::lists=" + r.lists,
		"-o", "Dir::State::status=" + r.status(),
		"-o", "Dir::Cache=" + r.folder(),
		"-o", "APT::Install-Recommends=false",
		"-o", "APT::Sandbox::User=root",
		"-o", "Acquire::Languages=none",
		"-o", "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false",
	}
	_, err := output(exec.CommandContext(ctx, "apt-get", append(options, args...)...)) //nolint:gosec // apt-get of the machine.
	return err
}

// prepare makes what is in no package but in every Debian: the links of its merged /usr, the mount points, and the files
// that name its users and hosts.
func (r root) prepare() error {
	for _, folder := range []string{"usr/bin", "usr/sbin", "usr/lib", "usr/lib64", "etc", "dev", "proc", "sys", "run", "tmp", "root", strings.TrimPrefix(inside, "/")} {
		if err := os.MkdirAll(r.path(folder), 0o755); err != nil { //nolint:gosec // As in any system.
			return fmt.Errorf("making the root of the packages: %w", err)
		}
	}
	for _, folder := range []string{"bin", "sbin", "lib", "lib64"} {
		if err := link(filepath.Join("usr", folder), r.path(folder)); err != nil {
			return err
		}
	}
	if r.under != "" {
		return nil
	}
	for name, text := range map[string]string{ //nolint:gosec // No password: the names of users.
		"passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
		"group":  "root:x:0:\nnogroup:x:65534:\n",
		"hosts":  "127.0.0.1 localhost\n",
	} {
		if err := os.WriteFile(r.path("etc", name), []byte(text), 0o644); err != nil { //nolint:gosec // As in any system.
			return fmt.Errorf("preparing the root of the packages: %w", err)
		}
	}
	return nil
}

// unpackAll unpacks packages and lists each as there when it is.
func (r root) unpackAll(ctx context.Context, archives []string) error {
	controls := make([][]byte, len(archives))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.NumCPU())
	for i, archive := range archives {
		group.Go(func() (err error) {
			controls[i], err = r.unpack(groupCtx, archive)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	status, err := os.ReadFile(r.status())
	if err != nil {
		return fmt.Errorf("reading the list of packages: %w", err)
	}
	for _, control := range controls {
		status = append(status, bytes.TrimSpace(control)...)
		status = append(status, "\nStatus: install ok installed\n\n"...)
	}
	if err := layout.WriteFile(r.status(), status); err != nil {
		return err
	}
	for _, archive := range archives {
		if err := os.Remove(archive); err != nil {
			return fmt.Errorf("removing a package that was unpacked: %w", err)
		}
	}
	return nil
}

// unpack unpacks a package and returns its description.
func (r root) unpack(ctx context.Context, archive string) ([]byte, error) {
	control, err := output(exec.CommandContext(ctx, "dpkg-deb", "--field", archive)) //nolint:gosec // A package of the cache.
	if err != nil {
		return nil, err
	}
	read := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", archive) //nolint:gosec // A package of the cache.
	// The links of the merged /usr stay where a package brings a folder of their name.
	args := []string{"--extract", "--directory", r.path(), "--keep-directory-symlink", "--numeric-owner"}
	for _, pattern := range unwanted() {
		args = append(args, "--exclude", pattern)
	}
	write := exec.CommandContext(ctx, "tar", args...) //nolint:gosec // tar of the machine.
	if write.Stdin, err = read.StdoutPipe(); err != nil {
		return nil, fmt.Errorf("unpacking %s: %w", archive, err)
	}
	if err := read.Start(); err != nil {
		return nil, fmt.Errorf("unpacking %s: %w", archive, err)
	}
	_, err = output(write)
	return control, errors.Join(err, read.Wait())
}

// links leads services to their configuration in the directory of a lab, from where they look for it by themselves.
func (r root) links() error {
	for _, s := range services() {
		folder := r.path("etc", s.name)
		if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // As in any system.
			return fmt.Errorf("preparing the root of the packages: %w", err)
		}
		if err := link(filepath.Join(inside, "etc", s.config), filepath.Join(folder, s.config)); err != nil {
			return err
		}
		if s.paste == "" {
			continue
		}
		if err := link(s.paste, filepath.Join(folder, filepath.Base(s.paste))); err != nil {
			return err
		}
	}
	// Nova looks for drivers among its own modules alone.
	drivers := r.path("usr", "lib", "python3", "dist-packages", "nova", "virt")
	if _, err := os.Stat(drivers); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return link(filepath.Join(inside, "etc", pythonFolder, "lab_virt.py"), filepath.Join(drivers, "lab.py"))
}

// link makes a symbolic link, unless it is there: programs of labs may be using it.
func link(target, path string) error {
	if present, err := os.Readlink(path); err == nil && present == target {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("preparing the root of the packages: %w", err)
	}
	if err := os.Symlink(target, path); err != nil {
		return fmt.Errorf("preparing the root of the packages: %w", err)
	}
	return nil
}

// enter is the command line of this program that becomes a program in the root.
func (r root) enter(dir layout.Dir, command []string) []string {
	return append([]string{ProcessEnter, "--root", r.path(), "--dir", string(dir), "--"}, command...)
}

// run runs a program in the root to its end, with the files of a lab.
func (r root) run(ctx context.Context, dir layout.Dir, stdin []byte, command ...string) error {
	cmd := exec.CommandContext(ctx, r.lab.Executable, r.enter(dir, command)...) //nolint:gosec // This program.
	cmd.Stdin = bytes.NewReader(stdin)
	process.Isolate(cmd)
	_, err := output(cmd)
	return err
}

// output runs a command. An error holds the end of what it said.
func output(command *exec.Cmd) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		output := strings.TrimSpace(stdout.String() + stderr.String())
		const most = 2000
		if len(output) > most {
			output = "... " + output[len(output)-most:]
		}
		return nil, fmt.Errorf("running %s: %w: %s", strings.Join(command.Args, " "), err, output)
	}
	return stdout.Bytes(), nil
}
