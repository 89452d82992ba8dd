// Package install installs a private container registry on a host over SSH: an engine from
// the packages of the distribution, the image of the registry from a file or pulled, and
// one container that the engine, or systemd, keeps running. The management driver
// mgmt-drivers-private-registry and the resource vnf_private_registry are both made of it.
//
// Everything can be done again. The host is read first, in one command; correct parts
// stay untouched, and an interrupted run is resumed.
//
// On the host there are, for a registry of the name private_registry:
//
//	/etc/private-registry/private_registry/   certificate, key, users, note; root's alone
//	/var/lib/private_registry/                the images, unless Config.StoragePath is another
//
// and with podman the unit registry-private_registry.service.
package install
