# Usage: version.sh KUBECONFIG. Prints the versions of the API server and of the kubelets, a line for each; nothing when the
# API server does not answer.
PATH=$PATH:/usr/local/bin
export KUBECONFIG="$1"
version=$(kubectl --request-timeout=20s get --raw /version 2>/dev/null | sed -n 's/.*"gitVersion": *"\([^"]*\)".*/\1/p')
[ "$version" ] || exit 0
echo "server $version"
kubectl --request-timeout=20s get nodes --output 'jsonpath={range .items[*]}node {.metadata.name} {.status.nodeInfo.kubeletVersion}{"\n"}{end}'
