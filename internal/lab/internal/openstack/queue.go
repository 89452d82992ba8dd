package openstack

import (
	"fmt"
	"path/filepath"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
)

// The ports of RabbitMQ, at the end of the block: those of its clients, of other nodes and of their directory.
const (
	queueClients      = 13
	queueDistribution = 14
	queueDirectory    = 15
)

// queueServer is RabbitMQ. Its launcher takes what is not in its configuration from the environment.
func queueServer(ports layout.OpenStackPorts, _ string) []string {
	return []string{
		"env",
		"HOME=" + filepath.Join(inside, "run"),
		"RABBITMQ_NODENAME=lab@localhost",
		"RABBITMQ_CONFIG_FILE=" + filepath.Join(inside, "etc", "rabbitmq.conf"),
		"RABBITMQ_ENABLED_PLUGINS_FILE=" + filepath.Join(inside, "run", "rabbitmq-plugins"),
		"RABBITMQ_MNESIA_BASE=" + filepath.Join(inside, "run", "rabbitmq"),
		"RABBITMQ_PID_FILE=" + filepath.Join(inside, "run", "rabbitmq.pid"),
		"RABBITMQ_LOG_BASE=" + filepath.Join(inside, "log"),
		"RABBITMQ_LOGS=-",
		fmt.Sprintf("RABBITMQ_DIST_PORT=%d", ports.Service(queueDistribution)),
		fmt.Sprintf("ERL_EPMD_PORT=%d", ports.Service(queueDirectory)),
		"ERL_EPMD_ADDRESS=" + layout.Host,
		// One scheduler that sleeps when it has nothing to do, and no port but on the loopback interface.
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none -kernel inet_dist_use_interface {127,0,0,1}",
		"/usr/lib/rabbitmq/bin/rabbitmq-server",
	}
}

// queueURL is how services reach the queue.
func queueURL(state *layout.OpenStack) string {
	return fmt.Sprintf("rabbit://%s:%s@%s/", userService, state.Passwords[userService], layout.Address(port(state.Ports, queue)))
}
