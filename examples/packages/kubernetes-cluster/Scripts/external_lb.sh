#!/bin/sh
# Sets up a load balancer in front of a Kubernetes cluster by HAProxy: a sample for script_path of external_lb_param, where the
# built-in configuration does not do. The image is Debian or Ubuntu.
#
# Usage: external_lb.sh -m MASTER,... -w WORKER,...
#
# The arguments are addresses. Nodes by name, ports and more are in the environment. It is called with all of them, as root on
# each load balancer, whenever nodes or ports may have changed, and again when a call has failed: it reaches the same end each time.
set -eu
PATH=$PATH:/usr/sbin
folder=/etc/haproxy

fail() {
	echo "external_lb.sh: $*" >&2
	exit 1
}

# pass writes that a port is passed on: NAME PORT TARGET NODES, where nodes are NAME=ADDRESS with commas between.
pass() {
	printf '\nfrontend %s\n    bind *:%s\n    default_backend %s\n\nbackend %s\n    balance leastconn\n' "$1" "$2" "$1" "$1"
	for node in $(echo "$4" | tr ',' ' '); do
		echo "    server ${node%%=*} ${node#*=}:$3 check"
	done
}

configuration() {
	cat <<-X
		global
		    user haproxy
		    group haproxy

		defaults
		    mode tcp
		    option redispatch
		    retries 3
		    timeout connect 5s
		    timeout client 10m
		    timeout server 10m
	X
	pass kubernetes-apiserver "$VNF_API_PORT" "$VNF_API_TARGET_PORT" "$VNF_MASTERS"
	for port in $(echo "$VNF_NODE_PORTS" | tr ',' ' '); do
		pass "nodeport-$port" "$port" "$port" "$VNF_MASTERS${VNF_WORKERS:+,}$VNF_WORKERS"
	done
}

[ -n "$VNF_MASTERS" ] || fail "there is no master"
[ -z "${VNF_VIRTUAL_ADDRESS:-}" ] || fail "this sample has no load balancers that share an address: leave out virtual_address, or script_path"
# A call whose connection was cut may still be at work.
exec 9>/run/external_lb.lock
flock 9
if ! command -v haproxy >/dev/null; then
	export DEBIAN_FRONTEND=noninteractive
	apt-get -q -o DPkg::Lock::Timeout=300 update
	apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends haproxy
fi
configuration >"$folder/haproxy.cfg.next"
haproxy -c -q -f "$folder/haproxy.cfg.next" || fail "HAProxy does not take the configuration"
if ! cmp -s "$folder/haproxy.cfg.next" "$folder/haproxy.cfg"; then
	mv -f "$folder/haproxy.cfg.next" "$folder/haproxy.cfg"
	if systemctl -q is-active haproxy; then systemctl reload haproxy; fi
fi
systemctl -q enable haproxy
systemctl start haproxy
