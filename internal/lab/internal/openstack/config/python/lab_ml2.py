"""Neutron mechanism driver of the lab: there is no agent on any host, and every port is bound and active at once. The host of
servers is told where floating addresses lead."""

import os
import threading

from lab_servers import HOST
from lab_servers import ask
from neutron_lib import constants
from neutron_lib import context as contexts
from neutron_lib.api.definitions import portbindings
from neutron_lib.callbacks import events
from neutron_lib.callbacks import registry
from neutron_lib.callbacks import resources
from neutron_lib.plugins import constants as plugins
from neutron_lib.plugins import directory
from neutron_lib.plugins.ml2 import api
from oslo_log import log

LOG = log.getLogger(__name__)


class LabMechanismDriver(api.MechanismDriver):
    def initialize(self):
        self.floating = threading.Lock()
        # The ports that floating addresses lead to.
        self.ports = set()
        for event in (events.AFTER_CREATE, events.AFTER_UPDATE, events.AFTER_DELETE):
            registry.subscribe(self.float, resources.FLOATING_IP, event)
        # Of an address that a port takes with it Neutron says nothing.
        registry.subscribe(self.gone, resources.PORT, events.AFTER_DELETE)

    def gone(self, resource, event, trigger, payload=None):
        if payload.resource_id in self.ports:
            self.float(resource, event, trigger)

    def float(self, resource, event, trigger, payload=None):
        if not os.path.exists(HOST):
            # Nothing is behind the servers of the lab.
            return
        router, context = directory.get_plugin(plugins.L3), contexts.get_admin_context()
        with self.floating:
            floating = router.get_floatingips(context)
            self.ports = {ip["port_id"] for ip in floating if ip["port_id"]}
            try:
                ask("PUT", "/floating", {ip["floating_ip_address"]: ip["fixed_ip_address"] for ip in floating if ip["fixed_ip_address"]})
            except Exception:
                LOG.exception("floating addresses do not lead where they should")
                return
        for ip in floating:
            status = constants.FLOATINGIP_STATUS_ACTIVE if ip["fixed_ip_address"] else constants.FLOATINGIP_STATUS_DOWN
            if ip["status"] != status:
                router.update_floatingip_status(context, ip["id"], status)

    @property
    def connectivity(self):
        return portbindings.CONNECTIVITY_L2

    def bind_port(self, context):
        for segment in context.segments_to_bind:
            context.set_binding(
                segment[api.ID],
                portbindings.VIF_TYPE_OVS,
                {portbindings.CAP_PORT_FILTER: False},
                status=constants.PORT_STATUS_ACTIVE,
            )
            return
