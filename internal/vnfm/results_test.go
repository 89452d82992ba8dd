package vnfm

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestResultsAreUpdatedOneAfterTheOther: an update builds on the one before, is saved before
// anybody sees it, and is none when it cannot be saved.
func TestResultsAreUpdatedOneAfterTheOther(t *testing.T) {
	r := NewResults(nil)
	var saved []byte
	r.SavedBy(func(_ context.Context, data []byte) error {
		saved = data
		return nil
	})
	var all sync.WaitGroup
	var inside, together atomic.Int32
	for range 50 {
		all.Go(func() {
			_ = r.Update(t.Context(), func(data []byte) []byte {
				if inside.Add(1) > 1 {
					together.Add(1)
				}
				defer inside.Add(-1)
				for range 10 {
					runtime.Gosched()
				}
				return append(append([]byte{}, data...), 'x')
			})
		})
	}
	all.Wait()
	require.Len(t, r.Data(), 50)
	require.Equal(t, r.Data(), saved)
	require.Zero(t, together.Load())

	refused := errors.New("no space")
	r.SavedBy(func(context.Context, []byte) error { return refused })
	require.ErrorIs(t, r.Update(t.Context(), func([]byte) []byte { return []byte("y") }), refused)
	require.Len(t, r.Data(), 50)
	require.NoError(t, r.Update(t.Context(), func([]byte) []byte { return nil }))
	require.Len(t, r.Data(), 50)

	var none *Results
	require.Nil(t, none.Data())
	none.SavedBy(nil)
}

func TestPartsOfResults(t *testing.T) {
	all := NewResults(nil)
	cni, dns := all.Part("cni"), all.Part("dns")
	require.Nil(t, cni.Data())
	require.NoError(t, cni.Update(t.Context(), func(data []byte) []byte {
		require.Nil(t, data)
		return []byte("one")
	}))
	require.NoError(t, dns.Update(t.Context(), func([]byte) []byte { return []byte("two") }))
	require.NoError(t, dns.Update(t.Context(), func([]byte) []byte { return nil }))
	again := NewResults(all.Data())
	require.Equal(t, "one", string(again.Part("cni").Data()))
	require.Equal(t, "two", string(again.Part("dns").Data()))

	data := WithPart(WithPart(all.Data(), "cni", []byte("other")), "csi", []byte("three"))
	require.Equal(t, "one", string(NewResults(data).Part("cni").Data()))
	require.Equal(t, "three", string(NewResults(data).Part("csi").Data()))
	require.Equal(t, all.Data(), WithPart(all.Data(), "lb", nil))
	require.Nil(t, (*Results)(nil).Part("cni"))
}

// TestResultsAreBounded: results that are too large together are an error of the plan, else of the update that makes them, and are not
// saved. Those that were too large before may stay, and become smaller.
func TestResultsAreBounded(t *testing.T) {
	const most = MaxResults * 3 / 4 // A part is encoded in base64.
	all := NewResults(nil)
	require.NoError(t, all.Part("cni").Plan(most/2))
	require.NoError(t, all.Part("dns").Plan(most/4))
	require.NoError(t, all.Part("dns").Plan(most/2-1<<10), "planned again")
	const want = "the results of random functions would take 402 KiB, and an instance keeps 400 KiB at most; set the passwords and certificates of its charts by values" +
		"; the largest are those of cni (200 KiB), dns (198 KiB), lb (2 KiB)"
	require.EqualError(t, all.Part("lb").Plan(2<<10), want)
	require.NoError(t, NewResults(nil).Plan(MaxResults))
	require.ErrorContains(t, NewResults(nil).Plan(MaxResults+1), "would take 401 KiB")
	require.NoError(t, (*Results)(nil).Plan(MaxResults+1))

	made := func(size int) func([]byte) []byte { return func([]byte) []byte { return make([]byte, size) } }
	require.NoError(t, all.Part("cni").Update(t.Context(), made(most/2)))
	before := all.Data()
	require.ErrorContains(t, all.Part("dns").Update(t.Context(), made(most/2+1<<10)), "the largest are those of dns (201 KiB), cni (200 KiB)")
	require.Equal(t, before, all.Data())
	require.NoError(t, all.Part("dns").Update(t.Context(), made(most/4)))
	again := NewResults(all.Data())
	require.ErrorContains(t, again.Part("lb").Plan(most/2), "cni (200 KiB), lb (200 KiB), dns (100 KiB)", "what is there counts")

	large := NewResults(make([]byte, MaxResults+2))
	require.NoError(t, large.Plan(MaxResults+2))
	require.NoError(t, large.Update(t.Context(), made(MaxResults+1)))
	require.Error(t, large.Update(t.Context(), made(MaxResults+2)))
}

func TestRegenerateSelects(t *testing.T) {
	const file = "core/charts/db/templates/tls.yaml"
	for name, tt := range map[string]struct {
		spec *RegenerateSpec
		want bool
	}{
		"none":           {nil, false},
		"all":            {&RegenerateSpec{}, true},
		"function":       {&RegenerateSpec{Functions: []string{"genCA"}}, true},
		"other function": {&RegenerateSpec{Functions: []string{"uuidv4"}}, false},
		"file":           {&RegenerateSpec{Templates: []string{"templates/tls.yaml"}}, true},
		"part of a name": {&RegenerateSpec{Templates: []string{"ls.yaml"}}, false},
		"both":           {&RegenerateSpec{Templates: []string{file}, Functions: []string{"genCA"}}, true},
		"one of both":    {&RegenerateSpec{Templates: []string{"a.yaml"}, Functions: []string{"genCA"}}, false},
	} {
		require.Equal(t, tt.want, tt.spec.Selects(file, "genCA"), name)
	}
}
