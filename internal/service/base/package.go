package base

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// packageKey is where the private state of an instance keeps the package that it is of.
const packageKey = "package"

// An apply of a saved plan does not refresh, and calls no resource that the plan does not change: a
// vnf_package without a change does not put back what the store has lost since. The instance does,
// with the source in its private state.

// keepPackage notes the package of an instance, unless the note is there.
func (r *InstanceResource[M, P]) keepPackage(ctx context.Context, before privateState, private privateStateOut, i *vnfm.Instance, diags *diag.Diagnostics) {
	if i.PackageID == "" {
		return
	}
	if before != nil {
		if note, err := readNote[vnfm.KnownPackage](ctx, before, packageKey, diags); err == nil && note.ID == i.PackageID {
			return
		}
	}
	known, err := r.data.Manager.KnownPackage(ctx, i.PackageID)
	if err != nil {
		// Without the note a lost package is onboarded by its own resource alone.
		return
	}
	writeNote(ctx, private, packageKey, known, diags)
}

// readPackage reads the package of an instance from its source, for this process, when missing
// says that the store has lost it. It reports whether that is the same content.
func (r *InstanceResource[M, P]) readPackage(ctx context.Context, private privateState, missing error, diags *diag.Diagnostics) bool {
	note, err := readNote[vnfm.KnownPackage](ctx, private, packageKey, diags)
	if err != nil || note.ID == "" || !vnfm.IsMissing(missing, note.ID) {
		return false
	}
	p, problems, err := r.data.Manager.ReadPackage(ctx, note.PackageSpec)
	return err == nil && !problems.HasErrors() && p.ID == note.ID
}

// ensurePackage onboards the package of an instance again that the store has lost.
func (r *InstanceResource[M, P]) ensurePackage(ctx context.Context, private privateState, diags *diag.Diagnostics) error {
	note, err := readNote[vnfm.KnownPackage](ctx, private, packageKey, diags)
	if err != nil || note.ID == "" {
		return err
	}
	if _, err := r.data.Manager.KnownPackage(ctx, note.ID); !errors.Is(err, vnfm.ErrNotFound) {
		return err
	}
	_, problems, err := r.data.Manager.OnboardPackage(ctx, note.PackageSpec, note.ID)
	if err == nil {
		err = problems.Err()
	}
	if err != nil {
		return fmt.Errorf("the store has no record of VNF package %q, and onboarding it again from %s: %w", note.ID, note.Source, err)
	}
	return nil
}
