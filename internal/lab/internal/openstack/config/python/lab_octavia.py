"""Octavia's provider driver of the lab: each load balancer is an HAProxy of the host of servers.

The driver, in Octavia's API, only tells the agent which load balancer changes. The agent, a child of octavia-driver-agent, reads
all of it from Octavia, has HAProxy configured, and reports."""

import multiprocessing.connection

from lab_haproxy import BALANCE
from octavia_lib.api.drivers import exceptions
from octavia_lib.api.drivers import provider_base

AGENT = "/lab/run/octavia-agent.sock"
KINDS = {"listeners": "listener_id", "pools": "pool_id", "members": "member_id", "healthmonitors": "healthmonitor_id"}


def tell(balancer=None, pool=None, gone=None, members=None):
    """Asks the agent to look at a load balancer, or at that of a pool. gone are the objects that are being deleted, members those that
    a pool is to keep."""
    try:
        with multiprocessing.connection.Client(AGENT) as agent:
            agent.send((balancer, pool, gone or {}, members))
    except OSError as e:
        text = "the agent of the lab does not answer: %s" % e
        raise exceptions.DriverError(user_fault_string=text, operator_fault_string=text)


def check(allowed, *values):
    for value in values:
        if value and value not in allowed:
            text = "the lab has no %s, but %s" % (value, ", ".join(allowed))
            raise exceptions.UnsupportedOptionError(user_fault_string=text, operator_fault_string=text)


def objects_of(tree):
    """All objects of a load balancer by kind and identifier. A pool may be there by its listener alone."""
    found = {kind: {} for kind in KINDS}
    listeners = tree.get("listeners") or []
    for listener in listeners:
        found["listeners"][listener["listener_id"]] = listener
    for pool in (tree.get("pools") or []) + [listener["default_pool"] for listener in listeners if listener.get("default_pool")]:
        found["pools"][pool["pool_id"]] = pool
        for member in pool.get("members") or []:
            found["members"][member["member_id"]] = member
        monitor = pool.get("healthmonitor")
        if monitor:
            found["healthmonitors"][monitor["healthmonitor_id"]] = monitor
    return found


def identifiers(tree):
    return {kind: list(objects) for kind, objects in objects_of(tree).items()}


class Driver(provider_base.ProviderDriver):
    """A new one is made for each request. What is not here Octavia answers with 501, except create_vip_port: Octavia then makes the
    port itself."""

    def loadbalancer_create(self, loadbalancer):
        for pool in loadbalancer.pools or []:
            self._check_pool(pool)
        for listener in loadbalancer.listeners or []:
            self._check_listener(listener)
        tell(loadbalancer.loadbalancer_id)

    def loadbalancer_delete(self, loadbalancer, cascade=False):
        gone = dict(identifiers(loadbalancer.to_dict(recurse=True)), loadbalancers=[loadbalancer.loadbalancer_id])
        tell(loadbalancer.loadbalancer_id, gone=gone)

    def loadbalancer_update(self, old_loadbalancer, new_loadbalancer):
        tell(new_loadbalancer.loadbalancer_id)

    def loadbalancer_failover(self, loadbalancer_id):
        tell(loadbalancer_id)

    def _check_listener(self, listener):
        check(["TCP", "HTTP", "HTTPS"], listener.protocol)
        if listener.l7policies:
            raise NotImplementedError

    def listener_create(self, listener):
        self._check_listener(listener)
        tell(listener.loadbalancer_id)

    def listener_delete(self, listener):
        tell(listener.loadbalancer_id, gone={"listeners": [listener.listener_id]})

    def listener_update(self, old_listener, new_listener):
        tell(old_listener.loadbalancer_id)

    def _check_pool(self, pool):
        check(["TCP", "HTTP", "HTTPS", "PROXY"], pool.protocol)
        check(list(BALANCE), pool.lb_algorithm)
        check(["SOURCE_IP", "HTTP_COOKIE"], (pool.session_persistence or {}).get("type"))
        if pool.healthmonitor:
            self._check_monitor(pool.healthmonitor)

    def pool_create(self, pool):
        self._check_pool(pool)
        tell(pool.loadbalancer_id)

    def pool_delete(self, pool):
        tell(pool.loadbalancer_id, gone=identifiers({"pools": [pool.to_dict(recurse=True)]}))

    def pool_update(self, old_pool, new_pool):
        self._check_pool(new_pool)
        tell(old_pool.loadbalancer_id)

    def member_create(self, member):
        tell(pool=member.pool_id)

    def member_delete(self, member):
        tell(pool=member.pool_id, gone={"members": [member.member_id]})

    def member_update(self, old_member, new_member):
        tell(pool=old_member.pool_id)

    def member_batch_update(self, pool_id, members):
        tell(pool=pool_id, members=[member.member_id for member in members])

    def _check_monitor(self, monitor):
        check(["TCP", "HTTP", "HTTPS", "TLS-HELLO"], monitor.type)

    def health_monitor_create(self, healthmonitor):
        self._check_monitor(healthmonitor)
        tell(pool=healthmonitor.pool_id)

    def health_monitor_delete(self, healthmonitor):
        tell(pool=healthmonitor.pool_id, gone={"healthmonitors": [healthmonitor.healthmonitor_id]})

    def health_monitor_update(self, old_healthmonitor, new_healthmonitor):
        tell(pool=old_healthmonitor.pool_id)

    def get_supported_flavor_metadata(self):
        return {}

    def validate_flavor(self, flavor_metadata):
        check([], *flavor_metadata)

    get_supported_availability_zone_metadata, validate_availability_zone = get_supported_flavor_metadata, validate_flavor
