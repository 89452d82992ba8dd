package heat

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/hot"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tracing"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Apply creates the stack or makes it what the target asks for, and waits until Heat and
// Nova are done. It waits first for a stack on which Heat is at work; one that failed
// half-way is continued; servers that are gone or in ERROR are replaced.
func (d *Driver) Apply(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	if t.Part.Empty() {
		return d.vacate(ctx, t, r)
	}
	s, err := d.open(ctx, t, r)
	if err != nil {
		return err
	}
	defer s.warnOfMoves()
	return s.apply(ctx)
}

// vacate deletes the stack of an instance that has nothing on the VIM any more.
func (d *Driver) vacate(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	if err := d.Terminate(ctx, t, vnfm.TerminateSpec{Type: vnfm.Graceful, Volumes: vnfm.VolumesDefault}, r); err != nil {
		return err
	}
	return r.SaveInventory(ctx, nil)
}

// Scale implements vnfm.InfraDriver. VNFCs that are not named go newest first.
func (d *Driver) Scale(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	return d.Apply(ctx, t, r)
}

func (s *session) apply(ctx context.Context) error {
	l, err := s.awaitIdle(ctx)
	if err != nil {
		return err
	}
	leaving, err := s.leaving(l)
	if err != nil {
		return err
	}
	if err := s.save(ctx, l); err != nil {
		return err
	}
	want, err := s.wanted(ctx, l, leaving, false)
	if err != nil {
		return err
	}
	request := want.content
	if l == nil {
		id, err := s.client.CreateStack(ctx, *request)
		if err != nil {
			return errors.Join(explained(err), s.releaseAllImages(ctx))
		}
		l = &live{stack: &openstack.Stack{ID: id, Name: request.Name}}
		if err := s.save(ctx, l); err != nil {
			return err
		}
	} else {
		marked, err := s.mark(ctx, l, leaving)
		if err != nil {
			return err
		}
		// Imports find a stack by the name of its instance among the tags.
		renamed := slices.ContainsFunc(request.Tags, func(tag string) bool { return !slices.Contains(l.stack.Tags, tag) })
		if marked || renamed || s.differs(l, want.note) {
			if err := s.update(ctx, l, request); err != nil {
				return err
			}
		}
	}
	if err := s.finish(ctx, l.stack, want); err != nil {
		return err
	}
	s.moves = append(s.moves, want.zones.moves()...)
	if err := s.power(ctx, l.stack); err != nil {
		return err
	}
	if err := tracing.RunSteps(ctx, s.target, vnfm.BeforePrune); err != nil {
		return err
	}
	if len(s.target.Held) > 0 {
		// Servers that are still to be replaced have the images of before.
		return nil
	}
	return s.releaseImages(ctx, want.note.images())
}

// releaseAllImages leaves no image behind for a stack that Heat did not take.
func (s *session) releaseAllImages(ctx context.Context) error {
	late, stop := vnfm.CleanupContext(ctx, cleanupLimit)
	defer stop()
	return s.releaseImages(late, nil)
}

// explained adds what is known of an error that Heat does not explain: Keystone forbids
// trusts to who came with an application credential, which Heat says as an error of its own.
func explained(err error) error {
	if openstack.IsUnavailable(err) && strings.Contains(err.Error(), "trust") {
		return fmt.Errorf("%w; Heat makes a trust for each stack (deferred_auth_method), which Keystone forbids to an application credential: give the VIM a user and password", err)
	}
	return err
}

// awaitIdle returns the stack when Heat is done with whatever it was at; nil when there is
// none.
func (s *session) awaitIdle(ctx context.Context) (*live, error) {
	stack, err := s.findOrAdopt(ctx)
	if err != nil || stack == nil {
		return nil, err
	}
	if stack.InProgress() {
		// How it ends is seen afterwards: what failed is continued.
		if err := s.outcome(ctx, stack); err != nil {
			return nil, err
		}
		if stack, err = s.client.FindStack(ctx, stack.Name); err != nil || stack == nil {
			return nil, err
		}
	}
	return s.readLive(ctx, stack)
}

// save notes the stack in the inventory: before it is made, and with its id afterwards.
func (s *session) save(ctx context.Context, l *live) error {
	item := vnfm.InventoryItem{
		Type: vnfm.InventoryStack, Key: stackKey(s.target.Instance), Name: stackName(s.target.Instance),
	}
	if l != nil {
		item.UID = l.stack.ID
	}
	return s.recorder.SaveInventory(ctx, []vnfm.InventoryItem{item})
}

// order is a stack as Heat is asked for it.
type order struct {
	// live is the stack that is there, nil for none; with dry set the order is not sent.
	live    *live
	dry     bool
	request hot.Request
	content *openstack.StackRequest
	// note is what goes with it, asked are the zones that its templates ask for. Without zones none is chosen.
	note  *note
	asked map[hot.Place]hot.Zone
	zones *zoning
}

// wanted is the stack of the target, with the VNFCs that the live one has as far as they
// are to stay. With dry set nothing is uploaded: an image that the VIM lacks goes by its digest, and no server is held back.
func (s *session) wanted(ctx context.Context, l *live, leaving map[string][]*component, dry bool) (*order, error) {
	var before note
	if l != nil {
		before = l.note
	}
	assets, problems, err := s.assets(ctx, before.Assets, dry)
	if err != nil {
		return nil, err
	}
	if dry {
		s.nameMissingImages(assets)
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	out := &order{live: l, dry: dry, request: s.request, zones: newZoning(s.target.AvailabilityZones, before.Zones, s.components(l))}
	request := &out.request
	request.Assets, request.VNFCs, request.Zone = assets, map[string][]int{}, out.zones.of
	for id, vdu := range s.source.VDUs {
		if vdu.Form != hot.Copied {
			continue
		}
		var gone []int
		for _, c := range leaving[id] {
			if n, ok := numberOf(c.root); ok {
				gone = append(gone, n)
			}
		}
		request.VNFCs[id] = chooseNumbers(l.copies(vdu), request.Counts[id], gone)
	}
	request.InTurn = s.inTurn(l, request.VNFCs)
	return out, s.compose(ctx, out)
}

// compose makes what an order sends, with the zones that are chosen by now.
func (s *session) compose(ctx context.Context, o *order) error {
	stack, problems := s.source.Stack(o.request)
	if err := problems.Err(); err != nil {
		return err
	}
	o.asked = stack.Zones
	o.content = &openstack.StackRequest{
		Name: stackName(s.target.Instance), Tags: s.tagsFor(o.live), Minutes: minutesLeft(ctx),
		StackContent: openstack.StackContent{Template: stack.Template, Files: stack.Files, Parameters: stack.Parameters},
	}
	n := &note{Package: s.target.Package.Digest, Objects: s.objects, InTurn: o.request.InTurn, Assets: map[string]hot.Asset{}, Zones: noteOf(stack.Zones)}
	for key, asset := range o.request.Assets {
		n.Assets[assetName(key)] = asset
	}
	if !o.dry {
		if err := s.hold(o.live, o.content, n); err != nil {
			return err
		}
	}
	err := n.setDigests(s.target.DigestKey, &o.content.StackContent)
	if err != nil {
		return err
	}
	if n.Hidden == "" {
		n.DigestKey = s.target.DigestKey
	}
	if n.Arguments, err = s.keptArguments(ctx, n.Hidden != ""); err != nil {
		return err
	}
	o.note = n
	o.content.Notes, err = n.values()
	return err
}

// inTurn reports whether Heat is to go through the copies of a VDU one after the other: a
// change of VNFCs that are there leaves the others at work. A stack that was changed so
// stays so, which costs no update, until its VNFCs are others.
func (s *session) inTurn(l *live, numbers map[string][]int) bool {
	if l == nil {
		return false
	}
	same := true
	for id, vdu := range s.source.VDUs {
		if vdu.Form != hot.Copied {
			continue
		}
		if key := s.objectOf(id, ""); l.note.Objects[key] != s.objects[key] {
			return true
		}
		same = same && slices.Equal(slices.Sorted(slices.Values(l.copies(vdu))), numbers[id])
	}
	return same && l.note.InTurn
}

// images are the ids of those that were chosen.
func (n *note) images() []string {
	var out []string
	for _, asset := range n.Assets {
		out = append(out, asset.ImageID)
	}
	return out
}

// minutesLeft is the limit that Heat gets: a little more than the operation has, which
// then says itself what was not ready. Without one, Heat's own holds.
func minutesLeft(ctx context.Context) int {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	return int(time.Until(deadline)/time.Minute) + 2
}

// differs reports whether the stack has to be updated: it is not what is wanted, Heat has
// stopped before it was, or it has resources that Heat is to replace.
func (s *session) differs(l *live, want *note) bool {
	if slices.ContainsFunc(l.resources, func(r openstack.StackResource) bool { return r.Failed() }) {
		return true
	}
	return !l.noted || l.stack.Failed() || l.stack.InProgress() ||
		l.note.Content != want.Content || l.note.Hidden != want.Hidden || !maps.Equal(l.note.Objects, want.Objects) || l.note.Package != want.Package
}

// update has Heat make the stack into what is wanted. When Heat has just begun with
// something itself, it waits for that first.
func (s *session) update(ctx context.Context, l *live, want *openstack.StackRequest) error {
	for {
		err := s.ask(ctx, l.stack, want)
		if !openstack.IsConflict(err) {
			return err
		}
		if err := s.outcome(ctx, l.stack); err != nil {
			return err
		}
	}
}

// finish waits until Heat has made the stack, and asks it again when it has stopped, for each
// reason to fail that is over by and by, and for servers that can go to another zone.
func (s *session) finish(ctx context.Context, stack *openstack.Stack, want *order) error {
	var again retries
	for {
		token := s.client.Token()
		err := s.await(ctx, stack)
		moved := want.zones.next(want.asked, s.shortages(err))
		reason := ""
		if moved == "" {
			reason = s.retryReason(ctx, err, token)
		}
		switch {
		case moved != "":
			s.progress(ctx, fmt.Sprintf("stack %s has failed: %s", stack.Name, moved))
			if err := s.compose(ctx, want); err != nil {
				return err
			}
		case errors.Is(err, errSilent):
			s.progress(ctx, fmt.Sprintf("stack %s shows no progress for %s: the request to Heat is repeated", stack.Name, silence))
		case again.next(ctx, reason):
			s.progress(ctx, fmt.Sprintf("stack %s has failed, and %s: the request to Heat is repeated", stack.Name, reason))
			if again.inUse > 1 {
				s.detachPorts(ctx, stack, err)
			}
		case err != nil:
			return want.zones.explained(err)
		default:
			return nil
		}
		if err := s.ask(ctx, stack, want.content); err != nil && !openstack.IsConflict(err) {
			return err
		}
	}
}

// Heat is asked so often for an update whose answer is lost, with such a pause in between.
const (
	askTries = 3
	askPause = 2 * time.Second
)

// ask requests an update. An engine that ends while it takes a request in answers nothing, and the API says 500 after a
// minute, whether the update has begun or not. The same request again changes nothing that was begun: it is a conflict then.
func (s *session) ask(ctx context.Context, stack *openstack.Stack, want *openstack.StackRequest) error {
	for try := 1; ; try++ {
		err := s.client.UpdateStack(ctx, stack.ID, *want)
		if !openstack.IsUnavailable(err) || try == askTries {
			return err
		}
		s.progress(ctx, fmt.Sprintf("Heat did not answer for stack %s: the request is repeated", stack.Name))
		if poll.Sleep(ctx, askPause) != nil {
			return err
		}
	}
}
