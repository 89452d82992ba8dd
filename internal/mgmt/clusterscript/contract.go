package clusterscript

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// action is one call of the script.
type action struct {
	name string
	args []string
	on   *cluster.Node
	// leaving is the node that the operation removes.
	leaving *cluster.Node
	// join is the secret with which the node joins the cluster.
	join vnfm.Secret
}

// inventory is the standard input of the script, as JSON.
type inventory struct {
	InstanceID   string   `json:"instance_id"`
	InstanceName string   `json:"instance_name"`
	Operation    string   `json:"operation"`
	Action       string   `json:"action"`
	Node         member   `json:"node"`
	Masters      []member `json:"masters"`
	Workers      []member `json:"workers"`
	// Leaving is the node that the operation removes. It is in neither list.
	Leaving     *member `json:"leaving,omitempty"`
	PodCIDR     string  `json:"pod_cidr"`
	ServiceCIDR string  `json:"service_cidr"`
	Endpoint    string  `json:"endpoint"`
	Proxy       proxy   `json:"proxy"`
	Join        string  `json:"join,omitempty"`
}

type proxy struct {
	HTTP    string `json:"http_proxy,omitempty"`
	HTTPS   string `json:"https_proxy,omitempty"`
	NoProxy string `json:"no_proxy,omitempty"`
}

// member is a node in the inventory.
type member struct {
	Name   string `json:"name"`
	Role   string `json:"role"`
	VNFCID string `json:"vnfc_id"`
	IP     string `json:"ip"`
	// APIAddress is the address of the API server on a master.
	APIAddress string `json:"api_address,omitempty"`
	Joined     bool   `json:"joined"`
}

func memberOf(n *cluster.Node) member {
	return member{Name: n.Name, Role: string(n.Role), VNFCID: n.VNFC, IP: n.IP, APIAddress: n.Cluster, Joined: n.Joined}
}

// membersOf are the nodes of a role that stay, also as a comma-separated list of NAME=IP.
func membersOf(c *cluster.Cluster, role cluster.Role, leaving *cluster.Node) ([]member, string) {
	list, words := []member{}, []string{}
	for _, n := range c.Nodes(role) {
		if n != leaving && !n.Gone {
			list, words = append(list, memberOf(n)), append(words, n.Name+"="+n.IP)
		}
	}
	return list, strings.Join(words, ",")
}

// command is the call of the script without the program itself.
func (i *installer) command(ctx context.Context, c *cluster.Cluster, a action) (remote.Command, error) {
	endpoint, err := c.Endpoint(ctx)
	if err != nil {
		return remote.Command{}, err
	}
	masters, masterWords := membersOf(c, cluster.Master, a.leaving)
	workers, workerWords := membersOf(c, cluster.Worker, a.leaving)
	in := inventory{
		InstanceID: c.Call.Instance.ID, InstanceName: c.Call.Instance.Name, Operation: string(c.Call.Operation), Action: a.name,
		Node: memberOf(a.on), Masters: masters, Workers: workers, PodCIDR: c.PodCIDR.String(), ServiceCIDR: c.ServiceCIDR.String(), Endpoint: endpoint,
		Proxy: proxy{HTTP: c.Proxy.HTTP.Reveal(), HTTPS: c.Proxy.HTTPS.Reveal(), NoProxy: c.Proxy.NoProxy()}, Join: a.join.Reveal(),
	}
	env := map[string]string{
		"VNF_INSTANCE_ID": in.InstanceID, "VNF_INSTANCE_NAME": in.InstanceName, "VNF_OPERATION": in.Operation,
		"VNF_ROLE": in.Node.Role, "VNF_NODE_NAME": in.Node.Name, "VNF_NODE_IP": in.Node.IP,
		"VNF_POD_CIDR": in.PodCIDR, "VNF_SERVICE_CIDR": in.ServiceCIDR, "VNF_ENDPOINT": endpoint,
		"VNF_MASTERS": masterWords, "VNF_WORKERS": workerWords,
	}
	if in.Node.APIAddress != "" {
		env["VNF_API_ADDRESS"] = in.Node.APIAddress
	}
	if a.leaving != nil {
		leaving := memberOf(a.leaving)
		in.Leaving, env["VNF_LEAVING_ROLE"], env["VNF_LEAVING_IP"] = &leaving, leaving.Role, leaving.IP
	}
	maps.Copy(env, c.Proxy.Environment())
	stdin, err := json.Marshal(in)
	if err != nil {
		return remote.Command{}, fmt.Errorf("writing the inventory for node %s: %w", a.on.Name, err)
	}
	return remote.Command{
		What: fmt.Sprintf("script %s of the package with action %s", c.ScriptPath, a.name), Args: append([]string{a.name}, a.args...), Env: env,
		Stdin: bytes.NewReader(stdin), Sudo: true, Timeout: c.ScriptTimeout, Secrets: append(c.Secrets(), secretsIn(a.join)...),
		Output: func(line string) { c.Progress(ctx, "%s: %s", a.on.Name, line) },
	}, nil
}
