"""The agent of Octavia's provider driver of the lab, see lab_octavia. It looks at one load balancer at a time."""

import itertools
import multiprocessing.connection
import os
import queue
import threading
import time

from lab_haproxy import BALANCERS
from lab_haproxy import ask_haproxy
from lab_haproxy import members as members_of
from lab_haproxy import render
from lab_octavia import AGENT
from lab_octavia import KINDS
from lab_octavia import objects_of
from lab_servers import Refused
from lab_servers import ask
from octavia.common import utils
from octavia_lib.api.drivers import driver_lib
from oslo_log import log

# Octavia forks for each question, which takes seconds on a busy machine.
driver_lib.SOCKET_TIMEOUT = 60

LOG = log.getLogger(__name__)
SOCKETS = ["/lab/run/octavia-%s.sock" % kind for kind in ("status", "stats", "get")]
GENERATION = itertools.count(int(time.time()))

# How often HAProxy is asked for its members, in seconds.
PERIOD = 2


def path(balancer):
    return "/balancers/" + balancer


class Agent:
    def __init__(self):
        self.octavia = driver_lib.DriverLibrary(*SOCKETS)
        self.tasks = queue.Queue()
        # The objects of load balancers, and the operating statuses that were reported last.
        self.balancers = {}
        # The interfaces of load balancers, which stay as they are.
        self.cards = {}

    def listen(self):
        if os.path.exists(AGENT):
            os.remove(AGENT)
        with multiprocessing.connection.Listener(AGENT, backlog=64) as listener:
            while True:
                try:
                    with listener.accept() as connection:
                        self.tasks.put(connection.recv())
                except (OSError, EOFError):
                    # Somebody looked whether it is there.
                    pass

    def work(self, balancer, pool=None, gone=None, members=None):
        gone = dict(gone or {})
        if not balancer:
            balancer = self.octavia.get_pool(pool).loadbalancer_id
        # The API has the load balancer locked until what it asks for is in the database: this waits for it.
        self.octavia.update_loadbalancer_status({"loadbalancers": [{"id": balancer, "operating_status": "ONLINE"}]})
        tree = self.octavia.get_loadbalancer(balancer)
        if not tree:
            # The API has taken it back.
            self.remove(balancer)
            return
        tree = tree.to_dict(recurse=True)
        objects = objects_of(tree)
        if members is not None:
            gone["members"] = [id for id, member in objects["members"].items() if member["pool_id"] == pool and id not in members]
        state, found = "ACTIVE", {}
        try:
            if "loadbalancers" in gone:
                self.remove(balancer)
            else:
                found = self.apply(tree, objects, gone)
        except Exception:
            LOG.exception("load balancer %s", balancer)
            state, gone = "ERROR", {}
        # In one call: Octavia takes the load balancer last, which unlocks it.
        report = {kind: [{"id": id, "provisioning_status": "DELETED"} for id in gone.get(kind, [])] for kind in ["loadbalancers", *KINDS]}
        if "loadbalancers" not in gone:
            report["loadbalancers"] = [entry(balancer, found, provisioning_status=state)]
            for kind in KINDS:
                report[kind] += [entry(id, found, provisioning_status=state) for id in objects[kind] if id not in gone.get(kind, [])]
        self.octavia.update_loadbalancer_status(report)

    def remove(self, balancer):
        ask("DELETE", path(balancer))
        self.balancers.pop(balancer, None)
        self.cards.pop(balancer, None)

    def apply(self, tree, objects, gone):
        """Has a load balancer be as Octavia has it, without what goes, and returns the operating statuses."""
        for kind, ids in gone.items():
            for id in ids:
                objects[kind].pop(id, None)
        for pool in objects["pools"].values():
            pool["members"] = [member for member in pool.get("members") or [] if member["member_id"] in objects["members"]]
            if (pool.get("healthmonitor") or {}).get("healthmonitor_id") not in objects["healthmonitors"]:
                pool["healthmonitor"] = None
        balancer, generation = tree["loadbalancer_id"], "g%d" % next(GENERATION)
        ask("PUT", path(balancer), {"interface": self.card(tree), "config": render(tree, objects, generation)})
        # HAProxy does not say when it has read its configuration.
        for _ in range(200):
            try:
                if generation in ask_haproxy(balancer, "show info"):
                    found = statuses(balancer, objects)
                    self.balancers[balancer] = objects, found
                    return found
            except OSError:
                pass
            time.sleep(0.05)
        raise Refused("HAProxy does not answer")

    def card(self, tree):
        card = self.cards.get(tree["loadbalancer_id"])
        if not card:
            network = utils.get_network_driver()
            port, subnet = network.get_port(tree["vip_port_id"]), network.get_subnet(tree["vip_subnet_id"])
            length = "/" + subnet.cidr.split("/")[1]
            card = self.cards[tree["loadbalancer_id"]] = {
                "port": port.id,
                "network": port.network_id,
                "mac": port.mac_address,
                "addresses": [tree["vip_address"] + length],
                "gateways": [subnet.gateway_ip + length] if subnet.gateway_ip else [],
            }
        return card

    def watch(self, balancer):
        """Reports what HAProxy found out about members since the last time."""
        objects, known = self.balancers[balancer]
        found = statuses(balancer, objects)
        changed = {id for id in found if found[id] != known.get(id)}
        if not changed:
            return
        report = {kind: [entry(id, found) for id in objects[kind] if id in changed] for kind in ("pools", "members")}
        report["loadbalancers"] = [entry(balancer, found)] if balancer in changed else []
        self.octavia.update_loadbalancer_status({kind: entries for kind, entries in report.items() if entries})
        self.balancers[balancer] = objects, found

    def run(self, exit_event):
        # One that was killed may have left its work half done.
        for balancer in os.listdir(BALANCERS) if os.path.isdir(BALANCERS) else []:
            self.tasks.put((balancer,))
        threading.Thread(target=self.listen, daemon=True).start()
        while not exit_event.is_set():
            try:
                self.work(*self.tasks.get(timeout=PERIOD))
                continue
            except queue.Empty:
                pass
            except Exception:
                LOG.exception("a load balancer could not be looked at")
                continue
            for balancer in list(self.balancers):
                try:
                    self.watch(balancer)
                except OSError as e:
                    # The host starts it again.
                    LOG.warning("load balancer %s does not answer: %s", balancer, e)


def entry(id, found, **more):
    if id in found:
        more["operating_status"] = found[id]
    return dict(more, id=id)


def statuses(balancer, objects):
    """The operating statuses of a load balancer and of what it has, by identifier."""
    found = members_of(balancer, objects)
    found[balancer] = "ONLINE"
    for id, listener in objects["listeners"].items():
        found[id] = "ONLINE" if listener["admin_state_up"] else "OFFLINE"
    for id, monitor in objects["healthmonitors"].items():
        found[id] = "ONLINE" if monitor["admin_state_up"] else "OFFLINE"
    for id, pool in objects["pools"].items():
        failed = [found[member["member_id"]] == "ERROR" for member in pool["members"] or []]
        found[id] = "OFFLINE" if not pool["admin_state_up"] else worst(failed)
        if any(failed) and found[balancer] != "ERROR":
            found[balancer] = worst(failed)
    return found


def worst(failed):
    if not any(failed):
        return "ONLINE"
    return "ERROR" if all(failed) else "DEGRADED"


def agent(exit_event):
    Agent().run(exit_event)
