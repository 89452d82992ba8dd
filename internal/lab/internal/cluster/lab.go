// Package cluster runs a lab: a Kubernetes control plane of real programs, KWOK for its nodes, and the lab's own services.
package cluster

import (
	"log/slog"
	"net"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
)

// DefaultNodes is the number of worker nodes of a lab.
const DefaultNodes = 4

// The users of a lab. Those that begin with system: are the lab's own and do not appear in the audit log.
const (
	userAdmin   = "lab-admin"
	userClient  = "lab-client"
	userBasic   = "lab-basic"
	userService = "system:lab"
	userKwok    = "system:kwok"

	groupAdmins = "system:masters"
)

// The names under which the users' kubeconfigs are kept.
const (
	kubeconfigAdmin             = "admin"
	kubeconfigService           = "service"
	kubeconfigKwok              = "kwok"
	kubeconfigControllerManager = "kube-controller-manager"
	kubeconfigScheduler         = "kube-scheduler"
)

// Lab runs the lab of one directory.
type Lab struct {
	Dir layout.Dir
	// Executable is this program: it is started again for every program of the lab.
	Executable string
	Log        *slog.Logger
}

// endpoint is the URL of the API server.
func endpoint(port int) string { return "https://" + layout.Address(port) }

// loopback is what the servers of a lab are reached by.
func loopback() []net.IP { return []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback} }
