package lcm

import (
	"context"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// DiffPackages says what an instance of one request would do to become that of another one, such as of the next version of its package.
// It needs no store and no VIM: the packages must have been read in this process. Problems of either request are returned, and nothing
// else when one of them is an error.
func (e *Engine) DiffPackages(ctx context.Context, from, to vnfm.InstanceSpec) (planned *vnfm.PlannedUpdate, of [2]vnfm.Problems, err error) {
	for n, spec := range []vnfm.InstanceSpec{from, to} {
		_, problems, err := e.PreviewInstance(ctx, "", spec)
		if err != nil {
			return nil, of, err
		}
		if of[n] = problems; problems.HasErrors() {
			return nil, of, nil
		}
	}
	before, was, err := e.rendered(ctx, presentInstance{}, &from)
	if before == nil || err != nil {
		return nil, of, err
	}
	w, err := e.newWords(ctx, presentInstance{}, &to)
	if w == nil || err != nil {
		return nil, of, err
	}
	w.before, w.was, w.changed = before, was.pkg, map[string]string{}
	var record vnfm.Instance
	describeNew(&record, from, was)
	record.Status = vnfm.StatusInstantiated
	in := planInput{record: record, spec: to, wanted: w.wanted, observed: true}
	for _, o := range planUpdate(in).operations {
		w.operation(&record, &o)
	}
	w.changes()
	return w.finish(), of, nil
}
