package helm

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCheckRecord: a chart with a large file that cannot be compressed has no record, one that can be compressed has.
func TestCheckRecord(t *testing.T) {
	large := make([]byte, 900<<10)
	rand.New(rand.NewSource(1)).Read(large)
	problem := kept(t, with("files/large.bin", string(large)), Options{}, RandomKept).CheckRecord()
	require.NotNil(t, problem)
	require.Regexp(t, `^Files/core: the record of the Helm release would have 1\d{3} KiB, and a Secret holds 1024 KiB: .*The largest files are files/large\.bin \(900 KiB\)`, problem.String())

	require.Nil(t, kept(t, with("files/large.bin", string(make([]byte, len(large)))), Options{}, RandomKept).CheckRecord())
	require.Nil(t, kept(t, core(), Options{}, RandomKept).CheckRecord())
}
