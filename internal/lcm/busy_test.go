package lcm_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestAnInstanceInOtherHandsIsWaitedFor terminates an instance that another process
// is just terminating: at once in vain, with patience as if it had come later.
func TestAnInstanceInOtherHandsIsWaitedFor(t *testing.T) {
	w := newEnv(t)
	i := w.mustInstantiate(t, w.spec())
	running, goOn := make(chan struct{}), make(chan struct{})
	w.driver.does("terminate", func() error {
		close(running)
		<-goOn
		return nil
	})
	other, ended := w.open(t), make(chan error, 1)
	go func() { ended <- other.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}) }()
	<-running
	var busy *vnfm.BusyError
	if err := w.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}); !errors.As(err, &busy) || busy.Doing != vnfm.OpTerminate || !strings.Contains(busy.Holder, " on host ") {
		t.Errorf("without patience: %v", err)
	}
	patient := vnfm.WithLockTimeout(t.Context(), time.Minute)
	time.AfterFunc(200*time.Millisecond, func() { close(goOn) })
	require.NoError(t, w.Terminate(patient, i.ID, vnfm.TerminateSpec{}), "with patience")
	require.NoError(t, <-ended, "the other process")
}
