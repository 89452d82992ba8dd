package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	_ "time/tzdata" // CronJobs may name a time zone and the machine may have no database of them.

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/etcdmain"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json of the Kubernetes programs.
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics of the Kubernetes programs.
	_ "k8s.io/component-base/metrics/prometheus/version"  // build information in their metrics.
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kwokconfig "sigs.k8s.io/kwok/pkg/config"
	kwokcmd "sigs.k8s.io/kwok/pkg/kwok/cmd"
	kwoklog "sigs.k8s.io/kwok/pkg/log"
	"sigs.k8s.io/kwok/pkg/utils/cel"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/command"
)

// linked is one of the upstream programs linked into this binary. It finds its arguments in os.Args,
// as it would if it had been started by itself, and returns the exit code.
type linked func(ctx context.Context, stderr io.Writer) int

// apiServerGarbage is how much garbage the API server collects, in percent of what it keeps: it spent a quarter of its time
// on collecting half a gigabyte of it again and again, while the tests waited for it.
const apiServerGarbage = 300

// programs are started by `lab run <name> <arguments>`, each as a process of its own: most of them keep flags,
// metrics and loggers in package variables and cannot share one process.
func programs() map[string]linked {
	return map[string]linked{
		"etcd": func(context.Context, io.Writer) int {
			etcdmain.Main(os.Args)
			return 0
		},
		"kube-apiserver": func(context.Context, io.Writer) int {
			if os.Getenv("GOGC") == "" {
				debug.SetGCPercent(apiServerGarbage)
			}
			return cli.Run(apiserver.NewAPIServerCommand())
		},
		"kube-controller-manager": func(context.Context, io.Writer) int {
			return cli.Run(controllermanager.NewControllerManagerCommand())
		},
		"kube-scheduler": func(context.Context, io.Writer) int {
			return cli.Run(scheduler.NewSchedulerCommand())
		},
		"kwok": runKwok,
	}
}

func programNames() string {
	return strings.Join(slices.Sorted(maps.Keys(programs())), ", ")
}

// runProgram turns this process into the named program.
func runProgram(ctx context.Context, name string, args []string, stderr io.Writer) int {
	run, known := programs()[name]
	if !known {
		fmt.Fprintf(stderr, "lab: unknown program %q: one of %s\n", name, programNames())
		return command.ExitUsage
	}
	os.Args = append([]string{name}, args...)
	return run(ctx, stderr)
}

func runKwok(ctx context.Context, stderr io.Writer) int {
	flags := pflag.NewFlagSet("global", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.Usage = func() {}

	if err := warmUpKwok(); err != nil {
		fmt.Fprintf(stderr, "kwok: preparing its expressions: %v\n", err)
		return 1
	}
	ctx, _ = kwoklog.InitFlags(ctx, flags)
	ctx, err := kwokconfig.InitFlags(ctx, flags)
	if err != nil {
		fmt.Fprintf(stderr, "kwok: reading the configuration: %v\n", err)
		return 1
	}
	kwok := kwokcmd.NewCommand(ctx)
	// component-base registers a global --version that is not a boolean; cobra expects a boolean one
	// whenever a command has a version, and refuses to start.
	kwok.Version = ""
	kwok.PersistentFlags().AddFlagSet(flags)
	if err := kwok.ExecuteContext(ctx); err != nil {
		fmt.Fprintf(stderr, "kwok: %v\n", err)
		return 1
	}
	return 0
}

// warmUpKwok has KWOK's expressions learn their types. They are kept in maps without a lock, and the workers that play
// the first nodes and pods at the same moment would all write to them.
func warmUpKwok() error {
	_, err := cel.NewEnvironment(cel.EnvironmentConfig{
		Types:       cel.DefaultTypes,
		Conversions: cel.DefaultConversions,
		Methods:     cel.FuncsToMethods(cel.DefaultFuncs),
		Funcs:       cel.DefaultFuncs,
		Vars:        map[string]any{"node": (*corev1.Node)(nil), "pod": (*corev1.Pod)(nil)},
	})
	return err
}
