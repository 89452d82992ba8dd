# Usage: network.sh INVENTORY. Prints the settings of an inventory that decide whether nodes are clients of etcd.
grep -rhsE --exclude=zz-vnf.yml '^(kube_network_plugin|calico_datastore|cilium_deploy_additionally):' "$1/group_vars"
exit 0
