# Usage: recognize.sh MARK KUBECONFIG. Prints the mark of a server, whether it is a node of a cluster, and which nodes the
# cluster has, if it is a master whose API server answers.
PATH=$PATH:/usr/local/bin
if [ -r "$1" ]; then printf 'mark %s\n' "$(cat "$1")"; fi
if [ -e "$2" ] || [ -e /etc/kubernetes/kubelet.conf ]; then echo joined; fi
[ -e "$2" ] || exit 0
export KUBECONFIG="$2"
if nodes=$(kubectl --request-timeout=20s get nodes --output 'jsonpath={range .items[*]}node {.metadata.name} {.status.addresses[?(@.type=="InternalIP")].address}{"\n"}{end}' 2>/dev/null); then
	echo answered
	printf '%s\n' "$nodes"
fi
exit 0
