package vnfpackage

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

// The values of the arguments integrity and signature.
const (
	integrityEnforce         = attrs.IntegrityEnforce
	integrityWarn            = "warn"
	integrityIgnore          = "ignore"
	signatureRequire         = "require"
	signatureVerifyIfPresent = attrs.SignatureVerifyIfPresent
	signatureIgnore          = "ignore"
)

var checksumPattern = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)

var usagePattern = lazyregexp.New(`^(code_signing|document_signing|email_protection|timestamping|server_auth|client_auth|ocsp_signing|any_extended|[0-2](\.[0-9]+)+)$`)

// headerName is a token of RFC 9110.
var headerName = lazyregexp.New("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// namePattern keeps "@" out of names: it separates the name from the digest in an id.
var namePattern = lazyregexp.New(`^[^@\s]+$`)

// Schema implements resource.Resource.
func (r *Resource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := describedAttributes()
	attributes["name"] = schema.StringAttribute{
		Required:            true,
		MarkdownDescription: "Name of the package, its identity over all its versions. Changing this replaces the package.",
		PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
		Validators: []validator.String{
			stringvalidator.LengthBetween(1, 253),
			tfutil.Matches(namePattern, "must hold neither \"@\" nor white space"),
		},
	}
	attributes["source"] = schema.StringAttribute{
		Required: true,
		MarkdownDescription: "Location of the package: a directory, a `.zip` or `.csar` file, an `http` or `https` URL, or an artifact in a registry, `oci://<registry>/<path>:<tag>`. A relative path starts at the working directory of Terraform. " +
			"Every plan reads the content, so no hash argument is needed. Changing this updates in place.",
		Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
	}
	attributes["checksum"] = schema.StringAttribute{
		Optional:            true,
		MarkdownDescription: "Expected digest of the file or download, `sha256:` and 64 hexadecimal digits. It is rejected for a directory. Changing this verifies the package again in place.",
		Validators:          []validator.String{tfutil.Matches(checksumPattern, "must be \"sha256:\" and 64 lower-case hexadecimal digits")},
	}
	attributes["integrity"] = schema.StringAttribute{
		Optional: true,
		Computed: true,
		Default:  stringdefault.StaticString(integrityEnforce),
		MarkdownDescription: "Treatment of a digest mismatch, of a missing file, and of a package with neither TOSCA-Metadata nor a manifest: `enforce` makes it an error, `warn` a warning, `ignore` looks at no digest. Defaults to `enforce`. " +
			"Changing this verifies the package again in place.",
		Validators: []validator.String{stringvalidator.OneOf(integrityEnforce, integrityWarn, integrityIgnore)},
	}
	attributes["signature"] = schema.StringAttribute{
		Optional: true,
		Computed: true,
		Default:  stringdefault.StaticString(signatureVerifyIfPresent),
		MarkdownDescription: "Signature policy (SOL004 5.1): `require` rejects a package unless its manifest (option 1) or its archive (option 2) is signed by a signer of `trust` and the signature covers every file, " +
			"`verify_if_present` rejects an invalid signature, `ignore` reads none. Defaults to `verify_if_present`. Changing this verifies the package again in place.",
		Validators: []validator.String{stringvalidator.OneOf(signatureRequire, signatureVerifyIfPresent, signatureIgnore)},
	}
	attributes["trust"] = trustAttribute()
	attributes["external_artifacts"] = schema.BoolAttribute{
		Optional: true,
		Computed: true,
		Default:  booldefault.StaticBool(false),
		MarkdownDescription: "Whether to fetch the files that manifest or TOSCA.meta name by URL with a digest, and keep them with the package; a manifest among them is named by its URL in `lcm-kubernetes-def-files`. " +
			"Addresses of this machine and link-local ones are refused. Defaults to `false`. Changing this verifies the package again in place.",
	}
	addAccess(attributes)
	attributes["status"] = schema.StringAttribute{
		Computed:            true,
		MarkdownDescription: "`ONBOARDED`, or `UNKNOWN` if the store has lost the package or its key; the next apply restores it from the source.",
	}
	attributes["timeouts"] = tfutil.Timeouts(ctx, timeoutOpts)
	resp.Schema = schema.Schema{
		MarkdownDescription: "A VNF package (CSAR, ETSI GS NFV-SOL 004) with its VNFD (SOL001).\n\n" +
			"Creating it verifies structure, digests and signature, reads the VNFD and keeps the content in the store, so that its instances can be scaled, healed and terminated when the source no longer exists. " +
			"All of that is checked when the plan is made, and all computed attributes are known in the plan. " +
			"A changed content becomes a new version in place: `id` moves with the content, and the old content stays until the last instance has left it. Destroying it leaves the content in the store until the last instance and private registry that use it are gone.\n\n" +
			"A saved plan applies only to the content that it was made for: if the content has changed since, Terraform rejects the plan as inconsistent and changes nothing; plan again.",
		Attributes: attributes,
	}
}

// trustAttribute says whose signatures count.
func trustAttribute() schema.Attribute {
	texts := func(description string, validators ...validator.String) schema.Attribute {
		return schema.SetAttribute{
			Optional:            true,
			ElementType:         types.StringType,
			MarkdownDescription: description + " Defaults to any. Changing this verifies the package again in place.",
			Validators:          []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(validators...)},
		}
	}
	return schema.SingleNestedAttribute{
		Optional:            true,
		MarkdownDescription: "Trusted signers of packages. Required if `signature` is `require`. Changing this verifies the package again in place.",
		Attributes: map[string]schema.Attribute{
			"roots": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "PEM CA bundle used to verify the signer's certificate chain. Changing this verifies the package again in place.",
				Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"subjects": texts("Subjects of the signer's certificate, one of which it must have, for example `CN=Release Signing,O=Example`.", stringvalidator.LengthAtLeast(1)),
			"public_keys": texts("Digests of the signer's public key (SubjectPublicKeyInfo, DER), one of which it must have: `sha256:` and 64 hexadecimal digits.",
				tfutil.Matches(checksumPattern, "must be \"sha256:\" and 64 lower-case hexadecimal digits")),
			"extended_key_usages": texts("Extended key usages, one of which the signer's certificate must have: `code_signing`, `document_signing`, `email_protection`, `timestamping`, `server_auth`, `client_auth`, `ocsp_signing`, `any_extended`, or an object identifier. "+
				"Without this, a certificate that has any must have `code_signing`, `document_signing`, `email_protection` or `any_extended`.",
				tfutil.Matches(usagePattern, "must be one of code_signing, document_signing, email_protection, timestamping, server_auth, client_auth, ocsp_signing and any_extended, or an object identifier like 1.3.6.1.5.5.7.3.3")),
			"crls": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "PEM bundle of certificate revocation lists. With it, each certificate of a signer's chain below the root needs a current list of its issuer. " +
					"Defaults to no check of revocation. Changing this verifies the package again in place.",
				Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
			},
		},
	}
}

// describedAttributes are what the content of a package says of itself: those that
// resource and data sources share.
func describedAttributes() map[string]schema.Attribute {
	text := func(description string) schema.Attribute {
		return schema.StringAttribute{Computed: true, MarkdownDescription: description}
	}
	return map[string]schema.Attribute{
		"id":                 text("Id of this version of the package, `<name>@<digest>`. It changes with the content, in place."),
		"digest":             text("Digest over all paths and contents, `sha256:<hex>`. It is the same for a directory and for a zip of it."),
		"vnfd_id":            text("Id of the VNFD (`descriptor_id`)."),
		"vnfd_version":       text("Version of the VNFD (`descriptor_version`)."),
		"vnf_provider":       text("Provider of the VNF."),
		"product_name":       text("Product name of the VNF."),
		"software_version":   text("Software version of the VNF."),
		"vnfm_info":          schema.SetAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: "VNFMs that the VNFD supports."},
		"default_flavour_id": text("Deployment flavour of instances that name none. Null when the VNFD has several and prefers none."),
		"security_option":    text("Signature option of the package, `OPTION_1` or `OPTION_2` (SOL004 5.1). Null when it is not signed."),
		"signer":             text("Subject of the certificate that signed the package. Null unless a signature over everything in the package was verified against `trust`."),
	}
}

// detailedAttributes are those of a data source.
func detailedAttributes() map[string]schema.Attribute {
	all := describedAttributes()
	all["flavours"] = attrs.FlavoursAttribute()
	all["artifacts"] = schema.MapAttribute{
		Computed:    true,
		ElementType: types.StringType,
		MarkdownDescription: "Digest of each artifact that the manifest or TOSCA.meta lists, for example `sha256:<hex>`, by its path in the package or, for an external artifact, its URL. " +
			"The digest of an external artifact is empty when the package lists none.",
	}
	return all
}
