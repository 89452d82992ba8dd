"""Nova's drivers of the lab. Servers of flavours with extra specs of the lab come late, or not at all."""

import time

from lab_servers import Refused
from lab_servers import ask
from nova import exception
from nova.compute import power_state
from nova.virt import driver
from nova.virt import fake
from nova.virt import hardware


class Fault(exception.InvalidInput):
    """One of the errors that end a build at once, with their text as the fault of the server."""

    msg_fmt = "%(reason)s"


class Driver(fake.FakeDriver):
    """Nothing is behind its servers."""

    def spawn(self, context, instance, *args, **kwargs):
        specs = instance.flavor.extra_specs or {}
        time.sleep(int(specs.get("lab:delay", 0)))
        if "lab:fault" in specs:
            raise Fault(reason=specs["lab:fault"])
        self.begin(context, instance, *args, **kwargs)

    def begin(self, context, instance, *args, **kwargs):
        super().spawn(context, instance, *args, **kwargs)

    def default_root_device_name(self, instance, image_meta, root_bdm):
        # After it Nova names the others.
        return "/dev/vda"


class ContainerDriver(Driver):
    """Asks the lab's host of servers for each of them. What the fake driver keeps of them are their names alone."""

    def init_host(self, host):
        super().init_host(host)
        for server in ask("GET", "/servers"):
            self._remember(server["id"], server["name"], server["running"])

    def _remember(self, uuid, name, running):
        state = power_state.RUNNING if running else power_state.SHUTDOWN
        self.instances[uuid] = fake.FakeInstance(name, state, uuid)

    def begin(self, context, instance, image_meta, injected_files, admin_password, allocations,
              network_info=None, block_device_info=None, power_on=True, accel_info=None):
        try:
            if instance.uuid not in self.instances:
                ask("PUT", path(instance), {
                    "name": instance.name,
                    "hostname": instance.hostname or instance.name,
                    "key": instance.key_data or "",
                    # What Nova remembers of the properties of the image.
                    "system": instance.system_metadata.get("image_lab_system", ""),
                    "version": instance.system_metadata.get("image_kube_version", ""),
                    # Nova has it in base64 already, as JSON has bytes.
                    "user_data": instance.user_data or "",
                    "interfaces": [card(vif) for vif in network_info or []],
                    "root": root(instance, block_device_info),
                    "volumes": [disk(mapping["connection_info"], mapping["mount_device"])
                                for mapping in driver.block_device_info_get_mapping(block_device_info)],
                })
                self._remember(instance.uuid, instance.name, False)
            if power_on:
                ask("POST", path(instance, "start"))
                if admin_password:
                    self.set_admin_password(instance, admin_password)
        except Refused as e:
            # Nova does not destroy what has failed to start.
            self.destroy(context, instance, network_info)
            raise Fault(reason="the lab cannot start the server: %s" % e)

    def destroy(self, context, instance, network_info, *args, **kwargs):
        ask("DELETE", path(instance))
        self.instances.pop(instance.uuid, None)

    def get_info(self, instance, use_cache=True):
        for server in ask("GET", "/servers"):
            if server["id"] == instance.uuid:
                state = power_state.RUNNING if server["running"] else power_state.SHUTDOWN
                return hardware.InstanceInfo(state=state)
        raise exception.InstanceNotFound(instance_id=instance.uuid)

    def power_on(self, context, instance, network_info, block_device_info=None, accel_info=None):
        ask("POST", path(instance, "start"))

    def power_off(self, instance, timeout=0, retry_interval=0):
        ask("POST", path(instance, "stop"))

    def reboot(self, context, instance, network_info, reboot_type, *args, **kwargs):
        ask("POST", path(instance, "reboot"))

    def migrate_disk_and_power_off(self, context, instance, *args, **kwargs):
        self.power_off(instance)

    def finish_revert_migration(self, context, instance, network_info, migration, block_device_info=None, power_on=True):
        if power_on:
            self.power_on(context, instance, network_info)

    def resume_state_on_host_boot(self, context, instance, network_info, block_device_info=None):
        self.power_on(context, instance, network_info)

    def set_admin_password(self, instance, new_pass):
        ask("PUT", path(instance, "password"), {"user": "root", "password": new_pass})

    def attach_interface(self, context, instance, image_meta, vif):
        try:
            ask("PUT", path(instance, "interfaces", vif["id"]), card(vif))
        except Refused:
            raise exception.InterfaceAttachFailed(instance_uuid=instance.uuid)

    def detach_interface(self, context, instance, vif):
        try:
            ask("DELETE", path(instance, "interfaces", vif["id"]))
        except Refused:
            raise exception.InterfaceDetachFailed(instance_uuid=instance.uuid)

    def attach_volume(self, context, connection_info, instance, mountpoint,
                      disk_bus=None, device_type=None, encryption=None):
        volume = disk(connection_info, mountpoint)
        try:
            ask("PUT", path(instance, "volumes", volume["file"]), volume)
        except Refused as e:
            raise exception.VolumeAttachFailed(volume_id=connection_info["serial"], reason=str(e))

    def detach_volume(self, context, connection_info, instance, mountpoint, encryption=None):
        try:
            ask("DELETE", path(instance, "volumes", connection_info["data"]["file"]))
        except Refused as e:
            raise exception.DeviceDetachFailed(device=mountpoint, reason=str(e))

    def extend_volume(self, context, connection_info, instance, requested_size):
        ask("POST", path(instance, "volumes", connection_info["data"]["file"], "resize"))

    def get_console_output(self, context, instance):
        return ask("GET", path(instance, "console")).encode()


def path(instance, *more):
    return "/".join(("/servers", instance.uuid) + more)


def card(vif):
    """The interface of a port, as the host of servers wants it."""
    addresses, gateways = [], []
    for subnet in vif["network"]["subnets"]:
        length = "/" + subnet["cidr"].split("/")[1]
        addresses += [ip["address"] + length for ip in subnet["ips"]]
        gateway = (subnet.get("gateway") or {}).get("address")
        if gateway:
            gateways.append(gateway + length)
    return {
        "port": vif["id"],
        "network": vif["network"]["id"],
        "mac": vif["address"],
        "mtu": vif["network"].get_meta("mtu") or 0,
        "addresses": addresses,
        "gateways": gateways,
    }


def root(instance, block_device_info):
    """The file of the volume that a server without an image boots from. The images of the lab boot nothing: the system is a folder,
    and the volume keeps what its servers write into it."""
    if instance.image_ref:
        return ""
    for mapping in driver.block_device_info_get_mapping(block_device_info):
        if mapping["boot_index"] == 0:
            return mapping["connection_info"]["data"]["file"]
    raise Fault(reason="the server has neither an image nor a volume with the boot index 0")


def disk(connection_info, mountpoint):
    """The disk of a volume, as the host of servers wants it."""
    return {"file": connection_info["data"]["file"], "device": mountpoint.rpartition("/")[2]}
