package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// asUser gives a directory and what is in it to an ordinary user and works as that
// user until the test ends: root may write everywhere. It does nothing for others.
func asUser(t *testing.T, dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	const nobody = 65534
	for _, name := range []string{dir, filepath.Join(dir, "store.db")} {
		if err := os.Chown(name, nobody, nobody); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	// The file system user belongs to a thread. A goroutine that ends locked takes
	// its thread with it.
	runtime.LockOSThread()
	require.NoError(t, syscall.Setfsuid(nobody))
	t.Cleanup(func() {
		require.NoError(t, syscall.Setfsuid(0))
		runtime.UnlockOSThread()
	})
}

func TestReadOnlyDirectory(t *testing.T) {
	for name, existing := range map[string]bool{"empty": false, "with a database": true} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			path := filepath.Join(dir, "store.db")
			require.NoError(t, os.Mkdir(dir, 0o700))
			if existing {
				s, err := open(t.Context(), path, quick())
				require.NoError(t, err)
				createVIM(t, s, "a")
				require.NoError(t, s.Close())
			}
			require.NoError(t, os.Chmod(dir, 0o500))
			// The owner must be able to remove what is in it.
			t.Cleanup(func() { _ = os.Chmod(dir, 0o700) }) //nolint:gosec // A folder needs the bit.
			s := openAt(t, path, quick())
			asUser(t, dir)
			err := s.Create(t.Context(), &store.Record{Kind: store.KindVIM, ID: "b"})
			wantError(t, err, path, "must be able to write the directory "+dir, "store = { local")
			err = s.PutBlob(t.Context(), store.Digest([]byte("x")), bytes.NewReader([]byte("x")))
			wantError(t, err, path, "must be able to write the directory "+dir)
		})
	}
}

// envMounts tells the test binary that it has mounts of its own.
const envMounts = "SQLITE_TEST_MOUNTS"

// withMounts runs a test again in a process with mounts of its own, which needs no root where users may have namespaces.
// They end with it, also when it is killed. The process itself gets true.
func withMounts(t *testing.T) bool {
	t.Helper()
	if os.Getenv(envMounts) != "" {
		return true
	}
	cmd := osexec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", fmt.Sprintf("-test.short=%t", testing.Short())) //nolint:gosec // The test binary itself.
	cmd.Env = append(os.Environ(), envMounts+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		labtest.Missing(t, fmt.Sprintf("a process cannot have mounts of its own: %v", err))
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	} else if strings.Contains(out.String(), "--- SKIP") {
		t.Skip(out.String())
	}
	return false
}

func TestFullDisk(t *testing.T) {
	if !withMounts(t) {
		return
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		labtest.Missing(t, fmt.Sprintf("mounts cannot be kept to this process: %v", err))
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=512k,mode=0700"); err != nil {
		labtest.Missing(t, fmt.Sprintf("a small file system cannot be mounted: %v", err))
	}
	t.Cleanup(func() {
		require.NoError(t, syscall.Unmount(dir, 0))
	})
	s := openAt(t, filepath.Join(dir, "store.db"), quick())
	createVIM(t, s, "a")
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	wantError(t, s.PutBlob(t.Context(), store.Digest(big), bytes.NewReader(big)), s.path, "the disk is full", "make room")
	wantError(t, s.Create(t.Context(), &store.Record{Kind: store.KindVIM, ID: "b", Data: big}), s.path, "the disk is full", "make room")
	r, err := s.Get(t.Context(), store.KindVIM, "a")
	require.NoError(t, err)
	r.Data = big
	wantError(t, s.Update(t.Context(), r), s.path, "the disk is full", "make room")
	// A content that did not fit leaves nothing, so that there is room again.
	createVIM(t, s, "c")
	list, err := s.List(t.Context(), store.Query{})
	if err != nil || len(list) != 2 || string(list[0].Data) != "data of a" {
		t.Errorf("List = %d records, %v, want 2", len(list), err)
	}
}
