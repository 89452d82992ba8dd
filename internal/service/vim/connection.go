package vim

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kubeconfig"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// connection is the argument that says where a VIM of one type is. It is named after the
// type.
type connection interface {
	// credentials maps the names of the credentials to their values, of which those that
	// are not set are null. Only a configuration holds the write-only ones.
	credentials() map[string]types.String
	// validate checks a configured connection as far as it is known. Nothing of a secret
	// is repeated in a diagnostic.
	validate(at path.Path) diag.Diagnostics
	// fill writes the type and the connection into a specification.
	fill(spec *vnfm.VIMSpec)
	// place is where the connection leads, as far as that is known offline.
	place() vnfm.VIMPlace
}

// connection returns the connection that is set, and where; nil while that is not known.
func (m *commonModel) connection(ctx context.Context) (connection, path.Path, diag.Diagnostics) {
	switch {
	case tfutil.Set(m.OpenStack):
		return openstackModel(m.OpenStack.Attributes()), path.Root(string(vnfm.VIMTypeOpenStack)), nil
	case tfutil.Set(m.Kubernetes):
		k, diags := m.kubernetes(ctx)
		return k, path.Root(string(vnfm.VIMTypeKubernetes)), diags
	default:
		return nil, path.Empty(), nil
	}
}

// known are the credentials that are set.
func known(values map[string]types.String) vnfm.Credentials {
	out := vnfm.Credentials{}
	for name, v := range values {
		if tfutil.Set(v) {
			out[name] = vnfm.Secret(v.ValueString())
		}
	}
	return out
}

// secretsOf returns the texts that must not show up anywhere: the credentials as they
// are and, of a file of credentials, the secrets inside.
func secretsOf(credentials vnfm.Credentials) []string {
	var texts []string
	for name, secret := range credentials {
		text := secret.Reveal()
		texts = append(texts, text)
		switch name {
		case vnfm.CredentialKubeconfig:
			texts = append(texts, kubeconfig.Secrets(text)...)
		case vnfm.CredentialCloudsYAML:
			texts = append(texts, openstack.SecretsIn(text)...)
		}
	}
	return texts
}
