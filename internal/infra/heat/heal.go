package heat

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// keptServers is the note of a heal: the servers that it replaces.
const keptServers = "servers"

// Heal replaces VNFCs: their servers, which keep their ports, and with them their
// addresses, and their volumes unless those are to be replaced as well. Of each VDU
// one VNFC goes at a time. A whole instance is applied first.
func (d *Driver) Heal(ctx context.Context, t *vnfm.Target, h vnfm.HealSpec, r vnfm.Recorder) error {
	if t.Part.Empty() {
		return d.vacate(ctx, t, r)
	}
	s, err := d.open(ctx, t, r)
	if err != nil {
		return err
	}
	if h.EntireInstance() {
		if err := s.apply(ctx); err != nil {
			return err
		}
	}
	l, err := s.awaitIdle(ctx)
	if err != nil {
		return err
	}
	if l == nil {
		return fmt.Errorf("there is no stack %s to heal: apply again to create it", stackName(t.Instance))
	}
	servers, err := s.serversToReplace(ctx, l, &h)
	if err != nil {
		return err
	}
	for {
		var round []*component
		chosen := map[string]bool{}
		for _, c := range s.components(l) {
			if slices.Contains(servers, c.resource.PhysicalID) && !chosen[c.vdu] {
				chosen[c.vdu] = true
				round = append(round, c)
			}
		}
		if len(round) == 0 {
			return s.apply(ctx)
		}
		for _, c := range round {
			s.progress(ctx, "replacing VNFC "+c.id())
			renewed := false
			if h.Storage {
				var err error
				if renewed, err = s.replaceVolumes(ctx, l, c, "replaced by a heal: "+h.Cause); err != nil {
					return err
				}
			}
			if !renewed {
				if err := s.freeRoot(ctx, c); err != nil {
					return err
				}
			}
			if err := s.replace(ctx, l, c, "replaced by a heal: "+h.Cause); err != nil {
				return err
			}
		}
		if err := s.apply(ctx); err != nil {
			return err
		}
		if l, err = s.awaitIdle(ctx); err != nil {
			return err
		}
		if l == nil {
			return fmt.Errorf("stack %s was deleted during the heal", stackName(t.Instance))
		}
	}
}

// serversToReplace returns the servers that a heal replaces. They are noted before the first one goes:
// a process that resumes the operation replaces no successor.
func (s *session) serversToReplace(ctx context.Context, l *live, h *vnfm.HealSpec) ([]string, error) {
	var ids []string
	if kept := s.recorder.Note(keptServers); kept != "" {
		err := json.Unmarshal([]byte(kept), &ids)
		return ids, err
	}
	for _, c := range s.components(l) {
		if c.resource.PhysicalID != "" && (h.EntireInstance() || slices.Contains(h.VDUIDs, c.vdu) || slices.Contains(h.VNFCIDs, c.id())) {
			ids = append(ids, c.resource.PhysicalID)
		}
	}
	text, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	return ids, s.recorder.SetNote(ctx, keptServers, string(text))
}

// freeRoot deletes the server of a VNFC that boots from a volume which stays, and waits until it is gone. Heat would make the next
// server first, and Nova refuses one with a block device that another server has.
func (s *session) freeRoot(ctx context.Context, c *component) error {
	if c.server == nil || !c.server.BootsFromVolume() {
		return nil
	}
	s.progress(ctx, fmt.Sprintf("server %s is deleted: its successor boots from the same volume", c.server.Name))
	if err := s.client.DeleteServer(ctx, c.server.ID); err != nil && !openstack.IsNotFound(err) {
		return err
	}
	return waitUntil(ctx, func(ctx context.Context) (bool, error) {
		servers, err := s.client.Servers(ctx)
		return err == nil && servers[c.server.ID] == nil, err
	})
}

// replaceVolumes marks the volumes of a VNFC, and reports whether there are any: those that are in the same template as
// its server. They go in the update that replaces the server.
func (s *session) replaceVolumes(ctx context.Context, l *live, c *component, reason string) (marked bool, _ error) {
	if c.resource.StackID() == l.stack.ID {
		// In the template of the whole VNF nothing says whose a volume is.
		return false, nil
	}
	for i := range l.resources {
		r := &l.resources[i]
		if r.Type != volumeType || r.StackID() != c.resource.StackID() {
			continue
		}
		if err := s.client.MarkUnhealthy(ctx, r, reason); err != nil {
			return false, err
		}
		marked = true
	}
	return marked, nil
}
