package lcm

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// sealCredentials puts the credentials of a VIM into its record, sealed with its key and
// for the connection that the record describes.
func (e *Engine) sealCredentials(ctx context.Context, en *entry[vimRecord], credentials vnfm.Credentials) error {
	plain := make(map[string]string, len(credentials))
	for name, secret := range credentials {
		if secret != "" {
			plain[name] = secret.Reveal()
		}
	}
	data, err := json.Marshal(en.value)
	if err != nil {
		return err
	}
	to, err := vimDestination(data)
	if err != nil {
		return err
	}
	sealed, err := e.cfg.Keyring.SealFor(ctx, en.rec.ID, to, en.rec.Sealed, plain)
	if err != nil {
		return fmt.Errorf("sealing the credentials of VIM %q: %w", en.value.Name, err)
	}
	en.rec.Sealed = sealed
	return nil
}

// vimWithCredentials reads a VIM and opens its credentials.
func (e *Engine) vimWithCredentials(ctx context.Context, id string) (*vnfm.VIM, vnfm.Credentials, error) {
	v, creds, err := e.openVIM(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	creds, err = e.liveCredentials(ctx, v.Kubernetes, creds)
	return v, creds, err
}

// openVIM reads a VIM and the credentials that are in its record.
func (e *Engine) openVIM(ctx context.Context, id string) (*vnfm.VIM, vnfm.Credentials, error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, nil, err
	}
	en, err := get[vimRecord](ctx, s, store.KindVIM, id)
	if err != nil {
		return nil, nil, err
	}
	plain, err := s.OpenRecord(ctx, &en.rec, id, vimDestination)
	if err != nil {
		return nil, nil, edited(err, fmt.Sprintf("opening the credentials of VIM %q", en.value.Name),
			"find out who writes the store, and register the VIM again: apply its vnf_vim with the credentials given, with another *_wo_version where the plan shows no change")
	}
	// Another process may have written the record since it was read.
	if en, err = decode[vimRecord](en.rec); err != nil {
		return nil, nil, err
	}
	creds := make(vnfm.Credentials, len(plain))
	for name, text := range plain {
		creds[name] = vnfm.Secret(text)
	}
	concealCredentials(ctx, creds)
	return &en.value.VIM, creds, nil
}

// liveCredentials returns the credentials of a connection. Those of a workload
// cluster are read from its management cluster, so that a rotation is followed.
func (e *Engine) liveCredentials(ctx context.Context, c *vnfm.KubernetesConnection, creds vnfm.Credentials) (vnfm.Credentials, error) {
	if c == nil || c.CAPICluster == nil || creds[vnfm.CredentialKubeconfig] != "" {
		return creds, nil
	}
	k, err := e.WorkloadKubeconfig(ctx, *c.CAPICluster, vnfm.KubeconfigSpec{})
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig of workload cluster %s/%s from its management cluster: %w", c.CAPICluster.Namespace, c.CAPICluster.Name, err)
	}
	if err := k.Expired(*c.CAPICluster); err != nil {
		return nil, err
	}
	live := vnfm.Credentials{vnfm.CredentialKubeconfig: k.Raw}
	concealCredentials(ctx, live)
	return live, nil
}
