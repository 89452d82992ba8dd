"""Refuses a call that kubespray v2.23 would not take, or would silently do something else for, and records all calls."""

import json
import os
import re
import time

from ansible import context
from ansible.errors import AnsibleError
from ansible.plugins.action import ActionBase
from ansible.release import __version__
from ansible.utils.vars import load_extra_vars

RECORD = "/var/log/kubespray-calls.jsonl"
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

GROUPS = {"all", "ungrouped", "kube_control_plane", "etcd", "kube_node", "calico_rr", "k8s_cluster"}
PLAYBOOKS = {"cluster.yml", "scale.yml", "remove-node.yml", "remove_node.yml", "reset.yml", "facts.yml"}
HOST = {
    "ansible_host", "ansible_port", "ansible_user", "ansible_password", "ansible_ssh_pass", "ansible_ssh_private_key_file",
    "ansible_ssh_common_args", "ansible_ssh_extra_args", "ansible_become", "ansible_become_user", "ansible_become_method",
    "ansible_become_password", "ansible_become_pass", "ansible_connection", "ansible_python_interpreter", "ansible_ssh_timeout",
    "ansible_timeout", "ansible_ssh_retries", "ip", "ip6", "access_ip", "access_ip6", "etcd_member_name", "node_labels", "node_taints",
    "kube_override_hostname", "main_ip", "main_ips", "main_access_ip", "main_access_ips",
}
EXTRA = {"node", "skip_confirmation", "reset_confirmation", "reset_nodes", "node_labels", "node_taints", "ignore_assert_errors"}


def known():
    with open(os.path.join(HERE, "variables.txt")) as names:
        return HOST | EXTRA | set(names.read().split())


class ActionModule(ActionBase):
    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        inventory = task_vars["hostvars"]._inventory
        groups = {name: [host.name for host in group.get_hosts()] for name, group in inventory.groups.items()}
        playbook = os.path.basename(context.CLIARGS["args"][0])
        extra = load_extra_vars(self._loader)
        limit = context.CLIARGS["subset"]
        limited = {host.name for host in inventory.get_hosts()}
        call = {"time": time.time(), "playbook": playbook, "limit": limit or "", "extra": extra, "groups": groups}
        problems = list(check(playbook, limit, limited, extra, groups, inventory, task_vars["hostvars"]))
        if not done(context):
            call["problems"] = problems
            with open(RECORD, "a") as record:
                record.write(json.dumps(call, default=str) + "\n")
        if problems:
            raise AnsibleError("kubespray would not do that: " + "; ".join(problems))
        return result


def done(of, seen=[]):  # noqa: B006: a playbook that has others in it checks several times, and is recorded once
    return len(seen) > 0 or seen.append(of) is not None


def numbers(version):
    return [int(n) for n in re.findall(r"[0-9]+", version)[:3]]


def check(playbook, limit, limited, extra, groups, inventory, hostvars):
    names = known()
    with open(os.path.join(HERE, "playbooks", "ansible_version.yml")) as asserted:
        least, before = re.findall(r"imal_ansible_version: ([0-9.]+)", asserted.read())
    if not numbers(least) <= numbers(__version__) < numbers(before):
        yield "Ansible must be between %s and %s exclusive - you have %s" % (least, before, __version__)
    if playbook not in PLAYBOOKS:
        yield "there is no playbook %s" % playbook
    for group in sorted(set(groups) - GROUPS):
        yield "it has no group %s" % group
    for group in ("kube_control_plane", "etcd", "kube_node"):
        if not groups.get(group):
            yield "group %s has no hosts" % group
    cluster = set(groups.get("k8s_cluster", []))
    for host in sorted(set(groups.get("kube_control_plane", []) + groups.get("kube_node", [])) - cluster):
        yield "host %s is not in group k8s_cluster" % host
    for host in sorted(set(groups["all"]) - cluster - set(groups.get("etcd", []))):
        yield "host %s is in no group that it knows" % host
    if len(groups.get("etcd", [])) % 2 == 0 and not extra.get("ignore_assert_errors"):
        yield "it wants an odd number of etcd members, and there are %d" % len(groups.get("etcd", []))
    for name in groups["all"]:
        variables = inventory.get_host(name).vars
        for variable in sorted(set(variables) - names - {"inventory_file", "inventory_dir"}):
            yield "it has no variable %s, which host %s has" % (variable, name)
        if not variables.get("ansible_host"):
            yield "host %s has no ansible_host" % name
        if not all(c.isdigit() or (c.isascii() and c.islower()) or c in "-." for c in name):
            yield "%s is no name of a node" % name
    for name, group in sorted(inventory.groups.items()):
        for variable in sorted(set(group.vars) - names):
            yield "it has no variable %s, which group %s has" % (variable, name)
    for variable in sorted(set(extra) - names):
        yield "it has no variable %s, which was given with -e" % variable
    first = groups.get("kube_control_plane", [""])[:1]
    if playbook in ("remove-node.yml", "remove_node.yml"):
        wanted = [name for name in str(extra.get("node", "")).split(",") if name]
        if not wanted:
            yield "remove-node.yml without -e node= is about all nodes"
        for name in wanted:
            if name not in groups["all"]:
                yield "node %s is not in the inventory" % name
            if name in first or name in groups.get("etcd", [])[:1]:
                yield "%s, the first of the control plane or of etcd, cannot be removed" % name
        if limit:
            yield "remove-node.yml is limited by -e node=, and not by --limit"
    elif "node" in extra:
        yield "%s takes no -e node=" % playbook
    if playbook == "cluster.yml" and limit and not set(first) <= limited:
        yield "cluster.yml with a limit without %s joins nothing" % first[0]
    if playbook == "scale.yml" and limit:
        if "localhost" not in limit.split(","):
            yield "releases from v2.26 on want localhost in the limit too"
        for name in sorted(cluster - limited):
            if "ansible_default_ipv4" not in hostvars[name]:
                yield "'ansible_default_ipv4' is undefined for %s: run playbooks/facts.yml without the limit first" % name
