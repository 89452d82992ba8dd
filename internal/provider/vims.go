package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	// vimsArgument is the argument with the connections that come with each run.
	vimsArgument = "vims"
	// fromEnvironment is the argument that has the OS_* variables read.
	fromEnvironment = "from_environment"
)

func vimsAttribute() schema.MapNestedAttribute {
	return schema.MapNestedAttribute{
		Optional: true,
		MarkdownDescription: "Connections to VIMs that come with each run, by the name of the `vnf_vim` or its id: short-lived tokens, OIDC tokens of pipelines, leases of Vault. They are stored nowhere, may be ephemeral values, and win over the credentials in the store. " +
			"A `vnf_vim` without `kubernetes` and `openstack` takes its connection from here. A value that a plan does not know leaves that VIM offline in the plan.",
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			string(vnfm.VIMTypeKubernetes): schema.SingleNestedAttribute{
				Optional: true,
				MarkdownDescription: "Connection to a Kubernetes API server. It has the arguments of `kubernetes` of a `vnf_vim`, and `kubeconfig_path` and `in_cluster`. " +
					"Set exactly one of `kubernetes` and `openstack`, and exactly one way of authentication.",
				Attributes: kubernetesConnectionAttributes(),
			},
			string(vnfm.VIMTypeOpenStack): schema.SingleNestedAttribute{
				Optional: true,
				MarkdownDescription: "Connection to one region and project of an OpenStack. It has the arguments of `openstack` of a `vnf_vim`, and `from_environment`. " +
					"`cloud` without `clouds_yaml` names a cloud of the clouds.yaml of this machine: `$OS_CLIENT_CONFIG_FILE`, else that of the working directory, of `~/.config/openstack` or of `/etc/openstack`.",
				Attributes: openstackConnectionAttributes(),
			},
		}},
	}
}

// openstackConnectionAttributes are the arguments of a connection to an OpenStack in the provider block.
func openstackConnectionAttributes() map[string]schema.Attribute {
	attributes := map[string]schema.Attribute{
		fromEnvironment: schema.BoolAttribute{
			Optional:            true,
			MarkdownDescription: "Whether to read the variables `OS_*` of the environment of Terraform, as OpenStack's own tools do. Arguments that are set win over them. Defaults to `false`.",
		},
	}
	for _, s := range attrs.OpenStackSwitches() {
		attributes[s.Name] = schema.BoolAttribute{Optional: true, MarkdownDescription: s.Description}
	}
	for _, a := range attrs.OpenStackArguments() {
		attributes[a.Name] = schema.StringAttribute{Optional: true, MarkdownDescription: a.Description, Validators: notEmpty()}
	}
	for _, s := range attrs.OpenStackSecrets() {
		attributes[s.Name] = schema.StringAttribute{
			Optional: true, Sensitive: true, MarkdownDescription: s.Description + " It may be an ephemeral value.", Validators: notEmpty(),
		}
	}
	return attributes
}

// knownBut reports whether all of a configuration is known but for some arguments.
func knownBut(config tftypes.Value, but ...string) bool {
	if !config.IsKnown() {
		return false
	}
	arguments := map[string]tftypes.Value{}
	if err := config.As(&arguments); err != nil {
		return false
	}
	for name, value := range arguments {
		if !slices.Contains(but, name) && !value.IsFullyKnown() {
			return false
		}
	}
	return true
}

// placeOf names an entry of vims in texts: a path would have Terraform quote the lines of its secrets.
func placeOf(name string, t vnfm.VIMType) string { return fmt.Sprintf("vims[%q].%s", name, t) }

// validateVIMs checks the entries that are known. It reads no file and no variable.
func validateVIMs(ctx context.Context, all types.Map, diags *diag.Diagnostics) {
	if !tfutil.Set(all) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(all.Elements())) {
		at := path.Root(vimsArgument).AtMapKey(name)
		entry, _ := all.Elements()[name].(types.Object)
		if entry.IsUnknown() {
			continue
		}
		k, _ := entry.Attributes()[string(vnfm.VIMTypeKubernetes)].(types.Object)
		o, _ := entry.Attributes()[string(vnfm.VIMTypeOpenStack)].(types.Object)
		switch {
		case k.IsNull() && o.IsNull():
			diags.AddAttributeError(at, "No Connection", fmt.Sprintf("Set kubernetes or openstack in the entry %q of vims.", name))
		case tfutil.Set(k) && tfutil.Set(o):
			diags.AddAttributeError(at, "Two Connections", fmt.Sprintf("The entry %q of vims has kubernetes and openstack. A VIM is one of the two: remove the other one.", name))
		case tfutil.Set(k) && tfutil.FullyKnown(ctx, k):
			c, credentials := kubernetesConnection(k.Attributes())
			diags.Append(entryProblems(name, vnfm.VIMTypeKubernetes, kube.CheckConfig(kube.Config{Connection: c, Credentials: credentials, VIM: name}))...)
		case tfutil.Set(o) && tfutil.FullyKnown(ctx, o):
			c, credentials := openstackConnection(o.Attributes())
			if readsMachine(o, c, credentials) {
				continue
			}
			_, err := openstack.Resolved(openstack.Config{Connection: c, Credentials: credentials, VIM: name})
			diags.Append(entryProblems(name, vnfm.VIMTypeOpenStack, err)...)
		}
	}
}

// entryProblems are the findings about an entry. They have no path: Terraform quotes the lines of
// a path, and a secret that is written there.
func entryProblems(name string, t vnfm.VIMType, err error) diag.Diagnostics {
	const summary = "Unusable Connection to a VIM"
	var diags diag.Diagnostics
	var invalid *vnfm.InvalidError
	switch {
	case errors.As(err, &invalid):
		for _, p := range invalid.Problems {
			argument := placeOf(name, t)
			if p.Attribute != "" {
				argument += "." + p.Attribute
			}
			diags.AddError(summary, fmt.Sprintf("%s: %s: %s.", argument, p.Summary, p.Detail))
		}
	case err != nil:
		diags.AddError(summary, fmt.Sprintf("%s: %s.", placeOf(name, t), err))
	}
	return diags
}

func openstackConnection(attributes map[string]attr.Value) (vnfm.OpenStackConnection, vnfm.Credentials) {
	c, credentials := &vnfm.OpenStackConnection{}, vnfm.Credentials{}
	for _, a := range attrs.OpenStackArguments() {
		*a.Field(c) = textOf(attributes, a.Name)
	}
	for _, s := range attrs.OpenStackSwitches() {
		on, _ := attributes[s.Name].(types.Bool)
		*s.Field(c) = on.ValueBool()
	}
	for _, s := range attrs.OpenStackSecrets() {
		if secret := textOf(attributes, s.Name); secret != "" {
			credentials[s.Name] = vnfm.Secret(secret)
		}
	}
	return *c, credentials
}

// readsMachine reports whether a connection takes something from variables or files of the machine.
func readsMachine(o types.Object, c vnfm.OpenStackConnection, credentials vnfm.Credentials) bool {
	on, _ := o.Attributes()[fromEnvironment].(types.Bool)
	return on.ValueBool() || c.Cloud != "" && credentials[vnfm.CredentialCloudsYAML] == ""
}

// readVIMs reads the connections of this run. Entries that hold an unknown value are unknown as a whole.
func readVIMs(ctx context.Context, all types.Map, diags *diag.Diagnostics) vnfm.VIMAccesses {
	if all.IsUnknown() {
		return vnfm.VIMAccesses{Unknown: true}
	}
	entries := make(map[string]vnfm.VIMAccess, len(all.Elements()))
	for name, value := range all.Elements() {
		entry, _ := value.(types.Object)
		if !tfutil.FullyKnown(ctx, entry) {
			entries[name] = vnfm.VIMAccess{Unknown: true}
			continue
		}
		if k, _ := entry.Attributes()[string(vnfm.VIMTypeKubernetes)].(types.Object); tfutil.Set(k) {
			c, credentials := kubernetesConnection(k.Attributes())
			entries[name] = vnfm.VIMAccess{Type: vnfm.VIMTypeKubernetes, Kubernetes: &c, Credentials: credentials}
			continue
		}
		o, _ := entry.Attributes()[string(vnfm.VIMTypeOpenStack)].(types.Object)
		c, credentials := openstackConnection(o.Attributes())
		if readsMachine(o, c, credentials) {
			on, _ := o.Attributes()[fromEnvironment].(types.Bool)
			var err error
			c, credentials, err = openstack.FromMachine(c, credentials, on.ValueBool(), os.Getenv)
			diags.Append(entryProblems(name, vnfm.VIMTypeOpenStack, err)...)
		}
		entries[name] = vnfm.VIMAccess{Type: vnfm.VIMTypeOpenStack, OpenStack: &c, Credentials: credentials}
	}
	return vnfm.VIMAccesses{Entries: entries}
}
