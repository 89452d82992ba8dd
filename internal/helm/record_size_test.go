package helm

import (
	"fmt"
	"math/rand"
	"testing"
	"testing/fstest"

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

// TestResultsSize: results that cannot be remembered are an error of the plan already. A plan tells how large the others will be, once
// they are made and before.
func TestResultsSize(t *testing.T) {
	const calls = `{{ range until %d }}  k{{ . }}: {{ randAlphaNum 4000 }}{{ "\n" }}{{ end }}`
	files := func(n int) fstest.MapFS {
		return with("templates/random.yaml", configMap("a: b")+fmt.Sprintf(calls, n))
	}
	_, ps := renderedAs(t, files(100), Options{}, RandomPlanned)
	require.Regexp(t, `^Files/core: .*the results of functions such as genCA and randAlphaNum take \d{3} KiB, and at most 256 are remembered`, ps.Err().Error())

	planned, made := kept(t, files(10), Options{}, RandomPlanned), kept(t, files(10), Options{}, RandomKept)
	require.InEpsilon(t, len(made.Results), planned.ResultsSize, 0.05)
	require.Equal(t, len(made.Results), kept(t, files(10), Options{Results: made.Results}, RandomPlanned).ResultsSize)
	// A chart without any is remembered by its revision.
	require.Less(t, kept(t, core(), Options{}, RandomPlanned).ResultsSize, 150)
}
