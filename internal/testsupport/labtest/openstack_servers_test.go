package labtest_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// serverPatience bounds the wait for a server, and for what it does.
const serverPatience = 5 * time.Minute

// TestOpenStackServers has servers run on two networks and logs in, also at a floating address, has them reach each other, stops one
// and starts it again, and has others fail.
func TestOpenStackServers(t *testing.T) {
	lab := labtest.OpenStackServers(t)
	signer, public := newKey(t)
	key := "labtest-" + strings.ToLower(rand.Text()[:10])
	lab.Post(t, "compute", "/os-keypairs", map[string]any{"keypair": map[string]any{"name": key, "public_key": public}}, nil)
	t.Cleanup(func() { lab.Delete(t, "compute", "/os-keypairs/"+key) })

	script := base64.StdEncoding.EncodeToString([]byte("#!/bin/sh\nhostname >/var/tmp/said\n"))
	one := newServer(t, lab, "one", map[string]any{
		"key_name": key, "user_data": script, "adminPass": "not-for-long", "networks": on(lab, "net0"),
	})
	two := newServer(t, lab, "two", map[string]any{"key_name": key, "networks": on(lab, "net1", "net0")})
	fault := newServer(t, lab, "fault", map[string]any{"flavorRef": lab.Flavors["lab.fault"], "networks": on(lab, "net0")})
	huge := newServer(t, lab, "huge", map[string]any{"flavorRef": lab.Flavors["lab.huge"], "networks": on(lab, "net0")})

	first, second := one.active(t), two.active(t)
	byPassword := login(t, first.address(t, "net0"), "ubuntu", ssh.Password("ubuntu"))
	assert.Equal(t, "root\none\n", command(t, byPassword, "sudo id -un && hostname"), "the first server says")
	login(t, first.address(t, "net0"), "root", ssh.Password("not-for-long"))
	byKey := login(t, second.address(t, "net1"), "ubuntu", ssh.PublicKeys(signer))
	login(t, second.address(t, "net0"), "ubuntu", ssh.PublicKeys(signer))
	assert.Equal(t, "2\n1\n", command(t, byKey, "python3 -c 'import json, subprocess; print(2)' && ip -o link show eth1 | grep -c 1450"), "the second server says")
	// The second one has a card on the network of the first, and reaches it by the other as well.
	for _, card := range []string{"eth0", "eth1"} {
		command(t, byKey, fmt.Sprintf("ping -c 1 -W 10 -I %s %s", card, first.address(t, "net0")))
	}
	floating(t, lab, "net1", second.address(t, "net1"), signer)
	labtest.Eventually(t, serverPatience, "the user data", func() error {
		if got, err := run(byPassword, "cat /var/tmp/said"); err != nil || got != "one\n" {
			return fmt.Errorf("the user data have said %q: %w", got, err)
		}
		return nil
	})

	one.do(t, "os-stop")
	one.is(t, "SHUTOFF")
	one.do(t, "os-start")
	one.active(t)
	again := login(t, first.address(t, "net0"), "ubuntu", ssh.PublicKeys(signer))
	assert.Equal(t, "one\n", command(t, again, "cat /var/tmp/said"), "what the user data wrote")

	got := fault.is(t, "ERROR")
	assert.Contains(t, got.Fault.Message, "the flavour lab.fault has no server start", "the fault")
	got = huge.is(t, "ERROR")
	assert.Contains(t, got.Fault.Message, "No valid host was found", "the fault")

	lab.Delete(t, "compute", one.path)
	labtest.Eventually(t, serverPatience, "the end of a server", func() error {
		if _, err := dial(first.address(t, "net0"), "ubuntu", ssh.Password("ubuntu")); err == nil {
			return errors.New("a server that was deleted answers")
		}
		return nil
	})
}

// floating logs in to a server at a floating address, which is ACTIVE, and leads nowhere when it was deleted.
func floating(t *testing.T, lab labtest.OpenStackEnv, network, address string, signer ssh.Signer) {
	t.Helper()
	var subnets struct{ Subnets []struct{ ID string } }
	lab.Get(t, "network", "/v2.0/subnets?network_id="+lab.Networks[network], &subnets)
	var ports struct{ Ports []struct{ ID string } }
	lab.Get(t, "network", "/v2.0/ports?network_id="+lab.Networks[network]+"&fixed_ips=ip_address%3D"+address, &ports)
	user := lab.NewProject(t)
	lab.NewRouter(t, user, subnets.Subnets[0].ID)
	id, at := lab.NewFloating(t, user, ports.Ports[0].ID)
	login(t, at, "ubuntu", ssh.PublicKeys(signer))
	var got struct{ FloatingIP struct{ Status string } }
	lab.Get(t, "network", "/v2.0/floatingips/"+id, &got)
	assert.Equal(t, "ACTIVE", got.FloatingIP.Status, "a floating address that leads to a server")
	lab.Delete(t, "network", "/v2.0/floatingips/"+id)
	if conn, err := net.DialTimeout("tcp", net.JoinHostPort(at, "22"), 2*time.Second); err == nil { //nolint:noctx // It has a timeout.
		_ = conn.Close()
		t.Error("a floating address that was deleted leads somewhere")
	}
}

// server is one under test.
type server struct {
	lab  labtest.OpenStackEnv
	path string
}

// state is what Nova says of it.
type state struct {
	Status    string
	Fault     struct{ Message string }
	Addresses map[string][]struct{ Addr string }
}

func (s state) address(t *testing.T, network string) string {
	t.Helper()
	require.Len(t, s.Addresses[network], 1, "the server has addresses %v", s.Addresses)
	return s.Addresses[network][0].Addr
}

func on(lab labtest.OpenStackEnv, names ...string) []map[string]any {
	var networks []map[string]any
	for _, name := range names {
		networks = append(networks, map[string]any{"uuid": lab.Networks[name]})
	}
	return networks
}

// newServer has Nova make a server, which ends with the test.
func newServer(t *testing.T, lab labtest.OpenStackEnv, name string, more map[string]any) server {
	t.Helper()
	wanted := map[string]any{"name": name, "flavorRef": lab.Flavors["m1.small"], "imageRef": lab.Images["ubuntu-22.04"]}
	for key, value := range more {
		wanted[key] = value
	}
	var made struct{ Server struct{ ID string } }
	lab.Post(t, "compute", "/servers", map[string]any{"server": wanted}, &made)
	s := server{lab: lab, path: "/servers/" + made.Server.ID}
	t.Cleanup(func() { lab.Delete(t, "compute", s.path) })
	return s
}

func (s server) active(t *testing.T) state {
	t.Helper()
	return s.is(t, "ACTIVE")
}

// is waits until a server has a status.
func (s server) is(t *testing.T, status string) state {
	t.Helper()
	var got struct{ Server state }
	labtest.Eventually(t, serverPatience, s.path+" "+status, func() error {
		got.Server = state{}
		s.lab.Get(t, "compute", s.path, &got)
		if got.Server.Status == "ERROR" && status != "ERROR" {
			t.Fatalf("%s has failed: %s", s.path, got.Server.Fault.Message)
		}
		if got.Server.Status != status {
			return fmt.Errorf("it is %s", got.Server.Status)
		}
		return nil
	})
	return got.Server
}

// do has Nova do something with a server.
func (s server) do(t *testing.T, action string) {
	t.Helper()
	s.lab.Post(t, "compute", s.path+"/action", map[string]any{action: nil}, nil)
}

func newKey(t *testing.T) (signer ssh.Signer, public string) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	signer, err = ssh.NewSignerFromKey(private)
	require.NoError(t, err)
	return signer, string(ssh.MarshalAuthorizedKey(signer.PublicKey()))
}

// login waits until a server lets a user in.
func login(t *testing.T, address, user string, method ssh.AuthMethod) *ssh.Client {
	t.Helper()
	var client *ssh.Client
	labtest.Eventually(t, serverPatience, "a login at "+address, func() (err error) {
		client, err = dial(address, user, method)
		return err
	})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func dial(address, user string, method ssh.AuthMethod) (*ssh.Client, error) {
	return ssh.Dial("tcp", net.JoinHostPort(address, "22"), &ssh.ClientConfig{
		User: user, Auth: []ssh.AuthMethod{method}, Timeout: 10 * time.Second,
		HostKeyCallback: ssh.InsecureIgnoreHostKey(), //nolint:gosec // Each server of the lab makes its own.
	})
}

func run(client *ssh.Client, line string) (string, error) {
	session, err := client.NewSession()
	if err != nil {
		return "", err
	}
	defer session.Close() //nolint:errcheck // It has ended.
	out, err := session.CombinedOutput(line)
	return string(out), err
}

func command(t *testing.T, client *ssh.Client, line string) string {
	t.Helper()
	out, err := run(client, line)
	require.NoError(t, err, "%s: %v\n%s", line, err, out)
	return out
}
