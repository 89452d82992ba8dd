package heat

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Observe compares the stack with what was applied: whether somebody has changed it since,
// how Heat's last action on it went, and whether its servers are there and as they are to
// be, and so are its ports, floating addresses and attached volumes. It takes as many requests as look.
func (d *Driver) Observe(ctx context.Context, t *vnfm.Target) (*vnfm.Observation, error) {
	s, err := d.open(ctx, t, nil)
	if err != nil {
		return nil, err
	}
	out := &vnfm.Observation{VDUs: map[string]vnfm.VDUState{}, Objects: map[string]string{}}
	l, err := s.look(ctx)
	if err != nil {
		return out, err
	}
	if l == nil {
		out.Gone = slices.Collect(maps.Keys(s.objects))
		return out, nil
	}
	components := s.components(l)
	maps.Copy(out.Objects, l.note.Objects)
	if s.source == nil {
		return out, nil
	}
	key := stackKey(t.Instance)
	if text := l.state(); text != "" {
		out.Objects[key] = vnfm.Drifted + text
	} else if out.Objects[key] == "" {
		// A stack without a note is one that the driver has not finished.
		out.Objects[key] = vnfm.Drifted + "not complete"
	}
	sick := map[string][]string{}
	running := map[string]int{}
	for _, c := range components {
		if text := c.drift(t.Instance.OperationalState); text != "" {
			sick[c.vdu] = append(sick[c.vdu], text)
		}
		if c.server != nil && (t.Instance.OperationalState != vnfm.Stopped || c.server.Status != openstack.ServerShutoff) {
			running[c.vdu]++
		}
	}
	for id := range s.source.VDUs {
		if t.Part.Has(id) {
			out.VDUs[id] = vduState(t.Flavour, id, running[id])
		}
		if texts := sick[id]; len(texts) > 0 {
			out.Objects[s.objectOf(id, key)] = vnfm.Drifted + strings.Join(texts, ", ")
		}
	}
	return out, nil
}

// Recover implements vnfm.InfraDriver. The stack has the id of the instance in its name.
func (d *Driver) Recover(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	s, err := d.open(ctx, t, r)
	if err != nil {
		return err
	}
	stack, err := s.find(ctx)
	if err != nil || stack == nil {
		return err
	}
	return s.save(ctx, &live{stack: stack})
}

// DigestKey implements vnfm.InfraDriver.
func (d *Driver) DigestKey(ctx context.Context, t *vnfm.Target) ([]byte, error) {
	s, err := d.open(ctx, t, nil)
	if err != nil {
		return nil, err
	}
	l, err := s.look(ctx)
	if err != nil || l == nil {
		return nil, err
	}
	return l.note.key()
}

// state says in which way the stack is not as it was left; empty when it is.
func (l *live) state() string {
	var texts []string
	if !l.noted {
		texts = append(texts, "template, files or parameters")
	}
	if l.stack.Failed() || l.stack.InProgress() {
		texts = append(texts, l.stack.Status)
	}
	for i := range l.resources {
		// Servers are listed with their VDUs.
		if r := &l.resources[i]; r.Failed() && r.Type != serverType {
			texts = append(texts, l.pathOf(r)+" is "+r.Status)
		} else if text := l.lost(r); text != "" {
			texts = append(texts, l.pathOf(r)+" "+text)
		}
	}
	return strings.Join(texts, ", ")
}

// objectOf is the object that a VDU is among those of the instance; that of the stack when
// it is none of its own.
func (s *session) objectOf(vdu, fallback string) string {
	name := s.source.VDUs[vdu].Resource
	for key := range s.objects {
		if _, own, ok := strings.Cut(key, " "); ok && own == name {
			return key
		}
	}
	return fallback
}

// drift says what is wrong with a VNFC; empty when nothing is.
func (c *component) drift(state vnfm.OperationalState) string {
	if text := c.broken(); text != "" {
		return c.resource.PhysicalID + ": " + text
	}
	if c.resource.Failed() {
		return fmt.Sprintf("%s: %s", c.resource.PhysicalID, c.resource.Status)
	}
	if c.server != nil && c.server.Status == openstack.ServerShutoff && state != vnfm.Stopped {
		return c.server.Name + " is " + c.server.Status
	}
	return ""
}
