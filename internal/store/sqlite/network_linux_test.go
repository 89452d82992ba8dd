package sqlite

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

func TestNetworkFileSystemsAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		id   int64
		want string
	}{
		"ext4":  {0xef53, ""},
		"tmpfs": {0x01021994, ""},
		"9p":    {0x01021997, ""},
		"NFS":   {0x6969, "NFS"},
		"CIFS":  {0xff534d42, "CIFS"},
		"SMB 1": {0x517b, "SMB"},
		"SMB 2": {0xfe534d42, "SMB"},
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			s := openAt(t, filepath.Join(base, "new", "state", "store.db"), quick())
			s.fileSystemType = func(path string) (int64, error) {
				if _, err := os.Stat(path); err != nil {
					return 0, err
				}
				return test.id, nil
			}
			err := s.Create(t.Context(), &store.Record{Kind: store.KindVIM, ID: "a"})
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			wantError(t, err, s.path, "is on a network file system ("+test.want+")", "store = { local = { path")
			if left, err := os.ReadDir(base); err != nil || len(left) > 0 {
				t.Errorf("made on the network file system: %v, %v", left, err)
			}
		})
	}
	s := tempStore(t, quick())
	s.fileSystemType = func(string) (int64, error) { return 0, syscall.EACCES }
	require.ErrorIs(t, s.Create(t.Context(), &store.Record{Kind: store.KindVIM, ID: "a"}), syscall.EACCES, "a file system that cannot be looked at")
}
