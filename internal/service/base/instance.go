// Package base has what resources and data sources share. InstanceResource implements those
// whose objects are an instance of the manager: plan, create, refresh, update, removal,
// import, and the state that a failed operation leaves. Such a resource brings a model, which
// embeds InstanceModel, and a Config. Resource and DataSource are embedded by the others.
package base

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Config describes one resource: its names, time limits and schema.
type Config struct {
	// Type is the type name of the resource.
	Type string
	// Title names the resource in the summaries of diagnostics, Noun in their sentences.
	// VIMNoun is what they call its VIM, VIMAttribute the argument that names it.
	Title, Noun, VIMNoun, VIMAttribute string
	// CreateVerb and RemoveVerb are the verbs of diagnostics. IncompleteSummary follows the
	// name of a resource whose creation stopped half-way.
	CreateVerb, RemoveVerb, IncompleteSummary string
	// ContentPath is the argument that names the content; empty when there are several.
	ContentPath path.Path
	// The default time limits of the operations.
	CreateLimit, ReadLimit, UpdateLimit, DeleteLimit time.Duration
	// Schema has all attributes but those that this package adds. IDDescription and
	// AdoptDescription describe id and adopt_existing of those.
	Schema                          func(context.Context) schema.Schema
	IDDescription, AdoptDescription string
	// CompletedStatus is the status after an operation that completed: StatusReady or that of the record.
	// StatusDescription describes further values.
	CompletedStatus, StatusDescription string
	// Identity is what identifies the resource.
	Identity Identity
	// Fixed are the arguments that only a new resource can have, but for the namespace.
	Fixed []string
	// Owns reports whether a record of the manager belongs to this resource.
	Owns func(*vnfm.Instance) bool
}

func (c *Config) titled(name string) string { return fmt.Sprintf("%s %q", c.Title, name) }

// Model is a resource as Terraform has it: M is a struct that embeds InstanceModel.
type Model[M any] interface {
	*M
	Common() *InstanceModel
	// VIM returns the argument that names the VIM, see Config.VIMAttribute.
	VIM() types.String

	// Spec reads what the user wants. What the state, which is nil in a creation, shows
	// as done once and for all is left out. It is not known while a value is not that
	// decides what the instance consists of.
	Spec(ctx context.Context, state *M, diags *diag.Diagnostics) (spec vnfm.InstanceSpec, known bool)
	// PlanArguments plans what the arguments leave open, the namespace above all, and
	// what replaces the resource. The manager may be nil. It reports whether enough is
	// known for a preview.
	PlanArguments(ctx context.Context, manager vnfm.Manager, config, state *M, resp *resource.ModifyPlanResponse) bool
	// SetPreview takes over what the instance will consist of, SetPreviewUnknown says
	// that this is not known yet.
	SetPreview(p *vnfm.Preview)
	SetPreviewUnknown(config *M)
	// Differs reports whether the plan needs an operation for what InstanceModel does not hold.
	Differs(ctx context.Context, state *M) bool
	// Tried are planned objects for the VIM to try although they are as they were: an argument has changed that shows in none of
	// them.
	Tried(state *M) []string
	// PlanProgress plans what an operation changes besides status and generation, or, when
	// none runs, that it stays.
	PlanProgress(ctx context.Context, state *M, runs bool, diags *diag.Diagnostics)

	// Conceal adds what only the configuration has, for plans too: write-only parameters. It
	// returns the secrets among them.
	Conceal(ctx context.Context, config *M, spec *vnfm.InstanceSpec, diags *diag.Diagnostics) []string
	// Prepare completes a specification before an operation. Only the configuration has the
	// write-only arguments. The id is empty in a creation.
	Prepare(ctx context.Context, manager vnfm.Manager, id string, config *M, spec *vnfm.InstanceSpec, diags *diag.Diagnostics)
	// SetRecord takes over what the record says. Optional arguments that were left out
	// stay left out.
	SetRecord(ctx context.Context, i *vnfm.Instance, diags *diag.Diagnostics)
	// SetObservation takes over what the VIM shows.
	SetObservation(ctx context.Context, o *vnfm.Observation, diags *diag.Diagnostics)
	// Finish fills what neither plan nor record say after an operation.
	Finish(ctx context.Context, manager vnfm.Manager, i *vnfm.Instance, diags *diag.Diagnostics)
	// Running is what runs by a state, in words: a termination stops it.
	Running() []string
	// TerminateSpec reads how the instance is to be terminated.
	TerminateSpec(ctx context.Context, diags *diag.Diagnostics) vnfm.TerminateSpec
	// SetTermination takes over the arguments that TerminateSpec reads.
	SetTermination(from *M)
}

// InstanceResource implements a resource whose objects are an instance of the manager.
type InstanceResource[M any, P Model[M]] struct {
	config Config
	data   *tfutil.ProviderData
}

// NewInstanceResource returns the resource that a Config describes. Its model is M.
func NewInstanceResource[M any, P Model[M]](c Config) resource.Resource {
	var r interface {
		resource.ResourceWithConfigure
		resource.ResourceWithConfigValidators
		resource.ResourceWithModifyPlan
		resource.ResourceWithImportState
	} = &InstanceResource[M, P]{config: c}
	return r
}

// Metadata implements resource.Resource.
func (r *InstanceResource[M, P]) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = r.config.Type
}

// ConfigValidators implements resource.ResourceWithConfigValidators.
func (r *InstanceResource[M, P]) ConfigValidators(context.Context) []resource.ConfigValidator {
	return ConfigValidators()
}

// IdentitySchema implements resource.ResourceWithIdentity.
func (r *InstanceResource[M, P]) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = r.config.Identity.Schema()
}

// Configure implements resource.ResourceWithConfigure.
func (r *InstanceResource[M, P]) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.data = tfutil.Configure(req.ProviderData, &resp.Diagnostics)
}

// Schema implements resource.Resource.
func (r *InstanceResource[M, P]) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = r.config.Schema(ctx)
	resp.Schema.Attributes = r.config.allAttributes(ctx)
}
