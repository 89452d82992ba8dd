// Command lab runs a Kubernetes control plane for tests and demonstrations: real etcd, kube-apiserver,
// kube-controller-manager and kube-scheduler, nodes and pods played by KWOK, and proxies that fail or ask for a password
// on command. See README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/command"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/servers"
)

// program is the lab's command line.
func program() command.Program {
	return command.Program{
		Name: "lab",
		Verbs: []command.Verb{
			{Name: "up", Arguments: "[--nodes 4] [--audit=true] [--capi] [--control-plane PROGRAM] [--owner PID] [--timeout 3m]", Does: "start a lab, or its missing parts", Action: up},
			{Name: "down", Does: "stop it and delete its directory", Action: kubernetes.down},
			{Name: "sweep", Does: "stop the labs whose owners have ended, and remove their remains; takes no --dir", Action: sweepLabs},
			{Name: "status", Does: "print what runs; exit code 1 if something does not", Action: kubernetes.status},
			{Name: "env", Arguments: "[--format json|shell]", Does: "print endpoints, tokens and files", Action: kubernetes.env},
			{Name: "fault", Arguments: "[cut | delay 300ms | drop-after 10 | clear]", Does: "make the connections through the fault proxy fail", Action: fault},
			{Name: "kubectl", Arguments: "-- <arguments>", Does: "run kubectl as lab-admin", Action: kubectl, Passes: true},
			{Name: "components", Arguments: "--out <directory>", Does: "write the manifests of a management cluster of Cluster API; takes no --dir", Action: components},
			{Name: "run", Arguments: "<program> <arguments>", Does: "run one of the linked-in programs", Action: runLinked, Passes: true},
			{Name: "openstack", Arguments: "<verb> ...", Does: "the same for a lab of OpenStack: up, down, status, env, request, full-zone", Action: openStack, Passes: true},
			{Name: openstack.ProcessEnter, Action: enter, Passes: true},
			{Name: cluster.ProcessServe, Action: serve},
			{Name: cluster.ProcessWorkloads, Action: workloads},
			{Name: servers.ProcessHost, Action: serveServers},
			{Name: servers.ProcessProbe, Action: probeServers},
			{Name: servers.ProcessBoot, Action: bootServer, Passes: true},
			{Name: servers.ProcessSweep, Action: sweepServers},
		},
		Notes: "The directory may also be given by the environment variable LAB_DIR.",
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := program().Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// runLinked becomes one of the linked-in programs.
func runLinked(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return fmt.Errorf("name one of the programs: %s", programNames())
	}
	if strings.HasPrefix(args[0], "-") {
		_, err := fmt.Fprintf(stdout, "The programs are %s; each has a --help of its own.\n", programNames())
		return err
	}
	return command.ExitCode(runProgram(ctx, args[0], args[1:], stderr))
}

// kubernetes are the labs that the verbs without another word are about.
var kubernetes = kind{
	open: func(p *place) lab { return (*cluster.Lab)(p) },
	tell: func(p *place) (environment, error) { return (*cluster.Lab)(p).Environment() },
}

func open(dir string, find func(string) (layout.Dir, error), stderr io.Writer) (*cluster.Lab, error) {
	p, err := placeOf(dir, find, stderr)
	return (*cluster.Lab)(p), err
}

// envControlPlane names the program of --control-plane where that is not given: labs that tests start beside the first one have it too.
const envControlPlane = "LAB_CONTROL_PLANE"

func up(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags, dir := newFlags("up", stderr)
	nodes := flags.Int("nodes", cluster.DefaultNodes, "number of nodes")
	audit := flags.Bool("audit", true, "write the audit log of the API server")
	capi := flags.Bool("capi", false, "run Cluster API too; a lab that has it keeps it")
	controlPlane := flags.String("control-plane", os.Getenv(envControlPlane), "program with kube-apiserver, kube-controller-manager and kube-scheduler of another version, instead of those in this one; a lab that runs keeps its own")
	owner := ownerFlag(flags)
	timeout := flags.Duration("timeout", 3*time.Minute, "how long to wait until the lab can be used")
	if err := flags.Parse(args); err != nil {
		return err
	}
	lab, err := open(*dir, layout.Open, stderr)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, *timeout)
	defer cancel()
	options := cluster.UpOptions{NoAudit: !*audit, ClusterAPI: *capi, Owner: *owner}
	if *controlPlane != "" {
		if options.ControlPlane, err = filepath.Abs(*controlPlane); err != nil {
			return fmt.Errorf("finding the control plane %s: %w", *controlPlane, err)
		}
	}
	flags.Visit(func(given *flag.Flag) {
		if given.Name == "nodes" {
			options.Nodes = nodes
		}
	})
	if err := started(lab.Dir, stdout, func() (reused bool, err error) { return lab.Up(ctx, options) }); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "export KUBECONFIG=%s\n", lab.Kubeconfig())
	return err
}

func fault(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags, dir := newFlags("fault", stderr)
	if err := flags.Parse(args); err != nil {
		return err
	}
	lab, err := open(*dir, layout.Find, stderr)
	if err != nil {
		return err
	}
	answer, err := lab.Fault(ctx, flags.Args())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, answer)
	return err
}

func kubectl(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags, dir := newFlags("kubectl", stderr)
	if err := flags.Parse(args); err != nil {
		return err
	}
	lab, err := open(*dir, layout.Find, stderr)
	if err != nil {
		return err
	}
	environment, err := lab.Environment()
	if err != nil {
		return err
	}
	executable, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program's file: %w", err)
	}
	arguments := append([]string{"--kubeconfig=" + environment.Kubeconfig}, flags.Args()...)
	program := exec.CommandContext(ctx, filepath.Join(filepath.Dir(executable), kubectlProgram), arguments...) //nolint:gosec // Built beside this one.
	program.Stdin, program.Stdout, program.Stderr = os.Stdin, stdout, stderr
	err = program.Run()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		return command.ExitCode(ended.ExitCode())
	}
	return err
}

// kubectlProgram is the name of kubectl's own file, beside that of the lab.
const kubectlProgram = "lab-kubectl"

func components(_ context.Context, args []string, _, stderr io.Writer) error {
	flags := flag.NewFlagSet("lab components", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("out", "", "folder of the manifests")
	infrastructure := flags.String("infrastructure", "in-memory", "the provider of machines: in-memory, or openstack, with OpenStack Resource Controller")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *out == "" {
		return errors.New("no folder given: use --out")
	}
	executable, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program's file: %w", err)
	}
	return (&cluster.Lab{Executable: executable}).WriteComponents(*out, *infrastructure)
}

func serve(ctx context.Context, args []string, _, stderr io.Writer) error {
	flags, dir := newFlags(cluster.ProcessServe, stderr)
	if err := flags.Parse(args); err != nil {
		return err
	}
	lab, err := open(*dir, layout.Find, stderr)
	if err != nil {
		return err
	}
	return lab.Serve(ctx)
}

func workloads(ctx context.Context, args []string, _, stderr io.Writer) error {
	flags, dir := newFlags(cluster.ProcessWorkloads, stderr)
	if err := flags.Parse(args); err != nil {
		return err
	}
	lab, err := open(*dir, layout.Find, stderr)
	if err != nil {
		return err
	}
	return lab.Workloads(ctx)
}
