// Command pause keeps the namespaces of a pod: it waits until it is to end, and collects the ended processes of pods whose
// containers share their processes.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// kubeadm's check before an upgrade runs it so, and waits for its end.
	if len(os.Args) > 1 && os.Args[1] == "-v" {
		fmt.Println("pause of the lab")
		return
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)
	for received := range signals {
		if received != syscall.SIGCHLD {
			return
		}
		for {
			if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
	}
}
