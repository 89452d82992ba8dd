// Package lifecycle is the floor of the resources whose objects are an instance of the
// manager: how such a resource is planned, created, refreshed, updated, removed and
// imported, and how an operation that fails ends in state. A resource brings its model,
// which embeds Life, and a Kind, which says it in its own words.
package lifecycle

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Kind is what a resource is called, and how long its operations may take.
type Kind struct {
	// Type is the type name of the resource.
	Type string
	// Title names it in the summaries of diagnostics and Noun in their sentences; Place
	// is what a VIM is to it.
	Title, Noun, Place string
	// Create and Remove are its verbs, Unfinished says what one is not whose creation
	// stopped half-way.
	Create, Remove, Unfinished string
	// Content is the argument that says what it consists of; empty when many do.
	Content path.Path
	// The default limits of its operations.
	CreateLimit, ReadLimit, UpdateLimit, DeleteLimit time.Duration
	// Schema describes all attributes but those that this package does, and ID and Adopt
	// are what id and adopt_existing of those mean here.
	Schema    func(context.Context) schema.Schema
	ID, Adopt string
	// Has reports whether a record of the manager is one of these.
	Has func(*vnfm.Instance) bool
}

func (k *Kind) titled(name string) string { return fmt.Sprintf("%s %q", k.Title, name) }

// Model is a resource as Terraform has it: M is a struct that embeds Life.
type Model[M any] interface {
	*M
	Common() *Life

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
	// Differs reports whether the plan needs an operation for what Life does not hold.
	Differs(ctx context.Context, state *M) bool
	// PlanProgress plans what an operation changes besides status and generation, or, when
	// none runs, that it stays.
	PlanProgress(state *M, runs bool)

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
	// TerminateSpec reads how the instance is to be terminated.
	TerminateSpec(ctx context.Context, diags *diag.Diagnostics) vnfm.TerminateSpec
}

// Resource is a resource of a kind.
type Resource[M any, P Model[M]] struct {
	kind Kind
	data *tfutil.ProviderData
}

// New returns the resource of a kind whose model is M.
func New[M any, P Model[M]](k Kind) resource.Resource {
	var r interface {
		resource.ResourceWithConfigure
		resource.ResourceWithModifyPlan
		resource.ResourceWithImportState
	} = &Resource[M, P]{kind: k}
	return r
}

// Metadata implements resource.Resource.
func (r *Resource[M, P]) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = r.kind.Type
}

// Configure implements resource.ResourceWithConfigure.
func (r *Resource[M, P]) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.data = tfutil.Configure(req.ProviderData, &resp.Diagnostics)
}

// Schema implements resource.Resource.
func (r *Resource[M, P]) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = r.kind.Schema(ctx)
	resp.Schema.Attributes = tfutil.Merged(resp.Schema.Attributes, r.kind.attributes())
}
