// Command kubectl is upstream's. The programs of the lab are one binary, which takes a tenth of a second to start since all
// of Kubernetes is in it; tests call kubectl thousands of times.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	kubectlcmd "k8s.io/kubectl/pkg/cmd"
)

func main() { os.Exit(cli.Run(kubectlcmd.NewDefaultKubectlCommand())) }
