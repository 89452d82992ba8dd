package lcm

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/hooks"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The notes of an operation that say in which rounds it replaces VNFCs, and in which a rollback takes that back.
const (
	noteTurns         = "turns"
	noteRollbackTurns = "rollback turns"
	// noteDrifted are the VNFCs that a scale or a heal replaces beside its own, because they were changed outside of Terraform and cannot
	// wait.
	noteDrifted = "drifted"
)

// turns are the rounds in which an operation replaces VNFCs: management drivers that keep them as nodes have those of a round leave
// before they are replaced, and join again before the next round begins.
type turns struct {
	// Target is the digest of what they lead to.
	Target string `json:"target"`
	// Rounds are the ids of VNFCs, and Done how many of the rounds are over. The work of the operation itself is the last one.
	Rounds [][]string `json:"rounds"`
	Done   int        `json:"done"`
}

// replacement is what VNFCs are replaced for.
type replacement struct {
	// note keeps the rounds.
	note string
	// next is the record that it leads to, with spec and to.
	next *vnfm.Instance
	spec vnfm.InstanceSpec
	to   *resolution
	// surplus has VNFCs leave that next has no place for, and broken those that do not work, which Apply replaces as well.
	surplus, broken bool
	// begin is called before the first round that is not the last; nil for nothing.
	begin func(ctx context.Context) error
}

// takeTurns replaces VNFCs round by round but for the last round, whose VNFCs it notes as those that leave, and returns. They are
// replaced by the work of the operation. An operation that is resumed goes on with the round that it was in.
func (u *update) takeTurns(ctx context.Context, op *operation, hook *hooks.Operation, c replacement) ([]string, error) {
	management := u.engine.management()
	if len(management.All(c.to.flavour)) == 0 {
		return nil, nil
	}
	t, d, err := u.engine.bind(ctx, c.next, c.to, c.spec)
	if err != nil {
		return nil, err
	}
	all, err := u.turnsOf(ctx, op, hook, c, t, d)
	if err != nil || len(all.Rounds) == 0 {
		return nil, err
	}
	last := len(all.Rounds) - 1
	if last > 0 && c.begin != nil {
		if err := c.begin(ctx); err != nil {
			return nil, err
		}
	}
	for ; all.Done < last; all.Done++ {
		round := all.Rounds[all.Done]
		op.Progress(ctx, fmt.Sprintf("replacing VNFCs, round %d of %d: %s", all.Done+1, last+1, vnfm.QuotedNames(round)))
		t.Held = slices.Concat(all.Rounds[all.Done+1:]...)
		if err := hooks.NoteLeaving(ctx, op, round); err != nil {
			return nil, err
		}
		if err := u.engine.callDrivers(ctx, op, *hook, management.Keepers(hook, false), false); err != nil {
			return nil, err
		}
		if err := (hostKeys{op}).forget(ctx, round); err != nil {
			return nil, err
		}
		if err := d.Apply(ctx, t, op); err != nil {
			return nil, err
		}
		if err := u.engine.callDrivers(ctx, op, *hook, management.Keepers(hook, true), true); err != nil {
			return nil, err
		}
		done := *all
		done.Done++
		if err := done.save(ctx, op, c.note); err != nil {
			return nil, err
		}
	}
	return all.Rounds[last], hooks.NoteLeaving(ctx, op, all.Rounds[last])
}

// turnsOf are the rounds of a change: those that were noted for it, else those that the VIM and the drivers say.
func (u *update) turnsOf(ctx context.Context, op *operation, hook *hooks.Operation, c replacement, t *vnfm.Target, d vnfm.InfraDriver) (*turns, error) {
	target, err := targetDigest(ctx, t, d)
	if err != nil {
		return nil, err
	}
	if text := op.Note(c.note); text != "" {
		all := &turns{}
		if err := json.Unmarshal([]byte(text), all); err != nil {
			return nil, fmt.Errorf("reading in which rounds VNFCs are replaced: %w", err)
		}
		if all.Target == target {
			return all, nil
		}
	}
	all := &turns{Target: target}
	replaced, err := d.Replacing(ctx, t)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(replaced, func(a, b vnfm.Replacement) int { return strings.Compare(a.VNFC, b.VNFC) })
	first, err := u.leavingFirst(ctx, op, hook, c, t, d)
	if err != nil {
		return nil, err
	}
	replaced = slices.DeleteFunc(replaced, func(r vnfm.Replacement) bool { return slices.Contains(first, r.VNFC) })
	all.Rounds = u.engine.management().Rounds(hook, replaced)
	if len(first) > 0 {
		all.addFirst(first, replaced)
	}
	if len(all.Rounds) == 0 {
		return all, nil
	}
	return all, all.save(ctx, op, c.note)
}

// leavingFirst are the VNFCs that leave before those that are replaced because they are to be others.
func (u *update) leavingFirst(ctx context.Context, op *operation, hook *hooks.Operation, c replacement, t *vnfm.Target, d vnfm.InfraDriver) (out []string, err error) {
	if c.surplus {
		if out, err = u.surplus(ctx, c, t, d); err != nil {
			return nil, err
		}
	}
	if !c.broken || !u.engine.management().HasAny(hook) {
		return out, nil
	}
	// A repair may continue the heal of VNFCs that were noted then.
	broken, noted, err := hooks.Leaving(op)
	if err == nil && !noted {
		broken, err = u.vnfcs(ctx, func(c *vnfm.VNFC) bool { return c.State == vnfm.VNFCGone || c.State == vnfm.VNFCError })
	}
	for _, id := range broken {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out, err
}

// holdDrifted has a scale or a heal leave VNFCs as they are that were changed outside of Terraform, so that the repair which follows
// replaces them in rounds. It returns those that cannot wait: they are replaced at once, and leave with the others of the operation.
func (u *update) holdDrifted(ctx context.Context, op *operation, hook *hooks.Operation, o *plannedOperation, leaving []string) ([]string, error) {
	changed, management := *hook, u.engine.management()
	changed.Changes = allReplaced(o.to.flavour)
	if len(management.Keepers(&changed, false))+len(management.Keepers(&changed, true)) == 0 {
		return nil, nil
	}
	next, spec := u.instance.Value, o.spec
	describe(&next, spec, o.to)
	spec.ScaleInVNFCIDs = u.spec.ScaleInVNFCIDs
	t, d, err := u.engine.bind(ctx, &next, o.to, spec)
	if err != nil {
		return nil, err
	}
	replaced, err := d.Replacing(ctx, t)
	if err != nil {
		return nil, err
	}
	atOnce := driftedOf(op)
	for _, r := range replaced {
		switch {
		case slices.Contains(leaving, r.VNFC) || slices.Contains(atOnce, r.VNFC):
		case r.AtOnce:
			atOnce = append(atOnce, r.VNFC)
		default:
			u.held = append(u.held, r.VNFC)
		}
	}
	if len(atOnce) == 0 {
		return nil, nil
	}
	if err := op.SetNote(ctx, noteDrifted, strings.Join(atOnce, " ")); err != nil {
		return nil, err
	}
	return atOnce, hooks.NoteLeaving(ctx, op, slices.Concat(leaving, atOnce))
}

// driftedOf are the VNFCs that an operation replaces beside its own.
func driftedOf(op *operation) []string { return strings.Fields(op.Note(noteDrifted)) }

// targetDigest sums up what an instance is to consist of.
func targetDigest(ctx context.Context, t *vnfm.Target, d vnfm.InfraDriver) (string, error) {
	preview, problems := d.Preview(ctx, t)
	if err := problems.Err(); err != nil {
		return "", err
	}
	text, err := json.Marshal(preview.Objects)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sha256.Sum256(text)), nil
}

// addFirst has VNFCs leave in a round of their own before all others, or with the first round when that cannot wait.
func (t *turns) addFirst(leaving []string, replaced []vnfm.Replacement) {
	if slices.ContainsFunc(replaced, func(r vnfm.Replacement) bool { return r.AtOnce }) {
		t.Rounds[0] = append(leaving, t.Rounds[0]...)
		return
	}
	t.Rounds = slices.Insert(t.Rounds, 0, leaving)
}

func (t *turns) save(ctx context.Context, r vnfm.Recorder, note string) error {
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return r.SetNote(ctx, note, string(text))
}

// surplus are the VNFCs that an instance has no place for any more: more than there are to be of a VDU, and those of VDUs that the
// flavour lacks.
func (u *update) surplus(ctx context.Context, c replacement, t *vnfm.Target, d vnfm.InfraDriver) ([]string, error) {
	out, err := d.Leaving(ctx, t)
	before := &u.instance.Value
	if err != nil || before.Cluster != nil || before.PackageID == c.next.PackageID && before.FlavourID == c.next.FlavourID {
		return out, err
	}
	has, err := u.engine.resourcesOf(ctx, u.instance)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		// Without the package of before nobody knows which VDUs it had.
		return out, nil
	}
	for i := range has.VNFCs {
		if v := &has.VNFCs[i]; v.VDUID != "" && c.to.flavour.VDU(v.VDUID) == nil && !slices.Contains(out, v.ID) {
			out = append(out, v.ID)
		}
	}
	return out, nil
}
