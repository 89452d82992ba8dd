// Command etcdctl is upstream's. The image of etcd on nodes has it, as released ones have.
package main

import "go.etcd.io/etcd/etcdctl/v3/ctlv3"

func main() { ctlv3.MustStart() }
