package base

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

var (
	_ action.ActionWithConfigure  = (*Action)(nil)
	_ action.ActionWithModifyPlan = (*Action)(nil)
)

const (
	// timeoutArgument is the argument of all actions for their time limit.
	timeoutArgument = "timeout"
	actionLimit     = 30 * time.Minute
)

// Action is an action of Terraform 1.14 and later: one operation on an instance of the manager, whose steps are shown.
type Action struct {
	// Type is the type name of the action, Description describes it.
	Type, Description string
	// Verb and Title name what is done to what in diagnostics.
	Verb, Title string
	// Subject is the argument that names the instance.
	Subject, SubjectDescription string
	// Attributes are the other arguments, but for the time limit.
	Attributes map[string]schema.Attribute
	// Act reads what is to be done.
	Act func(ctx context.Context, config tfsdk.Config, diags *diag.Diagnostics) vnfm.Act
	// Arguments are the arguments of the action by those of the resource, of which the manager speaks.
	Arguments map[string]string

	data *tfutil.ProviderData
}

// Metadata implements action.Action.
func (a *Action) Metadata(_ context.Context, _ action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = a.Type
}

// Configure implements action.ActionWithConfigure.
func (a *Action) Configure(_ context.Context, req action.ConfigureRequest, resp *action.ConfigureResponse) {
	a.data = tfutil.Configure(req.ProviderData, &resp.Diagnostics)
}

// Schema implements action.Action.
func (a *Action) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: a.Description,
		Attributes: tfutil.Merged(a.Attributes, map[string]schema.Attribute{
			a.Subject: schema.StringAttribute{
				MarkdownDescription: a.SubjectDescription, Required: true, Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			timeoutArgument: schema.StringAttribute{
				MarkdownDescription: "Limit of the action, for example `10m`. Defaults to `30m`.",
				Optional:            true,
				CustomType:          timetypes.GoDurationType{},
				Validators:          []validator.String{tfutil.Positive()},
			},
		}),
	}
}

// ModifyPlan implements action.ActionWithModifyPlan. It finds what is wrong before anything is done, where the instance is known.
func (a *Action) ModifyPlan(ctx context.Context, req action.ModifyPlanRequest, resp *action.ModifyPlanResponse) {
	if !req.Config.Raw.IsFullyKnown() || !a.data.Known() {
		return
	}
	var id types.String
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root(a.Subject), &id)...)
	act := a.Act(ctx, req.Config, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	// A record that the store has lost may be written again before the action.
	if err := a.data.Manager.CheckAct(ctx, id.ValueString(), act); err != nil && !errors.Is(err, vnfm.ErrNotFound) {
		a.addError(id.ValueString(), err, &resp.Diagnostics)
	}
}

// Invoke implements action.Action.
func (a *Action) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	var id types.String
	var limit timetypes.GoDuration
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root(a.Subject), &id)...)
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root(timeoutArgument), &limit)...)
	act := a.Act(ctx, req.Config, &resp.Diagnostics)
	manager := a.data.RequireManager(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	within := actionLimit
	if !limit.IsNull() {
		within = tfutil.GoDuration(limit)
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	steps := &steps{send: resp.SendProgress}
	defer steps.end()
	if _, err := manager.Act(vnfm.WithFollower(ctx, steps.add), id.ValueString(), act); err != nil {
		a.addError(id.ValueString(), err, &resp.Diagnostics)
	}
}

// addError adds an error at the argument that it is about, which is the one of the instance for all that is not said of another.
func (a *Action) addError(id string, err error, diags *diag.Diagnostics) {
	tfutil.AddError(diags, a.Verb, fmt.Sprintf("%s %q", a.Title, id), a.inArguments(err), path.Root(a.Subject))
}

// inArguments puts findings that name arguments of the resource at those of the action.
func (a *Action) inArguments(err error) error {
	var invalid *vnfm.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	problems := make(vnfm.Problems, len(invalid.Problems))
	for i, p := range invalid.Problems {
		if own, ok := a.Arguments[p.Attribute]; ok {
			p.Attribute = own
		}
		problems[i] = p
	}
	return &vnfm.InvalidError{Problems: problems}
}

// steps shows the steps of an operation until it ends: what goes on behind it has nobody to tell.
type steps struct {
	mu   sync.Mutex
	send func(action.InvokeProgressEvent)
	last string
}

func (s *steps) add(p vnfm.Progress) {
	line := p.Line
	if line == "" {
		line = fmt.Sprintf("%s %s", p.Operation.Type, strings.ToLower(strings.ReplaceAll(string(p.Operation.State), "_", " ")))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.send != nil && line != s.last {
		s.last = line
		s.send(action.InvokeProgressEvent{Message: line})
	}
}

func (s *steps) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send = nil
}
