package heat

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestNoteOfHidden: Heat shows no value of a hidden parameter, so that a stack is as it was
// without it, and what it was is in the note as a keyed digest alone.
func TestNoteOfHidden(t *testing.T) {
	content := func(login, name string) *openstack.StackContent {
		return &openstack.StackContent{
			Template: map[string]any{"parameters": map[string]any{
				"login": map[string]any{"type": "string", "hidden": true}, "name": map[string]any{"type": "string"}, "other": map[string]any{"hidden": true},
			}},
			Parameters: map[string]any{"login": login, "name": name},
		}
	}
	noteOf := func(key string, c *openstack.StackContent) note {
		var n note
		require.NoError(t, n.setDigests([]byte(key), c))
		return n
	}
	n := noteOf("key", content("planted", "a"))
	for _, tt := range []struct {
		name string
		now  *openstack.StackContent
		fits bool
	}{
		{"as it was", content("******", "a"), true},
		{"another value", content("******", "b"), false},
		{"another template", &openstack.StackContent{Template: map[string]any{}, Parameters: map[string]any{"login": "******", "name": "a"}}, false},
	} {
		if fits, err := n.fits(tt.now); err != nil || fits != tt.fits {
			t.Errorf("%s: %t, %v", tt.name, fits, err)
		}
	}
	same, another, unkeyed := noteOf("key", content("planted", "a")), noteOf("key", content("other", "a")), noteOf("other", content("planted", "a"))
	if n.Hidden != same.Hidden || n.Hidden == another.Hidden || n.Hidden == unkeyed.Hidden || n.Content != another.Content || n.Content != unkeyed.Content {
		t.Errorf("%+v, the same %+v, with another value %+v, with another key %+v", n, same, another, unkeyed)
	}
	if values, err := n.values(); err != nil || strings.Contains(values[noteName].(string), "planted") { //nolint:forcetypeassert // a test
		t.Errorf("%v, %v", values, err)
	}
	plain := content("x", "a")
	delete(plain.Template, "parameters")
	key, err := n.key()
	require.ErrorIs(t, err, vnfm.ErrKeyLost, "beside hidden parameters: key %q", key)
	n = noteOf("key", plain)
	n.DigestKey = []byte("key")
	if key, err := n.key(); n.Hidden != "" || string(key) != "key" || err != nil {
		t.Errorf("without a hidden parameter: %+v, %v", n, err)
	}
	none := readNote(nil)
	if key, err := none.key(); key != nil || err != nil {
		t.Errorf("without a note: %q, %v", key, err)
	}
}
