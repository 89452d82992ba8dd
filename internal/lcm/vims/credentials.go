package vims

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// sealCredentials puts the credentials of a VIM into its record, sealed with its key and
// for the connection that the record describes.
func (m *Manager) sealCredentials(ctx context.Context, en *records.Entry[Record], spec vnfm.VIMSpec) error {
	credentials := spec.Credentials
	if spec.NeedsCredentials() && len(credentials) == 0 && m.access(en.Rec.ID, spec.Name) != nil {
		// They come with each run.
		en.Rec.Sealed = nil
		return nil
	}
	if refused := vnfm.Unwritten(ctx); refused != nil && m.cfg.Keyring.HasVault() {
		// The key that a vault makes for them would outlive the record.
		return refused
	}
	plain := make(map[string]string, len(credentials))
	for name, secret := range credentials {
		if secret != "" {
			plain[name] = secret.Reveal()
		}
	}
	to, err := destination(&en.Value.VIM)
	if err != nil {
		return err
	}
	sealed, err := m.cfg.Keyring.SealFor(ctx, en.Rec.ID, to, en.Rec.Sealed, plain)
	if err != nil {
		return fmt.Errorf("sealing the credentials of VIM %q: %w", en.Value.Name, err)
	}
	en.Rec.Sealed = sealed
	return nil
}

// Open reads a VIM and opens its credentials.
func (m *Manager) Open(ctx context.Context, id string) (*vnfm.VIM, vnfm.Credentials, error) {
	v, creds, perRun, err := m.openVIM(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	if perRun {
		return &v.VIM, creds, m.verify(ctx, &v.VIM, creds)
	}
	v.Kubernetes, creds, err = m.liveCredentials(ctx, v.Kubernetes, creds)
	return &v.VIM, creds, err
}

// openVIM reads a VIM and the credentials that this run brings, or else those in its record. It
// reports whether they are this run's.
func (m *Manager) openVIM(ctx context.Context, id string) (*opened, vnfm.Credentials, bool, error) {
	s, err := m.cfg.Store(ctx)
	if err != nil {
		return nil, nil, false, err
	}
	en, err := records.Get[Record](ctx, s, store.KindVIM, id)
	if err != nil {
		return nil, nil, false, err
	}
	if en.Value.PerRun || m.access(id, en.Value.Name) != nil {
		o, creds, err := m.openPerRun(ctx, &en.Value.VIM)
		return o, creds, true, err
	}
	plain, err := s.OpenRecord(ctx, &en.Rec, id, func(rec *store.Record) (seal.Destination, error) {
		return recordDestination(ctx, s, rec)
	})
	if err != nil {
		return nil, nil, false, records.EditedError(err, vnfm.EditedVIM, fmt.Sprintf("opening the credentials of VIM %q", en.Value.Name))
	}
	// Another process may have written the record since it was read.
	if en, err = records.Decode[Record](en.Rec); err != nil {
		return nil, nil, false, err
	}
	creds := make(vnfm.Credentials, len(plain))
	for name, text := range plain {
		creds[name] = vnfm.Secret(text)
	}
	concealCredentials(ctx, creds)
	return &opened{VIM: en.Value.VIM, own: en.Value.VIM}, creds, false, nil
}

// liveCredentials returns a connection and its credentials. Those of a workload cluster are read from its
// management cluster, and again when the cluster refuses them, so that a rotation is followed.
func (m *Manager) liveCredentials(ctx context.Context, c *vnfm.KubernetesConnection, creds vnfm.Credentials) (*vnfm.KubernetesConnection, vnfm.Credentials, error) {
	if c == nil || c.KubeconfigRef == nil || creds[vnfm.CredentialKubeconfig] != "" {
		return c, creds, nil
	}
	live := *c
	live.Renew = c.KubeconfigRef.Renewal(func(ctx context.Context) (*vnfm.Kubeconfig, error) { return m.cfg.Kubeconfig(ctx, *c.KubeconfigRef) })
	text, err := live.Renew(ctx)
	if err != nil {
		return nil, nil, err
	}
	return &live, vnfm.Credentials{vnfm.CredentialKubeconfig: text}, nil
}

// recordDestination is the destination in a record of a VIM. A record that has the provider read
// files or run a program of this machine is refused unless a holder of the key has sealed it:
// who can only write the store must not do that.
func recordDestination(ctx context.Context, s *seal.Store, rec *store.Record) (seal.Destination, error) {
	var v vnfm.VIM
	if err := json.Unmarshal(rec.Data, &v); err != nil {
		return nil, fmt.Errorf("reading where the credentials of the VIM go: %w", err)
	}
	// A record without a sealed part is one whose registration was interrupted. It does not open.
	if names := v.Kubernetes.UsesMachine(); len(names) > 0 && len(rec.Sealed) > 0 {
		proven, err := s.IsProven(ctx, rec.Sealed)
		if err != nil {
			return nil, err
		}
		if !proven {
			for i, name := range names {
				names[i] = "kubernetes." + name
			}
			return nil, &seal.EditedError{Fields: names}
		}
	}
	return destination(&v)
}

// destination is where the credentials of a VIM go: everything that its record says of
// the connection. The program that prints them is in it as a whole too: an empty argument or
// variable makes a difference there.
func destination(v *vnfm.VIM) (seal.Destination, error) {
	to, err := seal.DestinationOf(map[string]any{"type": v.Type, "kubernetes": v.Kubernetes, "openstack": v.OpenStack})
	if err != nil || v.Kubernetes == nil || v.Kubernetes.Exec == nil {
		return to, err
	}
	exec, err := json.Marshal(v.Kubernetes.Exec)
	to["kubernetes.exec"] = string(exec)
	return to, err
}

// concealCredentials makes credentials known.
func concealCredentials(ctx context.Context, credentials vnfm.Credentials) {
	for _, secret := range credentials {
		vnfm.Conceal(ctx, secret.Reveal())
	}
}
