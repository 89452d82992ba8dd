package labtest_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/proctest"
)

// webServer is a server's user data: a web server that says which one it is.
const webServer = `#!/bin/sh
mkdir -p /var/www && cd /var/www && hostname >index.html && exec setsid python3 -m http.server 80 >/dev/null 2>&1 &
`

// balanced is a load balancer under test, in front of servers.
type balanced struct {
	labtest.LoadBalancer
	lab  labtest.OpenStackEnv
	pool string
}

// TestOpenStackLoadBalancer has two servers answer behind a load balancer, at its address and at floating ones, has the monitor find
// one whose program ended and find it again, ends HAProxy and the agent of Octavia, and deletes all of it at once.
func TestOpenStackLoadBalancer(t *testing.T) {
	lab := labtest.OpenStackLoadBalancers(t)
	user := lab.NewProject(t)
	const name = "balanced"
	network := lab.NewNetwork(t, user, name, "10.201.7.0/24")
	var list struct{ Subnets []struct{ ID string } }
	lab.Get(t, "network", "/v2.0/subnets?network_id="+network, &list)
	subnet := list.Subnets[0].ID
	lab.NewRouter(t, user, subnet)
	data := base64.StdEncoding.EncodeToString([]byte(webServer))
	on := []map[string]any{{"uuid": network}}
	one := newServer(t, lab, "one", map[string]any{"user_data": data, "networks": on})
	two := newServer(t, lab, "two", map[string]any{"user_data": data, "networks": on})
	first, second := one.active(t).address(t, name), two.active(t).address(t, name)

	b := newBalanced(t, lab, subnet, first, second)
	b.answers(t, b.Address, "one", "two")
	b.operating(t, "ONLINE", "ONLINE")
	_, floating := lab.NewFloating(t, user, b.Port)
	b.answers(t, floating, "one", "two")
	shell := labtest.Login(t, first)
	// From a server of the same network, which gets its answer by the way of its question.
	out := shell.Root(t, "python3 -c 'import urllib.request; print(urllib.request.urlopen(\"http://%s\", timeout=20).read().decode())'", floating)
	assert.Contains(t, []string{"one", "two"}, strings.TrimSpace(out), "a server gets %q from the floating address of its load balancer", out)

	shell.Root(t, "pkill -f http.server")
	b.operating(t, "DEGRADED", "ERROR")
	b.answers(t, b.Address, "two")
	shell.Root(t, "cd /var/www && setsid python3 -m http.server 80 >/dev/null 2>&1 &")
	b.operating(t, "ONLINE", "ONLINE")
	b.answers(t, b.Address, "one", "two")

	b.killHAProxy(t)
	b.answers(t, b.Address, "one", "two")
	lab.Restart(t, "octavia-driver-agent")
	lab.Delete(t, "load-balancer", "/v2.0/lbaas/pools/"+b.pool+"/members/"+b.member(t, first).ID)
	lab.LoadBalancer(t, b.ID)
	b.answers(t, b.Address, "two")
	b.goes(t)
}

// newBalanced makes a load balancer of port 80 of two servers, with a monitor that asks each second.
func newBalanced(t *testing.T, lab labtest.OpenStackEnv, subnet string, members ...string) *balanced {
	t.Helper()
	var list []map[string]any
	for _, address := range members {
		list = append(list, map[string]any{"address": address, "protocol_port": 80})
	}
	b := &balanced{lab: lab}
	b.LoadBalancer = lab.NewLoadBalancer(t, map[string]any{"name": "web", "vip_subnet_id": subnet, "listeners": []map[string]any{{
		"name": "web", "protocol": "TCP", "protocol_port": 80,
		"default_pool": map[string]any{
			"name": "web", "protocol": "TCP", "lb_algorithm": "ROUND_ROBIN", "members": list,
			"healthmonitor": map[string]any{"type": "HTTP", "delay": 1, "timeout": 1, "max_retries": 1, "max_retries_down": 1},
		},
	}}})
	var pools struct{ Pools []struct{ ID string } }
	lab.Get(t, "load-balancer", "/v2.0/lbaas/pools?loadbalancer_id="+b.ID, &pools)
	b.pool = pools.Pools[0].ID
	return b
}

// member is what Octavia says of a server of the pool.
type member struct {
	ID, Address string
	Operating   string `json:"operating_status"`
}

func (b *balanced) member(t *testing.T, address string) member {
	t.Helper()
	var list struct{ Members []member }
	b.lab.Get(t, "load-balancer", "/v2.0/lbaas/pools/"+b.pool+"/members", &list)
	for _, m := range list.Members {
		if m.Address == address {
			return m
		}
	}
	t.Fatalf("the pool has %v, and not %s", list.Members, address)
	return member{}
}

// operating waits until the load balancer has an operating status, and a member of its.
func (b *balanced) operating(t *testing.T, balancer, of string) {
	t.Helper()
	labtest.Eventually(t, serverPatience, "a member that is "+of, func() error {
		var list struct{ Members []member }
		b.lab.Get(t, "load-balancer", "/v2.0/lbaas/pools/"+b.pool+"/members", &list)
		var statuses []string
		for _, m := range list.Members {
			statuses = append(statuses, m.Operating)
		}
		if got := b.lab.LoadBalancer(t, b.ID).Operating; got != balancer || !strings.Contains(strings.Join(statuses, " "), of) {
			return fmt.Errorf("the load balancer is %s, its members are %v", got, statuses)
		}
		return nil
	})
}

// answers waits until these servers answer at an address, and no other.
func (b *balanced) answers(t *testing.T, address string, want ...string) {
	t.Helper()
	labtest.Eventually(t, serverPatience, "the answers of "+address, func() error {
		said := map[string]bool{}
		for range 4 {
			text, err := labtest.Fetch(t.Context(), "http://"+address+"/")
			if err != nil {
				return err
			}
			said[strings.TrimSpace(text)] = true
		}
		for _, name := range want {
			if !said[name] || len(said) != len(want) {
				return fmt.Errorf("%v answer, not %v", said, want)
			}
		}
		return nil
	})
}

// killHAProxy ends the HAProxy of the load balancer.
func (b *balanced) killHAProxy(t *testing.T) {
	t.Helper()
	pids := b.processes(t)
	require.NotEmpty(t, pids, "no HAProxy runs")
	for _, pid := range pids {
		require.NoError(t, proctest.Kill(pid))
	}
}

// processes are those whose command line names the load balancer.
func (b *balanced) processes(t *testing.T) []int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	var pids []int
	for _, file := range files {
		line, err := os.ReadFile(file) //nolint:gosec // A process of this machine.
		if err != nil || !strings.Contains(string(line), b.ID) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// goes deletes the load balancer and checks that nothing is left of it.
func (b *balanced) goes(t *testing.T) {
	t.Helper()
	b.lab.DeleteLoadBalancer(t, b.ID)
	var ports struct{ Ports []struct{ ID string } }
	b.lab.Get(t, "network", "/v2.0/ports?id="+b.Port, &ports)
	var pools struct{ Pools []struct{ ID string } }
	b.lab.Get(t, "load-balancer", "/v2.0/lbaas/pools?id="+b.pool, &pools)
	require.Empty(t, ports.Ports)
	assert.Empty(t, pools.Pools, "of a load balancer that was deleted are left ports")
	assert.Empty(t, b.processes(t), "processes")
	_, err := os.Stat(filepath.Join(b.lab.Dir, "data", "balancers", b.ID))
	require.ErrorIs(t, err, os.ErrNotExist, "the folder of a load balancer that was deleted")
}
