package base

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

// The arguments of an instance are kept as they are written, with its record and on its VIM, so that an import gives them back.

// identities are the arguments that an import knows without them, or that other stores have otherwise.
func (c *Config) identities() []string {
	return []string{"name", "namespace", "package_id", c.VIMAttribute}
}

// allAttributes are the attributes of the resource.
func (c *Config) allAttributes(ctx context.Context) map[string]schema.Attribute {
	return tfutil.Merged(c.Schema(ctx).Attributes, c.attributes())
}

// arguments are the arguments in a plan or state. Without them an import shows differences, and nothing else is lost.
func (r *InstanceResource[M, P]) arguments(ctx context.Context, raw tftypes.Value) json.RawMessage {
	encoded, err := tfutil.ArgumentsJSON(r.config.allAttributes(ctx), raw, r.config.identities()...)
	if err != nil {
		return nil
	}
	return encoded
}

// restoreArguments gives an imported state the arguments that were kept.
func (r *InstanceResource[M, P]) restoreArguments(ctx context.Context, kept json.RawMessage, state *tfsdk.State) diag.Diagnostics {
	if len(kept) == 0 {
		return nil
	}
	return tfutil.SetArguments(ctx, r.config.allAttributes(ctx), kept, state)
}
