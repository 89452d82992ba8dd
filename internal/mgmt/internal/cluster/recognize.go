package cluster

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// markFile is the file on a server with its mark.
const markFile = "/etc/terraform-provider-vnf/node.json"

// mark names the instance and the node of a server, as JSON in one line.
type mark struct {
	Instance string `json:"instance"`
	Name     string `json:"name"`
}

// evidence is the information on a server about its cluster.
type evidence struct {
	mark mark
	// joined says that the server has the kubeconfig of a kubelet or of an administrator.
	joined bool
	// answered says that the API server answered. nodes are the names of its nodes by address.
	answered bool
	nodes    map[string]string
}

// recognizeScript prints the evidence on a server.
//
//go:embed recognize.sh
var recognizeScript string

// markNodes writes a mark on each joined node without one.
func (c *Cluster) markNodes(ctx context.Context) error {
	var unmarked []*Node
	for _, n := range c.All() {
		if n.Joined && !n.Marked && !n.Gone {
			unmarked = append(unmarked, n)
		}
	}
	if len(unmarked) == 0 {
		return nil
	}
	err := remote.Each(ctx, bound, unmarked, func(ctx context.Context, n *Node) error {
		text, err := json.Marshal(mark{Instance: c.Call.Instance.ID, Name: n.Name})
		if err != nil {
			return err
		}
		client, err := c.Client(ctx, n)
		if err != nil {
			return err
		}
		_, err = client.WriteFile(ctx, remote.File{Path: markFile, Content: append(text, '\n'), Mode: 0o644, Sudo: true, MkdirAll: true})
		if err != nil {
			return fmt.Errorf("marking node %s: %w", n.Name, err)
		}
		n.Marked = true
		return nil
	})
	return errors.Join(err, c.Save(ctx))
}

// recognize restores a lost record: it finds the nodes among the servers, from the API servers and from the marks. A server that is a
// node of an unidentified cluster is an error, so that nothing is installed on it. With patient unset, servers that do not answer are
// left out.
func (c *Cluster) recognize(ctx context.Context, patient bool) error {
	if !c.unrecorded {
		return nil
	}
	found, err := c.gather(ctx, patient)
	if err != nil {
		return err
	}
	cluster, answered := map[string]string{}, false
	for n, e := range found {
		if e.mark.Instance != "" && e.mark.Instance != c.Call.Instance.ID {
			return &vnfm.ConflictError{
				Object: fmt.Sprintf("server %s at %s", n.VNFC, n.Address), Owner: "the cluster of VNF instance " + e.mark.Instance,
				Detail: "it says so in " + markFile + "; nothing was installed there",
			}
		}
		if n.Role == Master && e.answered {
			answered = true
			for address, name := range e.nodes {
				cluster[address] = name
			}
		}
	}
	var names []string
	for n, e := range found {
		if err := c.recognizeNode(n, e, cluster, answered); err != nil {
			return err
		}
		if n.Joined {
			names = append(names, n.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	c.Progress(ctx, "nothing was recorded of the cluster, and these servers are its nodes: %s", strings.Join(names, ", "))
	c.unrecorded = false
	return nil
}

// recognizeNode finds the name of the node on a server. The API server overrides the mark.
func (c *Cluster) recognizeNode(n *Node, e *evidence, cluster map[string]string, answered bool) error {
	name := ""
	for _, address := range []string{n.IP, n.Address, n.Cluster} {
		if cluster[address] != "" {
			name = cluster[address]
			break
		}
	}
	marked := e.mark.Name != ""
	for _, known := range cluster {
		if name == "" && marked && known == e.mark.Name {
			name = known
		}
	}
	switch {
	case name != "":
		n.Name, n.Joined = name, true
	case marked && !answered:
		// The API server does not answer. The mark suffices to leave the server unchanged.
		n.Name, n.Joined, n.Marked = e.mark.Name, true, true
	case e.joined && answered:
		return fmt.Errorf("server %s at %s is a node of a cluster which the API servers on the masters do not know by its addresses; nothing was installed: "+
			"if the server is to become a node, reset it (kubeadm reset) and apply again", n.VNFC, n.Address)
	case e.joined && n.Role == Master:
		return fmt.Errorf("server %s at %s has %s, so there is a cluster on it, which does not answer, and the store has no record of it; nothing was installed: "+
			"bring its API server up and apply again, or, if there is to be another cluster, reset the server (kubeadm reset)", n.VNFC, n.Address, AdminConfig)
	}
	return nil
}

// gather reads the evidence on all servers.
func (c *Cluster) gather(ctx context.Context, patient bool) (map[*Node]*evidence, error) {
	var mu sync.Mutex
	out := map[*Node]*evidence{}
	err := remote.Each(ctx, bound, c.state.Nodes, func(ctx context.Context, n *Node) error {
		e, err := c.examine(ctx, n)
		if err != nil {
			if patient || ctx.Err() != nil {
				return err
			}
			c.Progress(ctx, "server %s does not answer: %s", n.VNFC, err)
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		out[n] = e
		return nil
	})
	return out, err
}

func (c *Cluster) examine(ctx context.Context, n *Node) (*evidence, error) {
	client, err := c.Client(ctx, n)
	if err != nil {
		return nil, err
	}
	answer, err := client.Answer(ctx, remote.Command{What: "finding out whether the server is a node", Script: recognizeScript, Args: []string{markFile, AdminConfig}, Sudo: true})
	if err != nil {
		return nil, err
	}
	return readEvidence(answer)
}

// readEvidence parses the output of recognizeScript.
func readEvidence(answer string) (*evidence, error) {
	e := &evidence{nodes: map[string]string{}}
	for line := range strings.Lines(answer) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch kind {
		case "mark":
			if err := json.Unmarshal([]byte(rest), &e.mark); err != nil {
				return nil, fmt.Errorf("reading the mark %s: %w", markFile, err)
			}
		case "joined":
			e.joined = true
		case "answered":
			e.answered = true
		case "node":
			name, addresses, _ := strings.Cut(rest, " ")
			for address := range strings.FieldsSeq(addresses) {
				e.nodes[address] = name
			}
			if addresses == "" {
				// A node without addresses can still match a mark by name.
				e.nodes["node "+name] = name
			}
		}
	}
	return e, nil
}
