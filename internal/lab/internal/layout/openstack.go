package layout

import (
	"context"
	"os"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/process"
)

// OpenOpenStack makes the directory of an OpenStack lab when it is missing.
func OpenOpenStack(path string) (Dir, error) {
	return open(path, "etc", "data", "log", "run", "tmp")
}

// IsOpenStack tells whether the lab of the directory is one of OpenStack.
func (d Dir) IsOpenStack() bool {
	_, err := os.Stat(d.openStackFile())
	return err == nil
}

func (d Dir) openStackFile() string { return d.Path("openstack.json") }

// OpenStack is what an OpenStack lab remembers between two commands.
type OpenStack struct {
	// Ports are chosen at the first start and kept, so that clients survive a repair.
	Ports OpenStackPorts `json:"ports"`
	// Services are those of the first start, in the order of starting.
	Services []string `json:"services"`
	// Added are the optional services of which was made what there is of them from the beginning.
	Added []string `json:"added,omitempty"`
	// Template is the template its databases were copied from; empty until they were.
	Template string `json:"template,omitempty"`
	// Passwords are those of the users by name.
	Passwords map[string]string `json:"passwords"`
	// Images, Flavors and Networks are the identifiers of what there is from the beginning by name.
	Images   map[string]string `json:"images,omitempty"`
	Flavors  map[string]string `json:"flavors,omitempty"`
	Networks map[string]string `json:"networks,omitempty"`
	// Servers says what is behind the servers of a lab that has Nova, and ServersReason why it is nothing.
	Servers       string `json:"servers,omitempty"`
	ServersReason string `json:"servers_reason,omitempty"`
	// Systems are those that servers can have beside the plain one.
	Systems []string `json:"systems,omitempty"`
	// Sweeper is the process that removes what is left of servers when the one that runs them has ended.
	Sweeper process.Record `json:"sweeper"`
	// Octet is the second one of the addresses of its networks, zero until it was chosen.
	Octet int `json:"octet,omitempty"`
	// Ready is set when the last `lab openstack up` came to its end.
	Ready bool `json:"ready"`
	// Owner is the process that the lab ends with; none for a lab that stays.
	Owner process.Record `json:"owner,omitzero"`
	// Processes are the programs of the lab by name.
	Processes process.Set `json:"processes"`
}

// LoadOpenStack reads the state. A lab that was never started has none: the error is then fs.ErrNotExist.
func (d Dir) LoadOpenStack() (*OpenStack, error) {
	state := &OpenStack{}
	if err := load(d.openStackFile(), state); err != nil {
		return nil, err
	}
	if state.Processes == nil {
		state.Processes = process.Set{}
	}
	return state, nil
}

// SaveOpenStack writes the state.
func (d Dir) SaveOpenStack(state *OpenStack) error {
	if err := save(d.openStackFile(), state); err != nil {
		return err
	}
	return d.enroll(state.Owner, state.Processes)
}

// OpenStackPorts is the block of ports of an OpenStack lab, named by its first port. That one is the claim on the block:
// nothing answers there, but it is open as long as the lab's database runs.
type OpenStackPorts int

// Service is the port of a service by its place in the block, from 1.
func (p OpenStackPorts) Service(place int) int { return int(p) + place }

// Claim opens the port that keeps other labs off the block.
func (p OpenStackPorts) Claim(ctx context.Context) (Listeners, error) {
	return listenAll(ctx, []int{int(p)})
}

func (p OpenStackPorts) theirs() []int {
	var ports []int
	for place := 1; place < blockSize; place++ {
		ports = append(ports, p.Service(place))
	}
	return ports
}

// ChooseOpenStackPorts finds a block of free ports and claims it.
func ChooseOpenStackPorts(ctx context.Context) (OpenStackPorts, Listeners, error) {
	return chooseBlock(ctx, OpenStackPorts.Claim, OpenStackPorts.theirs)
}
