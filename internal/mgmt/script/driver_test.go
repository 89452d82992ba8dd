package script_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/script"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/hooktest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/sshtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const text = `#!/bin/sh
cat > "$OUT/$VNF_VNFC_ID.json"
env | grep ^VNF_ | sort > "$OUT/$VNF_VNFC_ID.env"
echo "site is $SITE on $VNF_VNFC_ID"
if [ -e "$OUT/fail-$VNF_VNFC_ID" ]; then echo "disk of $VNF_VNFC_ID is full, secret of root" >&2; exit 3; fi
echo "$VNF_VNFC_ID" >> "$OUT/ran"
`

func flavour() *vnfm.Flavour {
	return &vnfm.Flavour{
		ID: "default", VDUs: []vnfm.VDU{{ID: "web"}, {ID: "db"}},
		ConnectionPoints: []vnfm.ConnectionPoint{{ID: "web_cp", VDUID: "web"}, {ID: "db_cp", VDUID: "db"}},
	}
}

func hook(name string, inputs map[string]string) vnfm.Hook {
	return vnfm.Hook{Name: name, Implementation: vnfm.Implementation{Artifact: "setup", File: "Scripts/setup.sh", Type: vnfm.ArtifactBash, Inputs: inputs}}
}

type host struct {
	*vnfm.HookCall
	recorder *hooktest.Recorder
	out      string
	servers  []*sshtest.Server
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{recorder: &hooktest.Recorder{}, out: t.TempDir()}
	first := sshtest.New(t, sshtest.Options{Address: "127.0.0.21"})
	port := first.Host().Port
	h.servers = []*sshtest.Server{first, sshtest.New(t, sshtest.Options{Address: "127.0.0.22", Port: port})}
	has := &vnfm.ResourceInfo{VNFCs: []vnfm.VNFC{
		{ID: "web-2", VDUID: "web", Resource: "web2", State: "ACTIVE", ConnectionPoints: map[string][]string{"web_cp": {"127.0.0.22"}}, Addresses: []string{"127.0.0.22"}},
		{ID: "web-1", VDUID: "web", Resource: "web1", State: "ACTIVE", ConnectionPoints: map[string][]string{"web_cp": {"10.9.9.9"}}, Addresses: []string{"10.9.9.9", "127.0.0.21"}},
		{ID: "web-0", VDUID: "web", State: vnfm.VNFCGone},
		{ID: "db-1", VDUID: "db", State: "ACTIVE", ConnectionPoints: map[string][]string{"db_cp": {"127.0.0.99"}}},
	}}
	h.HookCall = &vnfm.HookCall{
		Hook: hook("instantiate_end", map[string]string{"vdus": "web", "SITE": "edge", "OUT": h.out}), Operation: vnfm.OpInstantiate, End: true,
		Params: map[string]any{
			"ssh_access":    map[string]any{"web": map[string]any{"ssh_cp_name": "web_cp", "username": "root", "password": "secret of root", "port": int64(port)}},
			"script_params": map[string]any{"token": "planted-token"},
		},
		Instance: &vnfm.Instance{ID: "7", Name: "core", FlavourID: "default"}, Flavour: flavour(),
		Package:   &vnfm.Package{Content: fstest.MapFS{"Scripts/setup.sh": {Data: []byte(text)}}},
		Resources: func(context.Context) (*vnfm.ResourceInfo, error) { return has, nil },
		Recorder:  h.recorder, HostKeys: h.recorder,
	}
	return h
}

func (h *host) ran(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(h.out, "ran"))
	require.NoError(t, err)
	return strings.Fields(string(data))
}

// The script runs on every server of the VDU, by its floating address where it has one,
// with the inventory; a server where it succeeded is left alone afterwards.
func TestScriptOnServers(t *testing.T) {
	h := newHost(t)
	require.NoError(t, os.WriteFile(filepath.Join(h.out, "fail-web-2"), nil, 0o600))
	err := script.New().Run(t.Context(), h.HookCall)
	require.ErrorContains(t, err, "script Scripts/setup.sh of the package on VNFC web-2")
	require.ErrorContains(t, err, "disk of web-2 is full")
	assert.NotContains(t, err.Error(), "secret of root")
	assert.Equal(t, []string{"web-1"}, h.ran(t))

	require.NoError(t, os.Remove(filepath.Join(h.out, "fail-web-2")))
	require.NoError(t, script.New().Run(t.Context(), h.HookCall))
	assert.Equal(t, []string{"web-1", "web-2"}, h.ran(t), "a server where it succeeded is left alone")

	var got map[string]any
	data, err := os.ReadFile(filepath.Join(h.out, "web-1.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &got))
	assert.Equal(t, "instantiate_end", got["hook"])
	assert.Equal(t, map[string]any{"token": "planted-token"}, got["params"])
	assert.Len(t, got["vnfcs"], 4)
	env, err := os.ReadFile(filepath.Join(h.out, "web-1.env"))
	require.NoError(t, err)
	for _, want := range []string{"VNF_ADDRESS=127.0.0.21", "VNF_VDU_ID=web", "VNF_LEAVING=false", "VNF_OPERATION=INSTANTIATE"} {
		assert.Contains(t, string(env), want)
	}
	assert.Contains(t, h.recorder.Lines(), "web-1: site is edge on web-1")
	assert.NotEmpty(t, h.recorder.Pinned("vnfc/web-1"))
	for _, line := range append(h.recorder.Lines(), h.servers[0].Commands()...) {
		assert.NotContains(t, line, "planted-token")
	}
}

// A server that is replaced may well not answer any more.
func TestReplacedServerDoesNotAnswer(t *testing.T) {
	h := newHost(t)
	h.servers[1].Refuse(true)
	h.Params["ssh_access"].(map[string]any)["web"].(map[string]any)["boot_timeout"] = "1s" //nolint:forcetypeassert // It is there.
	h.Operation, h.End, h.Leaving = vnfm.OpHeal, false, []string{"web-2"}
	h.Hook = hook("heal_start", h.Hook.Implementation.Inputs)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, script.New().Run(ctx, h.HookCall))
	assert.Equal(t, []string{"web-1"}, h.ran(t))
	assert.Contains(t, strings.Join(h.recorder.Lines(), "\n"), "did not run on VNFC web-2, which is replaced")
}

// The error names a server that does not boot, the length of the wait and the remedy. The apply may end earlier.
func TestServerNeverAnswers(t *testing.T) {
	h := newHost(t)
	h.servers[1].Stop()
	access := h.Params["ssh_access"].(map[string]any)["web"].(map[string]any) //nolint:forcetypeassert // It is above.
	access["boot_timeout"] = "1s"
	err := script.New().Run(t.Context(), h.HookCall)
	require.ErrorContains(t, err, "VNFC web-2: logging in on root@127.0.0.22:")
	require.ErrorContains(t, err, "it was tried for 1s: ")
	require.ErrorContains(t, err, "connection refused; see on its console whether it has booted")
	require.ErrorContains(t, err, "needs a longer boot_timeout")

	access["boot_timeout"] = "1h"
	ctx, cancel := context.WithTimeout(t.Context(), 1200*time.Millisecond)
	defer cancel()
	err = script.New().Run(ctx, h.HookCall)
	require.ErrorContains(t, err, "VNFC web-2: connecting to root@127.0.0.22:")
	require.ErrorContains(t, err, "was stopped after 1s: context deadline exceeded")
	require.ErrorContains(t, err, "needs a longer timeouts")
}

func TestCheck(t *testing.T) {
	login := func(cp string) map[string]any {
		return map[string]any{"ssh_cp_name": cp, "username": "root", "password": "x"}
	}
	for name, c := range map[string]struct {
		hook   vnfm.Hook
		access map[string]any
		later  bool
		want   string
	}{
		"whole":          {hook("scale_end", map[string]string{"vdus": `["web"]`}), map[string]any{"web": login("web_cp")}, false, ""},
		"all VDUs":       {hook("scale_end", nil), map[string]any{"web": login("web_cp")}, false, "ssh_access.db is missing"},
		"known later":    {hook("scale_end", nil), nil, true, ""},
		"no servers yet": {hook("instantiate_start", nil), nil, false, "hook instantiate_start: there are no servers on which a script could run"},
		"wrong VDU":      {hook("scale_end", map[string]string{"vdus": "wep"}), nil, false, `input vdus names "wep", which is not a VDU`},
		"no file":        {vnfm.Hook{Name: "scale_end", Implementation: vnfm.Implementation{File: "Scripts/setpu.sh", Inputs: map[string]string{"vdus": "web"}}}, map[string]any{"web": login("web_cp")}, false, "the package has no file Scripts/setpu.sh"},
		"bad input":      {hook("scale_end", map[string]string{"timeout": "soon"}), nil, false, `input timeout is "soon"`},
		"wrong CP":       {hook("scale_end", map[string]string{"vdus": "web"}), map[string]any{"web": login("web_pc")}, false, `ssh_access.web.ssh_cp_name names no connection point of a server: "web_pc": did you mean "web_cp"?`},
		"CP of another":  {hook("scale_end", map[string]string{"vdus": "web"}), map[string]any{"web": login("db_cp")}, false, `ssh_access.web.ssh_cp_name names a connection point of VDU db: "db_cp"`},
		"no VDU":         {hook("scale_end", map[string]string{"vdus": "web"}), map[string]any{"web": login("web_cp"), "wub": login("web_cp")}, false, `ssh_access.wub is not a VDU of deployment flavour "default"`},
		"no password":    {hook("scale_end", map[string]string{"vdus": "web"}), map[string]any{"web": map[string]any{"ssh_cp_name": "web_cp", "username": "root"}}, false, "ssh_access.web.password is missing"},
		"mistyped":       {hook("scale_end", map[string]string{"vdus": "web"}), map[string]any{"web": map[string]any{"ssh_cp_name": "web_cp", "username": "root", "pasword": "x"}}, true, `ssh_access.web.pasword is not known: did you mean "password"?`},
		"bad wait":       {hook("scale_end", map[string]string{"vdus": "web"}), map[string]any{"web": map[string]any{"ssh_cp_name": "web_cp", "username": "root", "password": "x", "boot_timeout": "soon"}}, false, `ssh_access.web.boot_timeout must be a duration, not "soon"`},
		"bad key":        {hook("scale_end", map[string]string{"vdus": "web"}), map[string]any{"web": map[string]any{"ssh_cp_name": "web_cp", "username": "root", "private_key": "x"}}, false, "ssh_access.web cannot be used to log in"},
	} {
		t.Run(name, func(t *testing.T) {
			given := map[string]any{}
			if c.access != nil {
				given["ssh_access"] = c.access
			}
			problems := script.New().Check(&vnfm.HookCheck{
				Hooks: []vnfm.Hook{c.hook}, Params: given, Later: c.later, Flavour: flavour(),
				Package: &vnfm.Package{Content: fstest.MapFS{"Scripts/setup.sh": {Data: []byte(text)}}},
			})
			if c.want == "" {
				assert.Empty(t, problems)
				return
			}
			require.Len(t, problems, 1)
			assert.Contains(t, problems[0].String(), c.want)
		})
	}
}
