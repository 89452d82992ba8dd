package helm

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReleaseSurvivesItsRecord(t *testing.T) {
	first := rendered(t, core(), map[string]any{"amf": map[string]any{"replicas": 2}}).Release(1, time.Time{}, PendingInstall, "Initial install underway")
	first.Set(Failed, strings.Repeat("x", 5000))
	text, err := first.Encode()
	require.NoError(t, err)
	read, err := Decode(text)
	require.NoError(t, err)
	if read.Revision() != 1 || read.Status() != Failed || !read.FirstDeployed().Equal(first.FirstDeployed()) || len(read.record.Info.Description) > 1003 {
		t.Errorf("read back: revision %d, %s, first deployed %s, %d characters of description", read.Revision(), read.Status(), read.FirstDeployed(), len(read.record.Info.Description))
	}
	if len(read.record.Hooks) != 3 || read.record.Chart.Metadata.Version != "1.2.3" || !strings.Contains(read.record.Manifest, "kind: Deployment") {
		t.Errorf("read back: %d hooks, chart %+v, manifest:\n%s", len(read.record.Hooks), read.record.Chart.Metadata, read.record.Manifest)
	}
	second := rendered(t, core(), map[string]any{"amf.replicas": 2})
	if len(second.Release(2, time.Time{}, PendingUpgrade, "").Differing(read)) == 0 {
		t.Error("a path below the root is a value of its own name here: Values has to read it first")
	}
	for name, tt := range map[string]struct {
		values map[string]any
		file   string
		want   []string
	}{
		"the same":      {values: map[string]any{"amf": map[string]any{"replicas": int64(2)}}},
		"other values":  {values: map[string]any{"amf": map[string]any{"replicas": int64(3)}}, want: []string{"values", "manifest"}},
		"another chart": {values: map[string]any{"amf": map[string]any{"replicas": int64(2)}}, file: "README.md", want: []string{"chart"}},
	} {
		files := core()
		if tt.file != "" {
			files = with(tt.file, "text")
		}
		made := rendered(t, files, tt.values).Release(2, time.Time{}, PendingUpgrade, "")
		assert.Equal(t, tt.want, made.Differing(read), "%s: what differs", name)
		mine, err := made.Content()
		require.NoError(t, err)
		if theirs, err := read.Content(); err != nil || bytes.Equal(mine, theirs) != (len(tt.want) == 0) {
			t.Errorf("%s: the contents are the same: %t; %v", name, bytes.Equal(mine, theirs), err)
		}
	}
	plain := rendered(t, core(), nil).Release(1, time.Time{}, Deployed, "")
	text, err = plain.Encode()
	require.NoError(t, err)
	if again, err := Decode(text); err != nil || len(plain.Differing(again)) > 0 {
		t.Errorf("a release without values is another one once it is read: %v", err)
	}
	want := map[string]any{"name": "site", "owner": "helm", "status": "failed", "version": "1"}
	labels := read.Labels()
	delete(labels, "modifiedAt")
	assert.Equal(t, want, labels, "labels")
	for _, bad := range []string{"", "text", "dGV4dA=="} {
		if _, err := Decode(bad); err == nil {
			t.Errorf("%q is a record", bad)
		}
	}
}
