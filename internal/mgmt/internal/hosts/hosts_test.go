package hosts

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The wait for a server that goes anyway is shorter than for one that stays, and never longer
// than the user wants to wait for it.
func TestPatience(t *testing.T) {
	for name, c := range map[string]struct {
		call     vnfm.HookCall
		has, the time.Duration
	}{
		"stays":               {vnfm.HookCall{Leaving: []string{"web-1"}}, Patience, Patience},
		"goes":                {vnfm.HookCall{Leaving: []string{"web-1", "web-2"}}, Patience, leavingPatience},
		"has been replaced":   {vnfm.HookCall{Leaving: []string{"web-2"}, End: true}, Patience, Patience},
		"all go, by force":    {vnfm.HookCall{Forceful: true}, Patience, leavingPatience},
		"goes, of the hasty":  {vnfm.HookCall{Leaving: []string{"web-2"}}, time.Second, time.Second},
		"stays, of the hasty": {vnfm.HookCall{}, time.Second, time.Second},
	} {
		s := Server{VNFC: vnfm.VNFC{ID: "web-2"}, patience: c.has}
		assert.Equal(t, c.the, s.patienceIn(&c.call), "%s", name)
	}
}
