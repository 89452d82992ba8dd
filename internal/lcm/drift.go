package lcm

import (
	"context"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// drifting is what an observation of an instance has found.
type drifting struct {
	target      *vnfm.Target
	differences []string
	err         error
}

// drift looks for what differs from what was applied, unless that is being done.
func (u *update) drift(ctx context.Context) drifting {
	if looking := u.looking; looking != nil {
		u.looking = nil
		return <-looking
	}
	return u.lookAt(ctx, &u.instance.Value)
}

func (u *update) lookAt(ctx context.Context, i *vnfm.Instance) (found drifting) {
	var d vnfm.InfraDriver
	if found.target, d, found.err = u.engine.bind(ctx, i, u.wanted, u.spec); found.err == nil {
		found.differences, found.err = differences(ctx, d, found.target)
	}
	return found
}

// lookBeside begins to look for drift: all work of the operation is done, and the record is written meanwhile.
func (u *update) lookBeside(ctx context.Context) {
	i, looking := u.instance.Value, make(chan drifting, 1)
	u.looking = looking
	go func() { looking <- u.lookAt(ctx, &i) }()
}

// differences names the objects of an instance that are not as they were applied. Differences
// on one VIM are returned even when another VIM cannot be observed.
func differences(ctx context.Context, d vnfm.InfraDriver, t *vnfm.Target) ([]string, error) {
	want, problems := d.Preview(ctx, t)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	seen, err := d.Observe(ctx, t)
	if seen == nil {
		return nil, err
	}
	var out []string
	for key, digest := range want.Objects {
		connection, _ := vnfm.CutConnection(key)
		switch found, ok := seen.Objects[key]; {
		case slices.Contains(seen.Unseen, connection), slices.Contains(seen.Unread, key):
		case !ok:
			out = append(out, key+" no longer exists")
		case found != digest:
			out = append(out, key+" "+found)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, err
}
