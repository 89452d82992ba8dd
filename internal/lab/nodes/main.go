// Command node is the programs of a Kubernetes node and of its control plane in one file: it becomes the one that it is called
// as. They are linked once, not six times, and the images of all of them share a layer.
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	_ "time/tzdata" // CronJobs may name a time zone, and an image has no database of them.

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json.
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // metrics of clients.
	_ "k8s.io/component-base/metrics/prometheus/version"  // build information in metrics.
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubeadm "k8s.io/kubernetes/cmd/kubeadm/app"
	kubeadmerrors "k8s.io/kubernetes/cmd/kubeadm/app/util/errors"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

// programs are those in this file by their name. Each finds its arguments in os.Args and returns its exit code.
func programs() map[string]func() int {
	return map[string]func() int{
		"etcd":                    func() int { etcdmain.Main(os.Args); return 0 },
		"kube-apiserver":          func() int { return cli.Run(apiserver.NewAPIServerCommand()) },
		"kube-controller-manager": func() int { return cli.Run(controllermanager.NewControllerManagerCommand()) },
		"kube-proxy":              func() int { return cli.Run(proxy.NewProxyCommand()) },
		"kube-scheduler":          func() int { return cli.Run(scheduler.NewSchedulerCommand()) },
		"kubeadm":                 func() int { kubeadmerrors.HandleError(kubeadm.Run()); return 0 },
		"kubelet":                 func() int { return cli.Run(kubelet.NewKubeletCommand(context.Background())) },
	}
}

func main() {
	run, known := programs()[filepath.Base(os.Args[0])]
	if !known {
		fmt.Fprintf(os.Stderr, "%s: call this file as one of %s\n", os.Args[0], strings.Join(slices.Sorted(maps.Keys(programs())), ", "))
		os.Exit(2)
	}
	os.Exit(run())
}
