# Usage: detect_release.sh ROOT. Prints how a release of kubespray differs from those of today, and what its playbooks
# need on the host of Ansible: a line for each, a word with its value.
cd "$1" 2>/dev/null || exit 0
if ! grep -rqs kube_control_plane inventory/sample cluster.yml playbooks/cluster.yml roles/kubespray-defaults/defaults; then
	echo former-groups
fi
if ! grep -qs skip_confirmation remove-node.yml playbooks/remove_node.yml; then echo asks-by-prompt; fi
if [ ! -e facts.yml ]; then
	if [ -e playbooks/facts.yml ]; then echo facts-below; else echo no-facts; fi
fi
if ! grep -rqsE '^kube_version: *"?v[0-9]' inventory/sample roles/kubespray-defaults/defaults; then echo bare-version; fi
member=roles/remove-node/remove-etcd-node/tasks/main.yml
if grep -qs 'grep {{ *node_ip' "$member"; then echo loose-member; fi
if grep -qs 'etcd_members.*[[]0[]]' "$member"; then echo needs-member; fi
if sed -n '/hosts: localhost/,/tasks:/p' playbooks/remove_node.yml 2>/dev/null | awk '/hosts: localhost/ { on = 1 } /become: (false|no)/ { on = 0 } END { exit !on }'; then
	echo local-become
fi

# The window of ansible-core that the release asserts itself, in its first play.
for each in playbooks/ansible_version.yml ansible_version.yml; do
	sed -n 's/^ *minimal_ansible_version: *\([0-9.]*\).*/at-least \1/p; s/^ *maximal_ansible_version: *\([0-9.]*\).*/before \1/p' "$each" 2>/dev/null
done
# uses PATTERN reports whether a role or a playbook has something.
uses() { grep -rqsE --include='*.y*ml' --include='*.j2' "$1" roles playbooks; }
for each in ansible.utils ansible.posix community.general community.crypto kubernetes.core; do
	if uses "(^|[^a-z.])$(echo "$each" | sed 's/\./[.]/')[.][a-z]"; then echo "collection $each"; fi
done
# Up to v2.23 filters have no collection before their names.
if uses '[|] *ip(addr|wrap)'; then echo "collection ansible.utils"; fi
if uses '[|] *(ansible[.]utils[.])?ip(addr|wrap)'; then echo "module netaddr"; fi
if uses '[|] *json_query'; then echo "module jmespath"; fi
exit 0
