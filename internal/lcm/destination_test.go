package lcm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// rewrite changes a record as somebody does who has the store and no key.
func rewrite(t *testing.T, dir string, kind store.Kind, id string, change func(r *store.Record)) {
	t.Helper()
	s := opened(t, dir)
	r, err := s.Get(t.Context(), kind, id)
	require.NoError(t, err)
	change(r)
	require.NoError(t, s.Update(t.Context(), r))
}

// setField sets a field of the data of a record, by its path.
func setField(t *testing.T, path string, value any) func(*store.Record) {
	return func(r *store.Record) {
		t.Helper()
		var tree map[string]any
		require.NoError(t, json.Unmarshal(r.Data, &tree))
		at, names := tree, strings.Split(path, ".")
		if of, host, ok := strings.Cut(path, "."); ok && of == "host_keys" {
			names = []string{of, host}
		}
		for _, name := range names[:len(names)-1] {
			next, ok := at[name].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[name] = next
			}
			at = next
		}
		at[names[len(names)-1]] = value
		data, err := json.Marshal(tree)
		require.NoError(t, err)
		r.Data = data
	}
}

// refused checks that a record is refused for a field, with what to do.
func refused(t *testing.T, err error, object, field string) {
	t.Helper()
	edited, ok := errors.AsType[*vnfm.EditedError](err)
	if !ok || !slices.Contains(edited.Fields, field) || !strings.Contains(err.Error(), object) || !strings.Contains(strings.ToLower(tfutil.ErrorDetail(err)), "apply") {
		t.Errorf("%s of %s was edited: %v", field, object, err)
	}
}

func destinedVIMs() map[vnfm.VIMType]vnfm.VIMSpec {
	return map[vnfm.VIMType]vnfm.VIMSpec{
		vnfm.VIMTypeKubernetes: vaultVIM(),
		vnfm.VIMTypeOpenStack: {
			Name: "cloud", Type: vnfm.VIMTypeOpenStack,
			OpenStack:   &vnfm.OpenStackConnection{AuthURL: "https://192.0.2.1:5000", CACertificate: "PEM", Username: "u", ProjectName: "p"},
			Credentials: vnfm.Credentials{vnfm.CredentialPassword: "passw0rd-of-the-test"},
		},
	}
}

// TestVIMRecordIsEdited changes what says where the credentials of a VIM go. They are sent
// nowhere until the VIM is registered again.
func TestVIMRecordIsEdited(t *testing.T) {
	w := &env{driver: &driver{objects: map[string]string{}}, cloud: &driver{objects: map[string]string{}}, dir: t.TempDir()}
	e := w.open(t)
	for kind, fields := range map[vnfm.VIMType]map[string]any{
		vnfm.VIMTypeKubernetes: {
			"kubernetes.endpoint": "https://evil.example", "kubernetes.ca_certificate": "PEM", "kubernetes.insecure_skip_tls_verify": true,
			"kubernetes.tls_server_name": "evil.example", "kubernetes.proxy_url": "http://evil.example", "kubernetes.kubeconfig_context": "evil",
			"kubernetes.username": "evil", "kubernetes.kubeconfig_ref.name": "evil", "type": "openstack",
			"kubernetes.token_file": "/etc/evil", "kubernetes.exec": map[string]any{"command": "evil"}, "kubernetes.kubeconfig_path": "/etc/evil", "kubernetes.in_cluster": true,
		},
		vnfm.VIMTypeOpenStack: {
			"openstack.auth_url": "https://evil.example", "openstack.ca_certificate": "", "openstack.insecure_skip_tls_verify": true,
			"openstack.allow_http_endpoints": true, "openstack.cloud": "evil", "openstack.region": "evil", "openstack.interface": "admin",
		},
	} {
		spec := destinedVIMs()[kind]
		v, _, err := e.RegisterVIM(t.Context(), "", spec)
		require.NoError(t, err)
		for field, value := range fields {
			require.NoError(t, second(w.open(t).CheckRegisteredVIM(t.Context(), v.ID, 0)))
			rewrite(t, w.dir, store.KindVIM, v.ID, setField(t, field, value))
			_, err := w.open(t).CheckRegisteredVIM(t.Context(), v.ID, 0)
			refused(t, err, fmt.Sprintf("VIM %q", spec.Name), field)
			if _, _, err := w.open(t).UpdateVIM(t.Context(), v.ID, spec); err != nil {
				t.Fatalf("registering it again: %v", err)
			}
		}
	}
}

// TestProgramInRecordIsEdited changes the program that logs in to a VIM, as a whole or in part.
func TestProgramInRecordIsEdited(t *testing.T) {
	w := &env{driver: &driver{objects: map[string]string{}}, dir: t.TempDir()}
	spec := vnfm.VIMSpec{Name: "edge", Type: vnfm.VIMTypeKubernetes, Kubernetes: &vnfm.KubernetesConnection{
		Endpoint: "https://192.0.2.1:6443",
		Exec:     &vnfm.ExecPlugin{Command: "aws", Args: []string{"eks", "get-token"}, Env: map[string]string{"AWS_PROFILE": "edge"}, APIVersion: "client.authentication.k8s.io/v1"},
	}}
	v, _, err := w.open(t).RegisterVIM(t.Context(), "", spec)
	require.NoError(t, err)
	var plain []byte
	rewrite(t, w.dir, store.KindVIM, v.ID, func(r *store.Record) { plain = r.Data })
	keys := keyring(t, seal.Source{KeyFile: filepath.Join(w.dir, "key.txt")})
	for name, test := range map[string]struct {
		change func(*store.Record)
		field  string
	}{
		"command":        {setField(t, "kubernetes.exec.command", "/tmp/evil"), "kubernetes.exec.command"},
		"arguments":      {setField(t, "kubernetes.exec.args", []string{"eks", "get-token", ""}), "kubernetes.exec"},
		"variable":       {setField(t, "kubernetes.exec.env.LD_PRELOAD", "/tmp/evil.so"), "kubernetes.exec.env.LD_PRELOAD"},
		"empty variable": {setField(t, "kubernetes.exec.env.PATH", ""), "kubernetes.exec"},
		"sealed without a destination": {func(r *store.Record) {
			if r.Sealed, err = keys.Seal(t.Context(), v.ID, nil, nil); err != nil {
				t.Error(err)
			}
			setField(t, "kubernetes.exec.command", "/tmp/evil")(r)
		}, "kubernetes.exec"},
	} {
		rewrite(t, w.dir, store.KindVIM, v.ID, test.change)
		_, err := w.open(t).CheckRegisteredVIM(t.Context(), v.ID, 0)
		refused(t, err, `VIM "edge"`, test.field)
		require.ErrorContains(t, err, "nothing on this machine was read or run", name)
		rewrite(t, w.dir, store.KindVIM, v.ID, func(r *store.Record) { r.Data = plain })
		if _, _, err := w.open(t).UpdateVIM(t.Context(), v.ID, spec); err != nil {
			t.Fatalf("registering it again: %v", err)
		}
		require.NoError(t, second(w.open(t).CheckRegisteredVIM(t.Context(), v.ID, 0)), "after %s", name)
	}
}

// TestSealedPartsAreExchanged gives a VIM the sealed part of another one, and one of its own
// of before its endpoint changed.
func TestSealedPartsAreExchanged(t *testing.T) {
	w := &env{driver: &driver{objects: map[string]string{}}, dir: t.TempDir()}
	e := w.open(t)
	spec := vaultVIM()
	v, _, err := e.RegisterVIM(t.Context(), "", spec)
	require.NoError(t, err)
	other := vaultVIM()
	other.Name = "other"
	o, _, err := e.RegisterVIM(t.Context(), "", other)
	require.NoError(t, err)
	var first, foreign []byte
	rewrite(t, w.dir, store.KindVIM, o.ID, func(r *store.Record) { foreign = r.Sealed })
	rewrite(t, w.dir, store.KindVIM, v.ID, func(r *store.Record) { first, r.Sealed = r.Sealed, foreign })
	require.ErrorContains(t, second(w.open(t).CheckRegisteredVIM(t.Context(), v.ID, 0)), "sealed for another owner", "with the credentials of another VIM")
	// Another endpoint that the user gives is sealed with them.
	spec.Kubernetes = &vnfm.KubernetesConnection{Endpoint: "https://192.0.2.7:6443"}
	if _, _, err := w.open(t).UpdateVIM(t.Context(), v.ID, spec); err != nil {
		t.Fatal(err)
	}
	require.NoError(t, second(w.open(t).CheckRegisteredVIM(t.Context(), v.ID, 0)), "with the endpoint that was given")
	rewrite(t, w.dir, store.KindVIM, v.ID, func(r *store.Record) { r.Sealed = first })
	_, err = w.open(t).CheckRegisteredVIM(t.Context(), v.ID, 0)
	refused(t, err, `VIM "edge"`, "kubernetes.endpoint")
}

// TestHostKeysAreEdited changes the key of a host in the record of an instance whose
// management driver has a password for it.
func TestHostKeysAreEdited(t *testing.T) {
	w, d, spec := newWorkerEnv(t)
	i, err := w.Instantiate(t.Context(), spec)
	require.NoError(t, err)
	w.mustUpdate(t, i.ID, spec)
	edit := func() { rewrite(t, w.dir, store.KindInstance, i.ID, setField(t, "host_keys.one", "ssh-ed25519 EVIL")) }
	edit()
	d.taken()
	spec.ScaleLevels = map[string]int{"workers": 1}
	_, err = w.open(t).Update(t.Context(), i.ID, spec)
	refused(t, err, `VNF instance "core"`, "host_keys.one")
	same(t, "calls", d.taken(), []string(nil))
	// It is reported once: the key was forgotten, and is found again.
	got := w.mustUpdate(t, i.ID, spec)
	same(t, "host keys", got.HostKeys, map[string]string{"one": "ssh-ed25519 AAAA"})
	edit()
	d.taken()
	err = w.open(t).Terminate(t.Context(), i.ID, vnfm.TerminateSpec{})
	refused(t, err, `VNF instance "core"`, "host_keys.one")
	same(t, "calls", d.taken(), []string(nil))
	var left []string
	require.NoError(t, w.open(t).Terminate(t.Context(), i.ID, vnfm.TerminateSpec{Type: vnfm.Forceful, LeftBehind: func(object, _ string) { left = append(left, object) }}))
	same(t, "left behind", left, []string{"Work of Management Drivers"})
	same(t, "parameters", d.seen, map[string]any{})
}

// pinningHosts are hosts whose key is kept, and that note which registry they get.
type pinningHosts struct {
	vnfm.RegistryDriver
	addresses []string
}

func (p *pinningHosts) InstallRegistry(ctx context.Context, h *vnfm.RegistryHost) (*vnfm.RegistryState, error) {
	p.addresses = append(p.addresses, h.Address+" "+h.Spec.SSH.Password.Reveal()+" "+h.HostKeys.Pinned(h.Pin))
	return &vnfm.RegistryState{}, errors.Join(h.HostKeys.Pin(ctx, h.Pin, "ssh-ed25519 AAAA"), h.Begin(ctx))
}

func (p *pinningHosts) ReadRegistry(ctx context.Context, h *vnfm.RegistryHost) (*vnfm.RegistryState, error) {
	return p.InstallRegistry(ctx, h)
}

func (p *pinningHosts) RemoveRegistry(ctx context.Context, h *vnfm.RegistryHost, _ bool) error {
	_, err := p.InstallRegistry(ctx, h)
	return err
}

// TestRegistryRecordIsEdited changes what says where the password of a host goes.
func TestRegistryRecordIsEdited(t *testing.T) {
	dir, hosts := t.TempDir(), &pinningHosts{}
	e := newEngine(t, dir, lcm.Config{Registries: hosts}, nil)
	spec := vnfm.RegistrySpec{Name: "r", SSH: vnfm.SSHAccess{Address: "192.0.2.1", User: "u", Password: "planted-password"}}
	r, err := e.InstallRegistry(t.Context(), "", spec)
	require.NoError(t, err)
	for field, value := range map[string]any{
		"spec.ssh.address": "192.0.2.66", "spec.ssh.port": 2222, "spec.ssh.jump.address": "192.0.2.66", "spec.ssh.user": "evil",
		"spec.image": "evil", "host_keys.host/192.0.2.1": "ssh-ed25519 EVIL",
	} {
		rewrite(t, dir, store.KindRegistry, r.ID, setField(t, field, value))
		before := len(hosts.addresses)
		_, err := e.ReadRegistry(t.Context(), r.ID)
		refused(t, err, `private registry "r"`, field)
		refused(t, e.RemoveRegistry(t.Context(), r.ID, vnfm.RegistryRemoval{}), `private registry "r"`, field)
		_, err = e.InstallRegistry(t.Context(), r.ID, spec)
		refused(t, err, `private registry "r"`, field)
		require.Empty(t, hosts.addresses[before:], "%s: the secrets went to", field)
		require.NoError(t, second(e.InstallRegistry(t.Context(), r.ID, spec)))
		same(t, "the host", hosts.addresses[before:], []string{"192.0.2.1 planted-password "})
		require.NoError(t, second(e.ReadRegistry(t.Context(), r.ID)))
	}
	require.NoError(t, e.Close())
	require.NoError(t, os.Remove(filepath.Join(dir, "key.txt")))
	e = newEngine(t, dir, lcm.Config{Registries: hosts}, nil)
	seen, err := e.ReadRegistry(t.Context(), r.ID)
	require.ErrorIs(t, err, vnfm.ErrUnopened, "without the key")
	require.Equal(t, spec.Name, seen.Spec.Name, "without the key")
	require.NoError(t, second(e.InstallRegistry(t.Context(), r.ID, spec)))
	require.NoError(t, second(e.ReadRegistry(t.Context(), r.ID)), "with another key")
}
