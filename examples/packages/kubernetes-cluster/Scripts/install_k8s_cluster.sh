#!/bin/sh
# Makes a Kubernetes cluster by kubeadm, for the management driver mgmt-drivers-kubernetes. The image of the nodes is Debian
# or Ubuntu with kubeadm 1.22 or later, kubelet, kubectl, a container runtime and iptables; the images that
# `kubeadm config images list` names are best in it too.
#
# Several masters need a load balancer (external_lb_param): without one, all nodes keep to the address of the first master.
#
# What an action that was interrupted has left of a node is taken away before it is made anew. Tokens and keys are on no
# command line: they go through files that only root can read.
set -eu
umask 077
PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin
export KUBECONFIG=/etc/kubernetes/admin.conf

# The pod network of the cluster: a manifest in the image, for VNF_POD_CIDR. Nodes are not Ready without one.
network=/etc/kubernetes-network.yaml
port=6443

fail() {
	echo "install_k8s_cluster.sh: $*" >&2
	exit 1
}

# bracketed writes an address as URLs have it.
bracketed() {
	case $1 in *:*) echo "[$1]" ;; *) echo "$1" ;; esac
}

# host is the one of an endpoint.
host() {
	echo "${1%:*}" | tr -d '[]'
}

# members are the nodes of the inventory but for one that leaves, one a line. The instance may have any name: quotes in it
# are escaped.
members() {
	printf '%s\n' "$inventory" | sed 's/"leaving":{[^}]*}//' | tr '{' '\n' | grep '^"name":"[^"]*","role":"'
}

# joined are the addresses of the API servers of masters that are in the cluster; with "false" those of others.
joined() {
	members | sed -n 's/.*"role":"master".*"api_address":"\([^"]*\)","joined":'"${1:-true}"'.*/\1/p' | sort -u
}

# endpoint is how nodes of the cluster reach its API server.
endpoint() {
	sed -n 's,^ *server: *https://,,p' "$KUBECONFIG"
}

# alone refuses a second master when the endpoint, $1, is a master itself.
alone() {
	case $VNF_MASTERS in *,*) ;; *) return 0 ;; esac
	for address in $VNF_API_ADDRESS $(joined) $(joined false); do
		[ "$address" != "$(host "$1")" ] ||
			fail "the nodes of the cluster reach its API server at $1, which is one of several masters: they would be cut off with it; set up a load balancer (external_lb_param)"
	done
}

# through has this node reach the endpoint $1 at the master $2 while the script runs: a load balancer is set up later.
through() {
	[ "$1" != "$(bracketed "$2"):$port" ] || return 0
	tables=iptables
	case $2 in *:*) tables=ip6tables ;; esac
	direct
	$tables -w -t nat -N VNF-API
	$tables -w -t nat -A VNF-API -p tcp -d "$(host "$1")" --dport "${1##*:}" -j DNAT --to-destination "$(bracketed "$2"):$port"
	$tables -w -t nat -I OUTPUT -j VNF-API
}

# direct ends what through began, also in a call that was killed.
direct() {
	for t in iptables ip6tables; do
		while $t -w -t nat -D OUTPUT -j VNF-API 2>/dev/null; do :; done
		$t -w -t nat -F VNF-API 2>/dev/null || true
		$t -w -t nat -X VNF-API 2>/dev/null || true
	done
}

# clean takes the cluster off this node. Its member of etcd is removed by a master that stays, in forget and token.
clean() {
	kubeadm reset --force --skip-phases=remove-etcd-member
}

# etcdctl asks the member of etcd on this master.
etcdctl() {
	kubectl --namespace kube-system exec "etcd-$VNF_NODE_NAME" -- etcdctl --endpoints=https://127.0.0.1:2379 \
		--cacert=/etc/kubernetes/pki/etcd/ca.crt --cert=/etc/kubernetes/pki/etcd/server.crt --key=/etc/kubernetes/pki/etcd/server.key "$@"
}

# trim removes the members of etcd that are on no master of the cluster: that of a master that leaves or is gone, and what a
# join that was interrupted has left.
trim() {
	listed=$(etcdctl member list)
	stay=$(joined)
	[ -n "$stay" ] || fail "the inventory names no master of the cluster"
	echo "$listed" | while IFS=', ' read -r id _ peers; do
		keep=
		for address in $stay; do
			case $peers in *"//$(bracketed "$address"):"*) keep=yes ;; esac
		done
		[ -n "$keep" ] || etcdctl member remove "$id" </dev/null
	done
}

# registration writes what kubelet is started with, which differs between versions of the configuration.
registration() {
	cat <<-X
		nodeRegistration:
		  name: $VNF_NODE_NAME
		  kubeletExtraArgs:
	X
	if [ "$api" = kubeadm.k8s.io/v1beta3 ]; then
		echo "    node-ip: \"$VNF_NODE_IP\""
	else
		echo "    - {name: node-ip, value: \"$VNF_NODE_IP\"}"
	fi
}

# cluster writes the configuration for init. The certificates are valid for all masters when there is no load balancer.
cluster() {
	cat <<-X
		apiVersion: $api
		kind: InitConfiguration
		localAPIEndpoint:
		  advertiseAddress: "$VNF_API_ADDRESS"
		  bindPort: $port
	X
	registration
	cat <<-X
		---
		apiVersion: $api
		kind: ClusterConfiguration
		kubernetesVersion: $version
		controlPlaneEndpoint: "$1"
		networking:
		  podSubnet: "$VNF_POD_CIDR"
		  serviceSubnet: "$VNF_SERVICE_CIDR"
		apiServer:
		  certSANs:
		    - "$(host "$1")"
	X
	echo "$VNF_MASTERS" | tr ',' '\n' | sed 's/^[^=]*=\(.*\)/    - "\1"/'
}

# ready waits until this node can have pods: kubelet registers it, and the pod network starts on it, after kubeadm has ended.
ready() {
	[ -e "$network" ] || return 0
	end=$(($(date +%s) + 300))
	until kubectl get node "$VNF_NODE_NAME" >/dev/null 2>&1 || [ "$(date +%s)" -ge "$end" ]; do sleep 1; done
	kubectl wait --for=condition=Ready "node/$VNF_NODE_NAME" --timeout=5m
}

begin() {
	alone "$VNF_ENDPOINT"
	clean
	through "$VNF_ENDPOINT" "$VNF_API_ADDRESS"
	cluster "$VNF_ENDPOINT" >"$work/init.yaml"
	kubeadm init --config "$work/init.yaml" --skip-token-print
	if [ -e "$network" ]; then
		kubectl apply -f "$network"
		ready
	else
		echo "the image has no pod network, $network: nodes are not Ready until there is one"
	fi
}

# token prints the endpoint of the cluster, the address of this master, a token, the digest of the cluster's certificate, and
# for masters the key of the certificates that they share.
token() {
	at=$(endpoint)
	through "$at" "$VNF_API_ADDRESS"
	key=
	if [ "$1" = master ]; then
		alone "$at"
		trim >&2
		cluster "$at" >"$work/init.yaml"
		key=$(kubeadm init phase upload-certs --upload-certs --config "$work/init.yaml" | grep -xE '[0-9a-f]{64}') ||
			fail "kubeadm init phase upload-certs shows no certificate key"
	fi
	# kubeadm joins no node by the name of one that is Ready.
	for node in $(members | sed -n 's/"name":"\([^"]*\)".*"joined":false.*/\1/p'); do
		kubectl delete node "$node" --ignore-not-found >&2
	done
	# shellcheck disable=SC2046 # the words of a command
	set -- $(kubeadm token create --ttl 2h --print-join-command)
	secret='' digest=''
	while [ $# -gt 1 ]; do
		case $1 in
		--token) secret=$2 ;;
		--discovery-token-ca-cert-hash) digest=$2 ;;
		esac
		shift
	done
	[ -n "$secret" ] && [ -n "$digest" ] || fail "kubeadm token create shows no token"
	echo "$at $VNF_API_ADDRESS $secret $digest $key"
}

join() {
	# shellcheck disable=SC2046 # the words that token has printed
	set -- $(printf '%s\n' "$inventory" | sed -n 's/.*"join":"\([^"]*\)".*/\1/p')
	[ $# -ge 4 ] || fail "there is no join data"
	clean
	through "$1" "$2"
	{
		cat <<-X
			apiVersion: $api
			kind: JoinConfiguration
			discovery:
			  bootstrapToken:
			    apiServerEndpoint: "$(bracketed "$2"):$port"
			    token: "$3"
			    caCertHashes: ["$4"]
		X
		registration
		if [ "$VNF_ROLE" = master ]; then
			cat <<-X
				controlPlane:
				  certificateKey: "$5"
				  localAPIEndpoint:
				    advertiseAddress: "$VNF_API_ADDRESS"
				    bindPort: $port
			X
		fi
	} >"$work/join.yaml"
	kubeadm join --config "$work/join.yaml"
	KUBECONFIG=/etc/kubernetes/kubelet.conf ready
}

forget() {
	through "$(endpoint)" "$VNF_API_ADDRESS"
	kubectl delete node "$1" --ignore-not-found
	[ "$VNF_LEAVING_ROLE" != master ] || trim
}

inventory=$(cat)
# A call whose connection was cut may still be at work.
exec 9>/run/install_k8s_cluster.lock
flock 9
work=$(mktemp -d)
trap 'direct; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

version=$(kubeadm version -o short)
api=kubeadm.k8s.io/v1beta4
[ "$(echo "$version" | cut -d. -f2)" -ge 31 ] || api=kubeadm.k8s.io/v1beta3

case $1 in
init) begin ;;
token) token "$2" ;;
join) join ;;
forget) forget "$2" ;;
reset) clean ;;
*) fail "unknown action $1" ;;
esac
