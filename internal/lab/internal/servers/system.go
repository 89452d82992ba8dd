package servers

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// The systems that a server can have instead of the plain one. Each is a layer of further packages above the image that
// all servers share.
const (
	// SystemDocker is systemd with Docker, and with HAProxy, keepalived and the lab's own program for those who start them.
	SystemDocker = "docker"
	// SystemAnsible is the plain one with Ansible.
	SystemAnsible = "ansible"
	// SystemKubernetes is systemd with containerd, kubelet and kubeadm: a node of Kubernetes, or what becomes one. Its user data
	// are read by the real cloud-init.
	SystemKubernetes = "kubernetes"
)

// system is one of them.
type system struct {
	name string
	// packages are Debian's.
	packages []string
	// managed is one whose first process is systemd, with control groups of its own, instead of the lab's.
	managed bool
	// node is a managed one that kubelet runs in, see mountNode.
	node bool
	// folders are those of /var/lib that are kept outside of the root: layers of images are overlays themselves, which cannot
	// lie above another one.
	folders []string
	// links are those that scripts of the packages, or an administrator, would make, by their path.
	links map[string]string
	// units are started by systemd by the target that wants them; masked are not, for there is no machine below a server,
	// and what they would set is the whole machine's.
	units  map[string][]string
	masked []string
}

func systems() []system {
	return []system{
		{
			name: SystemDocker,
			packages: []string{
				"apt", "ca-certificates", "containerd", "curl", "dbus", "docker.io", "dpkg", "haproxy", "iptables", "keepalived", "nftables", "openssl",
				"runc", "systemd", "systemd-sysv",
			},
			managed: true,
			folders: []string{"docker", "containerd"},
			links:   managedLinks(),
			units: map[string][]string{
				"multi-user.target.wants": {"ssh.service", "containerd.service", "docker.service", "lab-first-boot.service"},
				"sockets.target.wants":    {"docker.socket"},
			},
			masked: managedMasks(),
		},
		{
			name:     SystemAnsible,
			packages: []string{"ansible-core", "ca-certificates", "curl", "python3-jmespath", "python3-netaddr", "sshpass"},
		},
		{
			name: SystemKubernetes,
			packages: []string{
				"apt", "busybox", "ca-certificates", "cloud-init", "conntrack", "curl", "dbus", "dpkg", "ebtables", "ethtool", "ipset", "iptables", "keepalived", "kmod",
				"nftables", "openssl", "runc", "socat", "systemd", "systemd-sysv",
			},
			managed: true,
			node:    true,
			folders: []string{"containerd", "kubelet", "etcd"},
			links:   managedLinks(),
			units: map[string][]string{
				"multi-user.target.wants": {"ssh.service", "containerd.service", "kubelet.service", "lab-first-boot.service"},
			},
			masked: append(managedMasks(), "cloud-config.service", "cloud-final.service", "cloud-init-local.service", "cloud-init.service"),
		},
	}
}

// managedLinks are those of a managed system: what alternatives of packages would choose, and what systemd is to start. Its own
// generators are masked: each is a process at a boot and at a reload, and none has a disk, a terminal or a script to find.
func managedLinks() map[string]string {
	links := map[string]string{
		"usr/sbin/iptables": "iptables-nft", "usr/sbin/iptables-save": "iptables-nft-save", "usr/sbin/iptables-restore": "iptables-nft-restore",
		"usr/sbin/ip6tables": "ip6tables-nft", "usr/sbin/ip6tables-save": "ip6tables-nft-save", "usr/sbin/ip6tables-restore": "ip6tables-nft-restore",
		"etc/systemd/system/default.target": "/lib/systemd/system/multi-user.target",
		"etc/systemd/system/sshd.service":   "/lib/systemd/system/ssh.service",
	}
	for _, name := range []string{
		"systemd-cryptsetup", "systemd-debug", "systemd-fstab", "systemd-getty", "systemd-gpt-auto", "systemd-hibernate-resume",
		"systemd-integritysetup", "systemd-rc-local", "systemd-run", "systemd-system-update", "systemd-sysv", "systemd-veritysetup",
	} {
		links["etc/systemd/system-generators/"+name+"-generator"] = "/dev/null"
	}
	return links
}

// managedMasks are the units that systemd must not start in any managed system.
func managedMasks() []string {
	return []string{
		"dev-hugepages.mount", "dev-mqueue.mount", "getty.target", "kmod-static-nodes.service", "modprobe@.service", "proc-sys-fs-binfmt_misc.automount",
		"proc-sys-fs-binfmt_misc.mount", "procps.service", "sys-fs-fuse-connections.mount", "sys-kernel-config.mount",
		"sys-kernel-debug.mount", "sys-kernel-tracing.mount", "systemd-binfmt.service", "systemd-firstboot.service",
		"systemd-journald-audit.socket", "systemd-logind.service", "systemd-machine-id-commit.service", "systemd-modules-load.service",
		"systemd-pstore.service", "systemd-random-seed.service", "systemd-remount-fs.service", "systemd-repart.service",
		"systemd-sysctl.service", "systemd-sysusers.service", "systemd-tmpfiles-setup-dev.service", "systemd-update-utmp.service",
		"systemd-update-utmp-runlevel.service",
	}
}

// Systems are the names of all systems.
func Systems() []string {
	var names []string
	for _, s := range systems() {
		names = append(names, s.name)
	}
	return names
}

// ProgramsLink is the name of the link, beside that of the layer of a system of nodes, to the layer of programs above it for a version
// of Kubernetes.
func ProgramsLink(system, version string) string { return system + "." + version }

// TemplateLink is the name of the link to the folder that /var/lib/containerd of the servers of a system of nodes begins as.
func TemplateLink(system string) string { return system + ".template" }

// findSystem is the system of a name.
func findSystem(name string) (system, error) {
	at := slices.IndexFunc(systems(), func(s system) bool { return s.name == name })
	if at < 0 {
		return system{}, fmt.Errorf("unknown system %q of servers: one of %s", name, strings.Join(Systems(), ", "))
	}
	return systems()[at], nil
}

// Managed tells whether systemd is the first process of servers of a system, with control groups of its own.
func Managed(name string) bool {
	s, err := findSystem(name)
	return err == nil && s.managed
}

// SystemPackages are Debian's, of which the layer of a system is made.
func SystemPackages(name string) ([]string, error) {
	s, err := findSystem(name)
	return s.packages, err
}

// WriteSystem makes the layer of a system of a folder in which its packages were unpacked. As with WriteImage, what is there
// is not written again. packages is the list of all that are in it and in the image, as Debian's own tools keep it.
func WriteSystem(root, name string, packages []byte) error {
	s, err := findSystem(name)
	if err != nil {
		return err
	}
	if err := writeFiles(root, s.name); err != nil {
		return err
	}
	// Its folders hide those of the image.
	if err := openTemporary(root); err != nil {
		return err
	}
	links := map[string]string{"var/run": "/run", "var/lock": "/run/lock"}
	maps.Copy(links, s.links)
	for wants, units := range s.units {
		for _, unit := range units {
			links[filepath.Join("etc/systemd/system", wants, unit)] = filepath.Join("/lib/systemd/system", unit)
		}
	}
	for _, unit := range s.masked {
		links[filepath.Join("etc/systemd/system", unit)] = "/dev/null"
	}
	if err := writeLinks(root, links); err != nil {
		return err
	}
	if err := writeOnce(filepath.Join(root, "var/lib/dpkg/status"), packages, 0o644); err != nil {
		return fmt.Errorf("writing the list of the packages of system %s: %w", name, err)
	}
	return nil
}
