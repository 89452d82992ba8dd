# Usage: detect_release.sh ROOT. Prints how a release of kubespray differs from those of today.
cd "$1" || exit
if ! grep -rqs kube_control_plane inventory/sample cluster.yml playbooks/cluster.yml roles/kubespray-defaults/defaults; then
	echo former-groups
fi
if ! grep -qs skip_confirmation remove-node.yml playbooks/remove_node.yml; then echo asks-by-prompt; fi
if [ ! -e facts.yml ]; then
	if [ -e playbooks/facts.yml ]; then echo facts-below; else echo no-facts; fi
fi
exit 0
