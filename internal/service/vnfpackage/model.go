package vnfpackage

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The values of the attribute status.
const (
	statusOnboarded = "ONBOARDED"
	statusUnknown   = "UNKNOWN"
)

// resourceModel is the resource as Terraform sees it.
type resourceModel struct {
	Name types.String `tfsdk:"name"`
	inputs
	described
	Status   types.String   `tfsdk:"status"`
	Timeouts timeouts.Value `tfsdk:"timeouts"`
}

// inputs are the arguments that say what is read and how it is verified.
type inputs struct {
	Source    types.String `tfsdk:"source"`
	Checksum  types.String `tfsdk:"checksum"`
	Integrity types.String `tfsdk:"integrity"`
	Signature types.String `tfsdk:"signature"`
	Trust     types.Object `tfsdk:"trust"`
	External  types.Bool   `tfsdk:"external_artifacts"`
	accessModel
}

// trustModel says whose signatures count.
type trustModel struct {
	Roots             types.String `tfsdk:"roots"`
	Subjects          types.Set    `tfsdk:"subjects"`
	PublicKeys        types.Set    `tfsdk:"public_keys"`
	ExtendedKeyUsages types.Set    `tfsdk:"extended_key_usages"`
	CRLs              types.String `tfsdk:"crls"`
}

// set takes over what the record of a package says.
func (m *resourceModel) set(p *vnfm.Package) {
	m.Name = types.StringValue(p.Name)
	m.restoreDefaults()
	m.described = describe(p)
	m.Status = types.StringValue(statusOnboarded)
}

// restore gives an imported state the arguments that the package was onboarded with, as far as the record has them: not a source that can
// hold a secret, nor what it is read with.
func (i *inputs) restore(ctx context.Context, manager vnfm.PackageManager, id string, diags *diag.Diagnostics) {
	known, err := manager.KnownPackage(ctx, id)
	if err != nil || !i.Source.IsNull() {
		return
	}
	i.Source = types.StringValue(known.Source)
	i.Integrity, i.Signature, i.External = tfutil.OptionalString(known.Integrity), tfutil.OptionalString(known.Signature), types.BoolValue(known.ExternalArtifacts)
	if known.Trust.Equal(vnfm.PackageTrust{}) {
		return
	}
	set := func(values []string) types.Set {
		if len(values) == 0 {
			return types.SetNull(types.StringType)
		}
		return tfutil.StringSet(values)
	}
	trust, more := types.ObjectValueFrom(ctx, i.Trust.AttributeTypes(ctx), trustModel{
		Roots: tfutil.OptionalString(known.Trust.Roots), CRLs: tfutil.OptionalString(known.Trust.CRLs),
		Subjects: set(known.Trust.Subjects), PublicKeys: set(known.Trust.PublicKeys), ExtendedKeyUsages: set(known.Trust.ExtendedKeyUsages),
	})
	diags.Append(more...)
	i.Trust = trust
}

// restoreDefaults gives the arguments that no record holds their defaults, after an import.
func (i *inputs) restoreDefaults() {
	if i.Integrity.IsNull() {
		i.Integrity = types.StringValue(integrityEnforce)
	}
	if i.Signature.IsNull() {
		i.Signature = types.StringValue(signatureVerifyIfPresent)
	}
	for _, flag := range []*types.Bool{&i.External, &i.InsecureSkipTLSVerify, &i.PlainHTTP} {
		if flag.IsNull() {
			*flag = types.BoolValue(false)
		}
	}
}

// trust reads the argument of that name; null trusts nobody.
func (i inputs) trust(ctx context.Context, diags *diag.Diagnostics) trustModel {
	var m trustModel
	if tfutil.Set(i.Trust) {
		diags.Append(tfutil.Into(ctx, i.Trust, &m)...)
	}
	return m
}

// sorted returns the elements of a set of strings in order.
func sorted(set types.Set) []string {
	out := tfutil.Strings(set)
	slices.Sort(out)
	return out
}

func (m trustModel) spec() vnfm.PackageTrust {
	return vnfm.PackageTrust{
		Roots: m.Roots.ValueString(), CRLs: m.CRLs.ValueString(),
		Subjects: sorted(m.Subjects), PublicKeys: sorted(m.PublicKeys), ExtendedKeyUsages: sorted(m.ExtendedKeyUsages),
	}
}

// described is what the content of a package says of itself, in resource and data sources.
type described struct {
	ID               types.String `tfsdk:"id"`
	Digest           types.String `tfsdk:"digest"`
	VNFDID           types.String `tfsdk:"vnfd_id"`
	VNFDVersion      types.String `tfsdk:"vnfd_version"`
	VNFProvider      types.String `tfsdk:"vnf_provider"`
	ProductName      types.String `tfsdk:"product_name"`
	SoftwareVersion  types.String `tfsdk:"software_version"`
	VNFMInfo         types.Set    `tfsdk:"vnfm_info"`
	DefaultFlavourID types.String `tfsdk:"default_flavour_id"`
	SecurityOption   types.String `tfsdk:"security_option"`
	Signer           types.String `tfsdk:"signer"`
}

func describe(p *vnfm.Package) described {
	d := p.Descriptor
	if d == nil {
		d = &vnfm.Descriptor{}
	}
	return described{
		ID:               types.StringValue(p.ID),
		Digest:           types.StringValue(p.Digest),
		VNFDID:           tfutil.OptionalString(d.ID),
		VNFDVersion:      tfutil.OptionalString(d.Version),
		VNFProvider:      tfutil.OptionalString(d.Provider),
		ProductName:      tfutil.OptionalString(d.ProductName),
		SoftwareVersion:  tfutil.OptionalString(d.SoftwareVersion),
		VNFMInfo:         tfutil.StringSet(d.VNFMInfo),
		DefaultFlavourID: tfutil.OptionalString(d.DefaultFlavourID),
		SecurityOption:   tfutil.OptionalString(p.SecurityOption),
		Signer:           tfutil.OptionalString(p.Signer),
	}
}

// detailed is what a data source says of a package. Flavours and artifacts are in no state of a resource: a first plan of a large package
// shows hundreds of lines of them, and Terraform and the framework walk each element several times in every plan.
type detailed struct {
	described
	Flavours  types.Map `tfsdk:"flavours"`
	Artifacts types.Map `tfsdk:"artifacts"`
}

func detail(p *vnfm.Package) detailed {
	out := detailed{described: describe(p), Flavours: attrs.FlavoursValue(nil), Artifacts: artifactsValue(p)}
	if p.Descriptor != nil {
		out.Flavours = attrs.FlavoursValue(p.Descriptor.Flavours)
	}
	return out
}

// artifactsValue maps artifacts to their digests: those that the package lists, else
// those of the files.
func artifactsValue(p *vnfm.Package) types.Map {
	files := make(map[string]string, len(p.Files))
	for _, f := range p.Files {
		files[f.Path] = f.Digest
	}
	values := make(map[string]attr.Value, len(p.Artifacts))
	for _, a := range p.Artifacts {
		digest := a.Digest
		if digest == "" {
			digest = files[a.Path]
		}
		values[a.Path] = types.StringValue(digest)
	}
	return types.MapValueMust(types.StringType, values)
}

func (m *resourceModel) spec(ctx context.Context, diags *diag.Diagnostics) vnfm.PackageSpec {
	return vnfm.PackageSpec{
		Name:      m.Name.ValueString(),
		Source:    m.Source.ValueString(),
		Checksum:  m.Checksum.ValueString(),
		Integrity: m.Integrity.ValueString(),
		Signature: m.Signature.ValueString(),
		Trust:     m.trust(ctx, diags).spec(),
		Access:    m.toDomain(),

		ExternalArtifacts: m.External.ValueBool(),
	}
}

// known reports whether everything is known that a package is read with.
func (m *resourceModel) known(ctx context.Context) bool {
	for _, v := range []types.String{m.Name, m.Source, m.Checksum, m.Integrity, m.Signature} {
		if v.IsUnknown() {
			return false
		}
	}
	return tfutil.FullyKnown(ctx, m.Trust) && !m.External.IsUnknown()
}

// readsAs reports whether the same is read and verified in the same way.
func (i inputs) readsAs(other inputs) bool {
	return i.Source.Equal(other.Source) && i.Checksum.Equal(other.Checksum) && i.Integrity.Equal(other.Integrity) &&
		i.Signature.Equal(other.Signature) && i.Trust.Equal(other.Trust) && i.External.Equal(other.External) && i.equal(&other.accessModel)
}
