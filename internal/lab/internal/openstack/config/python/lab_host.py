"""Adds a host to Nova on which nothing runs: it never reports and offers nothing, so that a zone of it alone has no place for a server."""

import sys

from nova import config
from nova import context
from nova import exception
from nova import objects
from nova.db.main import api as db
from nova.objects import service
from oslo_utils import uuidutils


def main(host):
    config.parse_args(["lab-host"])
    objects.register_all()
    admin = context.get_admin_context()
    try:
        objects.HostMapping.get_by_host(admin, host)
        return
    except exception.HostMappingNotFound:
        pass
    cell = next(c for c in objects.CellMappingList.get_all(admin) if not c.is_cell0())
    with context.target_cell(admin, cell) as there:
        db.service_create(there, {
            "uuid": uuidutils.generate_uuid(), "host": host, "binary": "nova-compute", "topic": "compute",
            "report_count": 0, "disabled": False, "version": service.SERVICE_VERSION,
        })
        db.compute_node_create(there, {
            "uuid": uuidutils.generate_uuid(), "host": host, "hypervisor_hostname": host, "hypervisor_type": "fake", "hypervisor_version": 1,
            "cpu_info": "", "vcpus": 0, "vcpus_used": 0, "memory_mb": 0, "memory_mb_used": 0, "local_gb": 0, "local_gb_used": 0, "mapped": 1,
        })
    objects.HostMapping(admin, host=host, cell_mapping=cell).create()


if __name__ == "__main__":
    main(sys.argv[1])
