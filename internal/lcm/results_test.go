package lcm_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// maker is a driver with a Secret whose content it makes up once, and keeps beside it.
type maker struct {
	*driver
	made   int
	kept   []byte
	silent bool
}

// content is the Secret for a target; empty while it is not made.
func (m *maker) content(t *vnfm.Target) string {
	if t.Regenerate != nil {
		return ""
	}
	return string(t.Results.Data())
}

func (m *maker) Preview(ctx context.Context, t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) {
	p, ps := m.driver.Preview(ctx, t)
	p.Objects[secretObject] = m.content(t)
	return p, ps
}

func (m *maker) Apply(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	err := t.Results.Update(ctx, func(data []byte) []byte {
		if data != nil && t.Regenerate == nil {
			return data
		}
		m.made++
		return fmt.Appendf(nil, "hunter-%d", m.made)
	})
	if err != nil {
		return err
	}
	if err := m.driver.Apply(ctx, t, r); err != nil {
		return err
	}
	m.kept = t.Results.Data()
	m.objects[secretObject] = string(m.kept)
	return nil
}

func (m *maker) KeptResults(context.Context, *vnfm.Target) ([]byte, error) {
	if m.silent {
		return nil, errors.New("no route to host")
	}
	return m.kept, nil
}

// TestResultsOfAnInstance: what a driver has made up for an instance stays, sealed, whatever
// happens to an operation, to the key of the store and to the store, and is made again once for
// each trigger.
func TestResultsOfAnInstance(t *testing.T) {
	w := newEnv(t)
	m := &maker{driver: w.driver}
	again := func() {
		t.Helper()
		require.NoError(t, w.Close())
		w.Engine = w.openWith(t, onKubernetes(m))
	}
	again()
	require.Empty(t, w.summed(t, ""))
	m.does("wrote v1/ConfigMap a", func() error { return errors.New("the process is killed") })
	spec := w.spec()
	spec.OnFailure = vnfm.OnFailureResume
	_, err := w.Instantiate(t.Context(), spec)
	id := failedInstance(t, err).ID
	m.fail = nil
	again()
	_, err = w.Update(t.Context(), id, spec)
	require.NoError(t, err)
	require.Equal(t, 1, m.made, "a resumed creation has made it again")
	require.Equal(t, "hunter-1", w.summed(t, id))

	notIn(t, w.dir, "hunter", base64.StdEncoding.EncodeToString([]byte("hunter-1")))

	// Secret parameters are sealed with it.
	other := spec
	other.SecretParams = map[string]any{"password": "of-the-test"}
	for _, next := range []vnfm.InstanceSpec{other, spec} {
		_, err = w.Update(t.Context(), id, next)
		require.NoError(t, err)
		again()
		require.Equal(t, "hunter-1", w.summed(t, id))
	}

	next := spec
	next.Regenerate = &vnfm.RegenerateSpec{Trigger: "1"}
	p, _, err := w.PreviewInstance(t.Context(), id, next)
	require.NoError(t, err)
	require.Empty(t, p.Objects[secretObject])
	for range 2 {
		_, err = w.Update(t.Context(), id, next)
		require.NoError(t, err)
	}
	require.Equal(t, "hunter-2", w.summed(t, id))

	k := &keeper{driver: w.driver}
	for name, lose := range map[string]func(){
		"key":   func() { require.NoError(t, os.Remove(filepath.Join(w.dir, "key.txt"))) },
		"store": func() { w.dir = t.TempDir() },
	} {
		require.NoError(t, w.Close())
		lose()
		w.again(t, k)
		again()
		require.Equal(t, "hunter-2", w.summed(t, id), name)
		m.silent = true
		require.Empty(t, w.summed(t, id), name)
		m.silent = false
		_, err = w.Update(t.Context(), id, next)
		require.NoError(t, err)
		again()
		// A recovered record has it again.
		m.silent = name == "store"
		require.Equal(t, "hunter-2", w.summed(t, id), name)
		m.silent = false
	}
	require.Equal(t, 2, m.made)
}
