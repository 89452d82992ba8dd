// Package credentials is the management driver that sends the kubeconfigs of workload clusters to a web server of the user.
package credentials

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// clusterGroup is the API group of the kind Cluster of Cluster API.
const clusterGroup = "cluster.x-k8s.io"

// Sender is the management driver. It is safe for concurrent use.
type Sender struct {
	// waitMin and waitMax bound the pause between two attempts.
	waitMin, waitMax time.Duration
}

var _ vnfm.ManagementDriver = (*Sender)(nil)

// New returns the driver.
func New() *Sender { return &Sender{waitMin: time.Second, waitMax: 30 * time.Second} }

// Params implements vnfm.ManagementDriver: the sink is an argument of its own.
func (s *Sender) Params() []string { return nil }

// Check implements vnfm.ManagementDriver.
func (s *Sender) Check(c *vnfm.HookCheck) vnfm.Problems {
	request, planned := c.Request, c.Planned
	if request.Sink == nil {
		return vnfm.Problems{{
			Attribute: sinkAttribute,
			Summary:   "credentials_sink is missing",
			Detail:    fmt.Sprintf("the VNFD names the management driver %q, which sends the kubeconfig of the workload cluster to a web server; credentials_sink names that server", vnfm.CredentialsSender),
		}}
	}
	if request.Cluster != nil || planned == nil || slices.ContainsFunc(slices.Collect(maps.Keys(planned.Objects)), isCluster) {
		return nil
	}
	return vnfm.Problems{{
		Attribute: sinkAttribute,
		Summary:   "there are no credentials to send",
		Detail:    fmt.Sprintf("a credentials sink receives the kubeconfigs of the workload clusters of an instance, but this instance has no Cluster of %s", clusterGroup),
	}}
}

// sinkAttribute is the argument for the web server.
const sinkAttribute = "credentials_sink"

// isCluster reports whether the identity of an object in a package is a Cluster of Cluster API.
func isCluster(key string) bool {
	_, key = vnfm.CutConnection(key)
	kind, _, _ := strings.Cut(key, " ")
	group, kind, _ := strings.Cut(kind, "/")
	return group == clusterGroup && strings.HasSuffix(kind, "/Cluster")
}

// Run implements vnfm.ManagementDriver. At the end of every operation but a termination it sends each kubeconfig that differs from
// the last delivery.
func (s *Sender) Run(ctx context.Context, call *vnfm.HookCall) error {
	if !call.End || call.Operation == vnfm.OpTerminate || call.Request.Sink == nil {
		return nil
	}
	refs := clusters(call.Instance)
	if len(refs) == 0 {
		return fmt.Errorf("the instance has no Cluster of %s, so that there are no credentials to send", clusterGroup)
	}
	for _, ref := range refs {
		if err := s.sendKubeconfig(ctx, call, ref); err != nil {
			return err
		}
	}
	return nil
}

// sendKubeconfig sends the kubeconfig of one workload cluster, unless the sink has received it. A process that ends between the
// delivery and its record sends the same kubeconfig again, under the same idempotency key.
func (s *Sender) sendKubeconfig(ctx context.Context, call *vnfm.HookCall, ref vnfm.ClusterRef) error {
	k, err := call.Kubeconfig(ctx, ref)
	if errors.Is(err, vnfm.ErrNotFound) {
		if call.Instance.Cluster != nil && call.Instance.Cluster.IsPaused() {
			// The operation that ends the pause sends the kubeconfig.
			return nil
		}
		return fmt.Errorf("workload cluster %s/%s has no kubeconfig yet, so that there is nothing to send", ref.Namespace, ref.Name)
	}
	if err != nil {
		return fmt.Errorf("reading the kubeconfig of workload cluster %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	sink, id := call.Request.Sink, ref.Namespace+"/"+ref.Name
	digest := keyed(call.DigestKey, call.Instance.ID, id, sink.URL, k.Raw.Reveal())
	if call.Instance.Deliveries[id].Digest == digest {
		return nil
	}
	body, err := json.Marshal(newPayload(ref, k))
	if err != nil {
		return fmt.Errorf("encoding the credentials of workload cluster %s: %w", id, err)
	}
	if call.Recorder != nil {
		call.Recorder.Progress(ctx, "sending the kubeconfig of workload cluster "+id)
	}
	if err := s.post(ctx, sink, body, digest); err != nil {
		return fmt.Errorf("sending the kubeconfig of workload cluster %s to %s: %w", id, hostOf(sink.URL), err)
	}
	if call.Instance.Deliveries == nil {
		call.Instance.Deliveries = map[string]vnfm.Delivery{}
	}
	call.Instance.Deliveries[id] = vnfm.Delivery{URL: sink.URL, Digest: digest, SentAt: time.Now().UTC()}
	return nil
}

// clusters are the workload clusters of an instance: the instance itself, or the Clusters of its package.
func clusters(i *vnfm.Instance) []vnfm.ClusterRef {
	if i.Cluster != nil {
		return []vnfm.ClusterRef{i.ClusterRef()}
	}
	var out []vnfm.ClusterRef
	for _, item := range i.Inventory {
		if item.Group != clusterGroup || item.Kind != "Cluster" || item.Hook {
			continue
		}
		vim := i.VIMID
		if item.Connection != "" {
			vim = i.Connections[item.Connection].VIMID
		}
		out = append(out, vnfm.ClusterRef{VIMID: vim, Namespace: item.Namespace, Name: item.Name})
	}
	return out
}

// keyed is a keyed digest: guessing the texts from it needs the key.
func keyed(key []byte, texts ...string) string {
	var content []byte
	for _, text := range texts {
		content = fmt.Appendf(content, "%d:%s", len(text), text)
	}
	return digest.Keyed(key, content)
}
