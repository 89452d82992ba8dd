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
	"syscall"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/servers"
)

const usage = `usage: lab <verb> --dir <directory> ...

  up      [--nodes 4] [--audit=true] [--capi] [--timeout 3m]
                                                      start a lab, or what is missing of it
  down                                                stop it and delete its directory
  status                                              say what runs; exit code 1 when something does not
  env     [--format json|shell]                       print endpoints, tokens and files
  fault   [cut | delay 300ms | drop-after 10 | clear] make the connections through the fault proxy fail
  kubectl <arguments>                                 run kubectl as lab-admin
  components --out <directory>                        write the manifests of a management cluster of Cluster API
  run     <program> <arguments>                       run one of the linked-in programs
  openstack <verb> ...                                the same for a lab of OpenStack: up, down, status, env

The directory may also be given by the environment variable LAB_DIR.
`

// The exit codes besides 0.
const (
	exitFailure = 1
	exitUsage   = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return exitUsage
	}
	verb, args := args[0], args[1:]
	if verb == "run" {
		if len(args) == 0 {
			fmt.Fprint(stderr, usage)
			return exitUsage
		}
		return runProgram(ctx, args[0], args[1:], stderr)
	}
	verbs := map[string]func(context.Context, []string, io.Writer, io.Writer) error{
		"up": up, "down": kubernetes.down, "status": kubernetes.status, "env": kubernetes.env, "fault": fault, "kubectl": kubectl, "components": components,
		"openstack": openStack, openstack.ProcessEnter: enter, cluster.ProcessServe: serve, cluster.ProcessWorkloads: workloads,
		servers.ProcessHost: serveServers, servers.ProcessProbe: probeServers, servers.ProcessBoot: bootServer,
		servers.ProcessSweep: sweepServers,
	}
	action, known := verbs[verb]
	if !known {
		fmt.Fprintf(stderr, "lab: unknown verb %q\n%s", verb, usage)
		return exitUsage
	}
	err := action(ctx, args, stdout, stderr)
	var exit exitCode
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return int(exit)
	case errors.Is(err, flag.ErrHelp):
		return exitUsage
	default:
		fmt.Fprintf(stderr, "lab %s: %v\n", verb, err)
		return exitFailure
	}
}

// exitCode is the exit code of a program that has already said what was wrong.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// kubernetes are the labs that the verbs without another word are about.
var kubernetes = kind{
	open: func(p *place) lab { return (*cluster.Lab)(p) },
	tell: func(p *place) (environment, error) { return (*cluster.Lab)(p).Environment() },
}

func open(dir string, find func(string) (layout.Dir, error), stderr io.Writer) (*cluster.Lab, error) {
	p, err := placeOf(dir, find, stderr)
	return (*cluster.Lab)(p), err
}

func up(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags, dir := newFlags("up", stderr)
	nodes := flags.Int("nodes", cluster.DefaultNodes, "number of nodes")
	audit := flags.Bool("audit", true, "write the audit log of the API server")
	capi := flags.Bool("capi", false, "run Cluster API too; a lab that has it keeps it")
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
	options := cluster.UpOptions{NoAudit: !*audit, ClusterAPI: *capi}
	flags.Visit(func(given *flag.Flag) {
		if given.Name == "nodes" {
			options.Nodes = nodes
		}
	})
	return started(lab.Dir, stdout, func() (reused bool, err error) { return lab.Up(ctx, options) })
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
	command := exec.CommandContext(ctx, filepath.Join(filepath.Dir(executable), kubectlProgram), arguments...) //nolint:gosec // Built beside this one.
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, stdout, stderr
	err = command.Run()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		return exitCode(ended.ExitCode())
	}
	return err
}

// kubectlProgram is the name of kubectl's own file, beside that of the lab.
const kubectlProgram = "lab-kubectl"

func components(_ context.Context, args []string, _, stderr io.Writer) error {
	flags := flag.NewFlagSet("lab components", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("out", "", "folder of the manifests")
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
	return (&cluster.Lab{Executable: executable}).WriteComponents(*out)
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
