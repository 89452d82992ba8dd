package heat

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
)

// Resources beside servers that services let go of while a server uses them.
const (
	floatingIPType = "OS::Neutron::FloatingIP"
	attachmentType = "OS::Cinder::VolumeAttachment"
)

// readServices reads what Nova and Neutron have of the resources of the stack: the servers, and where the stack has some, the ports and the
// floating addresses.
func (s *session) readServices(ctx context.Context, l *live) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		l.servers, err = s.client.Servers(ctx)
		return err
	})
	if l.has(portType) {
		g.Go(func() (err error) {
			l.ports, err = s.client.Ports(ctx)
			return err
		})
	}
	if l.has(floatingIPType) {
		g.Go(func() (err error) {
			l.floating, err = s.client.FloatingIPs(ctx)
			return err
		})
	}
	return g.Wait()
}

func (l *live) has(kind string) bool {
	for i := range l.resources {
		if l.resources[i].Type == kind {
			return true
		}
	}
	return false
}

// lost says what is wrong with a resource that was deleted or detached outside of Heat, which does not look at it; empty when nothing is.
func (l *live) lost(r *openstack.StackResource) string {
	if r.PhysicalID == "" || r.Failed() {
		return ""
	}
	switch r.Type {
	case portType:
		if l.ports[r.PhysicalID] == nil {
			return "no longer exists"
		}
	case floatingIPType:
		if l.floating[r.PhysicalID] == nil {
			return "no longer exists"
		}
	case attachmentType:
		// The id of an attachment is that of its volume. A server that is replaced gets its volumes with that.
		if server := l.attachedTo(r); server != nil && server.Status != openstack.ServerError && !hasVolume(server, r.PhysicalID) {
			return "is not attached any more"
		}
	}
	return ""
}

// attachedTo is the server that an attachment of a volume refers to; nil when it is gone.
func (l *live) attachedTo(attachment *openstack.StackResource) *openstack.Server {
	for i := range l.resources {
		r := &l.resources[i]
		if r.Type == serverType && r.StackID() == attachment.StackID() && slices.Contains(r.RequiredBy, attachment.Name) {
			return l.servers[r.PhysicalID]
		}
	}
	return nil
}

func hasVolume(server *openstack.Server, id string) bool {
	for _, v := range server.Volumes {
		if v.ID == id {
			return true
		}
	}
	return false
}

// repairLost attaches volumes again, and has Heat make again what was deleted outside of it; marked reports whether there is any of that.
// Heat cannot replace an attachment of the same volume: it would detach the volume with the former one, which has the same id.
func (s *session) repairLost(ctx context.Context, l *live) (marked bool, _ error) {
	for i := range l.resources {
		r := &l.resources[i]
		reason := l.lost(r)
		if reason == "" {
			continue
		}
		if r.Type == attachmentType {
			server := l.attachedTo(r)
			s.progress(ctx, fmt.Sprintf("attaching volume %s to server %s", r.PhysicalID, server.Name))
			if err := s.client.AttachVolume(ctx, server.ID, r.PhysicalID); err != nil {
				return marked, err
			}
			continue
		}
		s.progress(ctx, fmt.Sprintf("%s %s: it is made again", l.pathOf(r), reason))
		if err := s.client.MarkUnhealthy(ctx, r, "it "+reason); err != nil {
			return marked, err
		}
		marked = true
	}
	return marked, nil
}
