package base

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Adopter is a model of what can be taken over although neither a record nor its VIM tell how it was asked for.
type Adopter interface {
	// Adopt fills the state with what stands on the VIM. It returns ErrNotFound when
	// nothing does.
	Adopt(ctx context.Context, manager vnfm.Manager, vimID, namespace, name string) error
}

// ImportState implements resource.ResourceWithImportState. An instance that the store does not know is looked for on its VIM.
func (r *InstanceResource[M, P]) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	manager := r.data.RequireManager(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	setDefaults(ctx, &resp.State, &resp.Diagnostics)
	var state M
	resp.Diagnostics.Append(tfutil.Read(ctx, resp.State, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	named := r.config.Identity.Imported(ctx, &req, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	kept, err := r.importInto(ctx, manager, &state, named, &resp.Diagnostics)
	if err != nil {
		tfutil.AddError(&resp.Diagnostics, "Import", r.config.titled(named), err, path.Empty())
		return
	}
	resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, &state)...)
	resp.Diagnostics.Append(r.restoreArguments(ctx, kept, &resp.State)...)
}

// setDefaults sets the defaults of arguments that no record holds.
func setDefaults(ctx context.Context, state *tfsdk.State, diags *diag.Diagnostics) {
	for name, value := range map[string]any{
		"force_conflicts": false, "adopt_existing": false, "server_dry_run": true, "lock_timeout": defaultLockTimeout,
	} {
		diags.Append(state.SetAttribute(ctx, path.Root(name), value)...)
	}
}

// FillListed returns the Fill of a ListResource whose records are instances: it fills a state as an import and a refresh do.
func FillListed[M any, P Model[M]](config Config) func(context.Context, *tfutil.ProviderData, *vnfm.Instance, *tfsdk.State, *diag.Diagnostics) {
	return func(ctx context.Context, data *tfutil.ProviderData, instance *vnfm.Instance, state *tfsdk.State, diags *diag.Diagnostics) {
		r := &InstanceResource[M, P]{config: config, data: data}
		setDefaults(ctx, state, diags)
		diags.Append(r.restoreArguments(ctx, instance.Arguments, state)...)
		var m M
		diags.Append(tfutil.Read(ctx, *state, &m)...)
		ctx, cancel := context.WithTimeout(vnfm.WithRefresh(ctx), config.ReadLimit)
		defer cancel()
		if instance.Status == "" {
			// It has no record; an import makes it and refreshes.
			P(&m).SetRecord(ctx, instance, diags)
		} else {
			r.show(ctx, &m, instance, diags)
		}
		diags.Append(tfutil.Write(ctx, state, &m)...)
	}
}

// FillAdopted fills a state with what stands on the VIM of an object that the store does not know.
func FillAdopted[M any, P interface {
	Model[M]
	Adopter
}](ctx context.Context, data *tfutil.ProviderData, vimID, namespace, name string, state *tfsdk.State, diags *diag.Diagnostics,
) error {
	setDefaults(ctx, state, diags)
	var m M
	if diags.Append(tfutil.Read(ctx, *state, &m)...); diags.HasError() {
		return nil
	}
	if err := P(&m).Adopt(ctx, data.Manager, vimID, namespace, name); err != nil {
		return err
	}
	diags.Append(tfutil.Write(ctx, state, &m)...)
	return nil
}

// importInto finds what a text names, in the store or else on its VIM, and fills the state. It returns the arguments that were kept.
func (r *InstanceResource[M, P]) importInto(ctx context.Context, manager vnfm.Manager, state P, text string, diags *diag.Diagnostics) (json.RawMessage, error) {
	place, ok := vnfm.ParseInstancePlace(text)
	if !ok {
		return nil, fmt.Errorf("%q names no %s; the import takes %s", text, r.config.Noun, vnfm.InstancePlaceFormat)
	}
	vimID := place.VIM
	if place.VIM != "" {
		vim, err := vimNamed(ctx, manager, place.VIM)
		if err != nil {
			return nil, err
		}
		vimID = vim.ID
		if place.Namespace == "" {
			place.Namespace = vim.DefaultNamespace()
		}
	}
	instance, err := r.find(ctx, manager, place, vimID)
	if err == nil {
		r.warnOfManaged(ctx, manager, instance, diags)
	}
	if errors.Is(err, vnfm.ErrNotFound) {
		place.Kind = r.config.kind()
		instance, err = manager.AdoptInstance(ctx, place)
		adopter, adopts := any(state).(Adopter)
		if errors.Is(err, vnfm.ErrNotFound) && adopts && place.ID == "" {
			return nil, adopter.Adopt(ctx, manager, vimID, place.Namespace, place.Name)
		}
	}
	if err != nil {
		return nil, err
	}
	state.Common().ID = types.StringValue(instance.ID)
	return instance.Arguments, nil
}

// warnOfManaged warns of the import of an instance that a configuration has created, and says who has worked on it last.
func (r *InstanceResource[M, P]) warnOfManaged(ctx context.Context, manager vnfm.Manager, instance *vnfm.Instance, diags *diag.Diagnostics) {
	operations, err := manager.Operations(ctx, instance.ID)
	if err != nil || len(operations) == 0 || operations[len(operations)-1].Run == "" {
		return
	}
	last := operations[len(operations)-1]
	diags.AddWarning(r.config.titled(instance.Name)+" Is Managed Already", fmt.Sprintf("A configuration of Terraform has created it, and two that manage one %s undo each other's changes. "+
		"Its last operation, %s, was run by %s and is %s since %s.\n\nIf the state of that configuration still has it, remove it there: terraform state rm.",
		r.config.Noun, last.Type, last.Run, last.State, last.StateEnteredAt.UTC().Format(time.RFC3339)))
}

// vimNamed is the VIM with an id or a name.
func vimNamed(ctx context.Context, manager vnfm.Manager, text string) (*vnfm.VIM, error) {
	vim, err := manager.VIM(ctx, text)
	if errors.Is(err, vnfm.ErrNotFound) {
		vim, err = manager.VIMByName(ctx, text)
	}
	if errors.Is(err, vnfm.ErrNotFound) {
		return nil, fmt.Errorf("%w; register the VIM first: terraform apply with -target and the address of its vnf_vim", err)
	}
	return vim, err
}

// kind is what the instances of the resource are.
func (c *Config) kind() vnfm.InstanceKind {
	if c.Owns(&vnfm.Instance{}) {
		return vnfm.NetworkFunction
	}
	return vnfm.WorkloadCluster
}

// find finds the record of a place.
func (r *InstanceResource[M, P]) find(ctx context.Context, manager vnfm.Manager, place vnfm.InstancePlace, vimID string) (*vnfm.Instance, error) {
	missing := &vnfm.NotFoundError{Kind: r.config.Noun, ID: place.String()}
	if place.ID != "" {
		instance, err := manager.Instance(ctx, place.ID)
		if err == nil && !r.config.Owns(instance) {
			return nil, missing
		}
		return instance, err
	}
	all, err := manager.Instances(ctx, vnfm.InstanceFilter{VIMID: vimID, Namespace: place.Namespace, Name: place.Name})
	if err != nil {
		return nil, err
	}
	for i := range all {
		if r.config.Owns(&all[i]) {
			return &all[i], nil
		}
	}
	return nil, missing
}
