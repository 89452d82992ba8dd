// Command oldest is the control plane of the oldest Kubernetes that tests run against, for `lab up --control-plane`: its API server,
// controllers and scheduler in one file. The first argument names the program. The rest of the lab, etcd among it, is as ever.
package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	_ "time/tzdata" // CronJobs may name a time zone and the machine may have no database of them.

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/version" // build information in metrics.
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// programs are those in this file by their name. Each finds its arguments in os.Args and returns its exit code.
func programs() map[string]func() int {
	return map[string]func() int{
		"kube-apiserver":          func() int { return cli.Run(apiserver.NewAPIServerCommand()) },
		"kube-controller-manager": func() int { return cli.Run(controllermanager.NewControllerManagerCommand()) },
		"kube-scheduler":          func() int { return cli.Run(scheduler.NewSchedulerCommand()) },
	}
}

func main() {
	if len(os.Args) > 1 {
		if run, known := programs()[os.Args[1]]; known {
			os.Args = os.Args[1:]
			os.Exit(run())
		}
	}
	fmt.Fprintf(os.Stderr, "%s: the first argument names one of %s\n", os.Args[0], strings.Join(slices.Sorted(maps.Keys(programs())), ", "))
	os.Exit(2)
}
