"""Cinder's driver of the lab: a volume is a file, which the host of servers makes a disk of. What was never written takes
no room on the machine."""

import os
import shutil

from cinder import exception
from cinder.volume import driver

FOLDER = "/lab/data/volumes"


class FileDriver(driver.VolumeDriver):
    VERSION = "1.0"

    def check_for_setup_error(self):
        os.makedirs(FOLDER, exist_ok=True)

    def _update_volume_stats(self):
        self._stats = {
            "volume_backend_name": self.configuration.volume_backend_name,
            "vendor_name": "lab",
            "driver_version": self.VERSION,
            "storage_protocol": "file",
            "total_capacity_gb": "infinite",
            "free_capacity_gb": "infinite",
            "reserved_percentage": 0,
            "multiattach": True,
        }

    def create_volume(self, volume):
        with open(path(volume), "wb"):
            pass
        self.extend_volume(volume, volume.size)

    def extend_volume(self, volume, new_size):
        os.truncate(path(volume), size(new_size))

    def delete_volume(self, volume):
        remove(path(volume))

    def clone_image(self, context, volume, image_location, image_meta, image_service):
        # The image as it is. Were this left to Cinder, it would have the image converted by QEMU.
        with open(path(volume), "wb") as file:
            image_service.download(context, image_meta["id"], file)
        if os.path.getsize(path(volume)) > size(volume.size):
            raise exception.ImageTooBig(image_id=image_meta["id"], reason="the volume has %s GiB" % volume.size)
        self.extend_volume(volume, volume.size)
        return {}, True

    def create_snapshot(self, snapshot):
        self._copy(snapshot.volume, snapshot)

    def delete_snapshot(self, snapshot):
        remove(path(snapshot))

    def create_volume_from_snapshot(self, volume, snapshot):
        self._copy(snapshot, volume)
        self.extend_volume(volume, volume.size)

    def create_cloned_volume(self, volume, src_vref):
        self._copy(src_vref, volume)
        self.extend_volume(volume, volume.size)

    def _copy(self, source, target):
        self._execute("cp", "--sparse=always", path(source), path(target))
        if os.path.isdir(system(path(source))):
            self._execute("cp", "--archive", system(path(source)), system(path(target)))

    def create_export(self, context, volume, connector):
        pass

    def ensure_export(self, context, volume):
        pass

    def remove_export(self, context, volume):
        pass

    def initialize_connection(self, volume, connector):
        return {"driver_volume_type": "lab", "data": {"file": volume.name}}

    def terminate_connection(self, volume, connector, **kwargs):
        pass


def path(volume):
    """The file of a volume or of a snapshot."""
    return os.path.join(FOLDER, volume.name)


def system(file):
    """The folder of what servers wrote that booted from a volume: the host of servers makes it."""
    return file + ".system"


def size(gib):
    return gib << 30


def remove(file):
    try:
        os.remove(file)
    except FileNotFoundError:
        pass
    shutil.rmtree(system(file), ignore_errors=True)
