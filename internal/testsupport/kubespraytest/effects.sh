# Usage: effects.sh PLAYBOOK INVENTORY LIMIT VARIABLES. Does to hosts of a test what a playbook of kubespray does as far as it is about
# who is in which cluster: a cluster has a list of nodes and one of the members of etcd, which all of its hosts get a copy of. Where a node
# is says a fact, as in kubespray: what the cache has under its name goes before the inventory, whose ever the cache is.
set -eu
playbook=$(basename "$1")
inventory=$2 limit=$3 variables=$4
hosts=LAB/hosts
cache=${ANSIBLE_CACHE_PLUGIN_CONNECTION:-LAB/facts}

# fail STATUS TEXT ends the playbook.
fail() {
	echo "$2" >&2
	exit "$1"
}
# group NAME prints the hosts of a group.
group() {
	awk -v group="$1:" '/^        [^ ]/ { at = $1 } at == group && /^                [^ -]/ { sub(":", "", $1); print $1 }' "$inventory/hosts.yaml"
}
# variable HOST NAME prints a variable of a host.
variable() {
	awk -v host="$1:" -v name="$2:" '/^        [^ ]/ { at = $1 } at == host && /^            [^ ]/ && $1 == name { print $2; exit }' "$inventory/hosts.yaml"
}
# extra NAME prints an extra variable.
extra() { sed -n "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/p" "$variables"; }
# root ADDRESS prints the folder of the host at an address, and one that is not there when there is none.
root() { awk -v address="$1" '$1 == address { found = $2 } END { print found ? found : "LAB/nowhere" }' "$hosts"; }
# address NODE prints where a node is.
address() { cat "$cache/$1" 2>/dev/null || variable "$1" main_access_ip; }
# reach NODE ends the playbook when a node does not answer.
reach() {
	if [ -e "$(root "$(variable "$1" ip)")/run/dead" ]; then fail 4 "$1 is unreachable"; fi
}
# gather NODE... keeps facts of nodes.
gather() {
	for name; do
		reach "$name"
		variable "$name" ip >"$cache/$name"
	done
}
# enter finds the cluster, at the first master.
enter() {
	first=$(group kube_control_plane | head -n 1)
	cluster=$(cat "$(root "$(address "$first")")/run/cluster") || fail 2 "there is no cluster at $first"
}
# join NODE makes a node of a host.
join() {
	at=$(address "$1")
	echo "$cluster" >"$(root "$at")/run/cluster"
	grep -q "^$1 " "$cluster/nodes" || echo "$1 $at" >>"$cluster/nodes"
}
# tell copies the lists to the hosts of the cluster.
tell() {
	while read -r address folder; do
		if [ "$(cat "$folder/run/cluster" 2>/dev/null)" = "$cluster" ]; then cp "$cluster/nodes" "$cluster/members" "$folder/run/"; fi
	done <"$hosts"
}

nodes=$(group kube_control_plane && group kube_node)
version=$(sed -n 's/^kube_version: *"*v*\([0-9.]*\).*/\1/p' "$inventory/group_vars/k8s_cluster/zz-vnf.yml")
case $playbook in
facts.yml) gather $nodes ;;
cluster.yml)
	gather $nodes
	place=$(root "$(address "$(group kube_control_plane | head -n 1)")")
	if [ ! -e "$place/run/cluster" ]; then
		new=$(mktemp -d LAB/cluster.XXXXXX)
		touch "$new/nodes" "$new/members"
		echo "$new" >"$place/run/cluster"
	fi
	enter
	for name in $nodes; do join "$name"; done
	for name in $(group etcd); do
		at=$(address "$name")
		grep -q "//$at:" "$cluster/members" || echo "$name-$at, started, $(variable "$name" etcd_member_name), https://$at:2380, https://$at:2379, false" >>"$cluster/members"
	done
	for name in $(group kube_control_plane); do
		place=$(root "$(address "$name")")
		mkdir -p "$place/etc/kubernetes"
		echo '{"clusters": [{"cluster": {"server": "https://nobody:6443"}, "name": "k"}]}' >"$place/etc/kubernetes/admin.conf"
		[ -e "$place/run/version" ] || echo "${version:-1.30.4}" >"$place/run/version"
	done
	tell
	;;
scale.yml)
	for name in $nodes; do
		case ",$limit," in
		*",$name,"*) ;;
		*) [ -e "$cache/$name" ] || fail 2 "there are no facts of $name: run facts.yml without a limit first" ;;
		esac
	done
	enter
	for name in $(group kube_node); do
		case ",$limit," in
		*",$name,"*) gather "$name" && join "$name" ;;
		esac
	done
	tell
	;;
remove-node.yml)
	node=$(extra node)
	if [ "$(extra reset_nodes)" != false ]; then gather "$node"; fi
	at=$(address "$node")
	[ "$at" ] || fail 2 "$node has no main_access_ip"
	enter
	sed -i "/^$node /d" "$cluster/nodes"
	sed -i "\,//$at:,d" "$cluster/members"
	tell
	if [ "$(extra reset_nodes)" != false ]; then rm -f "$(root "$at")/run/cluster"; fi
	;;
upgrade-cluster.yml)
	gather $nodes
	for name in $(group kube_control_plane); do
		place=$(root "$(address "$name")")
		echo "$version" >"$place/run/version"
		for each in $nodes; do echo "node $each v$version"; done >"$place/run/kubelets"
	done
	;;
esac
