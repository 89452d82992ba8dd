// Package install installs a private container registry on a host over SSH: an engine from the packages of the distribution, the image
// of the registry from a file or pulled, and one container that the engine, or systemd, keeps running. The management driver
// mgmt-drivers-private-registry and the resource vnf_private_registry both use it.
//
// All functions can be repeated. They read the host first, in one command, leave correct parts unchanged, and resume an interrupted run.
//
// A registry with the name private_registry has these files on the host:
//
//	/etc/private-registry/private_registry/   certificate, key, users, note; root's alone
//	/var/lib/private_registry/                the images, unless Config.StoragePath is another
//
// and with podman the unit registry-private_registry.service.
package install
