package vim

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// find returns the VIM of that id, or else of that name.
func find(ctx context.Context, manager vnfm.VIMManager, idOrName string) (*vnfm.VIM, error) {
	v, err := manager.VIM(ctx, idOrName)
	if errors.Is(err, vnfm.ErrNotFound) {
		return manager.VIMByName(ctx, idOrName)
	}
	return v, err
}

// look reads the record of a VIM and, for a short time, asks the VIM itself. It
// returns nil when there is no record. A VIM that does not answer is a warning, and so is
// a record that was edited or does not open, which is as good as none. A share that is not empty is noted.
func look(ctx context.Context, manager vnfm.VIMManager, id, share string) (*vnfm.VIM, diag.Diagnostics) {
	var diags diag.Diagnostics
	asking, stop := context.WithCancel(ctx)
	defer stop()
	type answer struct {
		vim *vnfm.VIM
		err error
	}
	answered := make(chan answer, 1)
	go func() {
		v, err := manager.CheckRegisteredVIM(asking, id, refreshTimeout)
		answered <- answer{v, err}
	}()
	recorded, err := manager.HoldVIM(ctx, id, share)
	if errors.Is(err, vnfm.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		tfutil.AddError(&diags, "Read", object(id), err, path.Empty())
		return nil, diags
	}
	said := <-answered
	v, err := said.vim, said.err
	if v != nil {
		v.Shared = recorded.Shared
	}
	switch {
	case err == nil:
		return v, nil
	case errors.Is(err, vnfm.ErrNotFound):
		return nil, nil
	case errors.As(err, new(*vnfm.AccessUnknownError)):
		diags.AddWarning(fmt.Sprintf("VIM %q Is Not Asked", recorded.Name), tfutil.ErrorDetail(err)+".\n\nThe plan uses the last known values.")
		return recorded, diags
	case errors.As(err, new(*vnfm.EditedError)):
		diags.AddAttributeWarning(path.Root("id"), fmt.Sprintf("Record of VIM %q Was Edited", recorded.Name),
			tfutil.ErrorDetail(err)+"\n\nThe VIM itself is untouched. The next apply of its vnf_vim registers it again under the same id, as it is configured.")
		recorded.Status = vnfm.VIMUnknown
		return recorded, diags
	case errors.Is(err, vnfm.ErrUnopened):
		diags.AddAttributeWarning(path.Root("id"), fmt.Sprintf("Credentials of VIM %q Cannot Be Opened", recorded.Name),
			tfutil.ErrorDetail(err)+"\n\nThe VIM itself is untouched. The next apply of its vnf_vim registers it again under the same id, with the credentials of the configuration. A destroy needs the key, or that apply.")
		recorded.Status = vnfm.VIMUnknown
		return recorded, diags
	case ctx.Err() != nil || v == nil:
		tfutil.AddError(&diags, "Read", object(recorded.Name), err, path.Empty())
		return nil, diags
	}
	if errors.Is(err, vnfm.ErrCredentials) {
		diags.AddWarning(fmt.Sprintf("VIM %q Refused the Credentials", recorded.Name), tfutil.ErrorDetail(err)+
			"\n\nThe plan uses the last known values and finds no drift on this VIM. Terraform notices other write-only credentials by their version alone: increment it, such as kubeconfig_wo_version, and apply.")
		return v, diags
	}
	diags.AddWarning(
		fmt.Sprintf("VIM %q Does Not Answer", recorded.Name),
		tfutil.ErrorDetail(err)+"\n\nThe plan uses the last known values; the status is UNREACHABLE until the VIM answers again.",
	)
	return v, diags
}

// inConnection puts the findings of a driver, which name the arguments of a
// connection, at these arguments inside the attribute that is named after the type of the
// VIM. Findings about secrets name them in their text: Terraform would quote the lines of
// a path.
func inConnection(spec vnfm.VIMSpec, err error) error {
	var invalid *vnfm.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	moved := make(vnfm.Problems, 0, len(invalid.Problems))
	for _, p := range invalid.Problems {
		switch name := p.Attribute; {
		case name == "name":
		case spec.Type == "" && name != "":
			p.Attribute, p.Summary = "", fmt.Sprintf("vims[%q] of the provider, %s: %s", spec.Name, name, p.Summary)
		case slices.Contains(secretNames(), name):
			p.Attribute, p.Summary = "", fmt.Sprintf("%s.%s: %s", spec.Type, name, p.Summary)
		case name != "":
			p.Attribute = string(spec.Type) + "." + name
		}
		moved = append(moved, p)
	}
	return &vnfm.InvalidError{Problems: moved}
}
