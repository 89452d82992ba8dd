package records

import (
	"regexp"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// TestShares: a share that was taken by a creation which was killed goes with the next one in the same directory, and no other.
func TestShares(t *testing.T) {
	var s Shares
	assert.False(t, s.Take(""))
	assert.True(t, s.Take("a"))
	assert.False(t, s.Take("a"))
	assert.True(t, s.Take("b"), "two resources of one process")
	assert.Equal(t, Shares{{ID: "a", Holder: store.Holder(), Place: place()}, {ID: "b", Holder: store.Holder(), Place: place()}}, s)
	assert.True(t, s.Acknowledge("a"))
	assert.False(t, s.Acknowledge("a"))
	assert.True(t, s.Acknowledge("imported"))
	s.Release("b")
	s.Release("of nobody")
	assert.Equal(t, Shares{{ID: "a"}, {ID: "imported"}}, s)

	if runtime.GOOS != "linux" {
		t.Skip("processes are looked up on Linux only")
	}
	// No machine has processes of so high a number.
	dead := regexp.MustCompile(`pid=\d+`).ReplaceAllString(store.Holder(), "pid=4194305")
	s = Shares{
		{ID: "known"}, {ID: "killed", Holder: dead, Place: place()}, {ID: "elsewhere", Holder: dead, Place: "0011223344556677"},
		{ID: "remote", Holder: "pid=1 host=other", Place: place()},
	}
	assert.True(t, s.Take("again"))
	assert.Equal(t, []string{"known", "elsewhere", "remote", "again"}, ids(s))
}

func ids(s Shares) (out []string) {
	for _, share := range s {
		out = append(out, share.ID)
	}
	return out
}
