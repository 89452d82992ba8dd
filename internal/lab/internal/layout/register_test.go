package layout

import (
	"os"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/process"
)

func TestHeir(t *testing.T) {
	own, err := process.Of(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	gone, other, none := process.Record{PID: own.PID, Started: own.Started + "0"}, process.Record{PID: 1, Started: "1"}, process.Record{}
	for name, c := range map[string]struct{ owner, starting, want process.Record }{
		"it stays":                        {none, other, none},
		"its owner lives":                 {own, other, own},
		"its owner has ended":             {gone, other, other},
		"its owner has ended, nobody's":   {gone, none, none},
		"its owner lives, nobody's start": {own, none, own},
	} {
		if got := Heir(c.owner, c.starting); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
