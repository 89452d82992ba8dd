package records

import (
	"os"
	"regexp"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
)

// TestShares: a share that was taken by a creation which was killed goes with the next one in the same directory, and no other.
func TestShares(t *testing.T) {
	var s Shares
	assert.False(t, s.Take(""))
	assert.True(t, s.Take("a"))
	assert.False(t, s.Take("a"))
	assert.True(t, s.Take("b"), "two resources of one process")
	assert.Equal(t, Shares{{ID: "a", Holder: process.Name(), Place: place()}, {ID: "b", Holder: process.Name(), Place: place()}}, s)
	assert.True(t, s.Acknowledge("a"))
	assert.False(t, s.Acknowledge("a"))
	assert.True(t, s.Acknowledge("imported"))
	s.Release("b")
	s.Release("of nobody")
	assert.Equal(t, Shares{{ID: "a"}, {ID: "imported"}}, s)
	assert.Equal(t, []string{"imported"}, ids(s.Others("a")))
	assert.Equal(t, []string{"a", "imported"}, ids(s), "Others changes nothing")

	if runtime.GOOS != "linux" {
		t.Skip("processes are looked up on Linux only")
	}
	// No machine has processes of so high a number.
	dead := regexp.MustCompile(`pid=\d+`).ReplaceAllString(process.Name(), "pid=4194305")
	s = Shares{
		{ID: "known"}, {ID: "killed", Holder: dead, Place: place()}, {ID: "elsewhere", Holder: dead, Place: "0011223344556677"},
		{ID: "remote", Holder: "pid=1 host=other", Place: place()},
	}
	assert.Equal(t, []string{"elsewhere", "remote"}, ids(s.Others("known")))
	assert.True(t, s.Take("again"))
	assert.Equal(t, []string{"known", "elsewhere", "remote", "again"}, ids(s))
}

// TestPlaces: workspaces of one directory are places of their own.
func TestPlaces(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("TF_WORKSPACE", "")
	t.Setenv("TF_DATA_DIR", "")
	choose := func(name string) {
		assert.NoError(t, os.MkdirAll(".terraform", 0o700))
		assert.NoError(t, os.WriteFile(".terraform/environment", []byte(name), 0o600))
	}
	first := place()
	choose("default")
	assert.Equal(t, first, place())
	choose("north")
	north := place()
	assert.NotEqual(t, first, north)
	choose("south")
	assert.NotEqual(t, north, place())
	t.Setenv("TF_WORKSPACE", "north")
	assert.Equal(t, north, place())
}

func ids(s Shares) (out []string) {
	for _, share := range s {
		out = append(out, share.ID)
	}
	return out
}
