package openstack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/servers"
)

// nodesFolder is where the programs of nodes are, beside the lab's own: `make bin/nodes` builds them.
const nodesFolder = "nodes"

// The names of files that `make bin/nodes` writes: digests of all programs; a list of images, of those that every cluster can have and,
// in the folder of each version, of those that its kubeadm wants.
const (
	nodeSums   = "sums"
	nodeImages = "images"
)

// nodeFormat goes into the name of what is made of the programs: with another number it is made again.
const nodeFormat = 2

// nodePrograms are those of Kubernetes that are one file, nodeProgram.
func nodePrograms() []string {
	return []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-proxy", "kube-scheduler", "kubeadm", "kubelet"}
}

const nodeProgram = "node"

// cloudManager is the cloud controller manager, where images of cloud-provider-openstack have it.
const cloudManager = "openstack-cloud-controller-manager"

// cloudFolder is that of the cloud controller manager among the programs, with lists like theirs.
const cloudFolder = "cloud"

// etcdctlProgram is beside the lab's program. A pod of etcd has it, as those of released images have.
const etcdctlProgram = "lab-etcdctl"

// nodeBuild is what is made, once for all labs, of the programs of nodes: a layer of a server's root for each version of
// Kubernetes, and a folder of containerd's with the images of all of them, for while a cluster is upgraded its nodes run both.
type nodeBuild struct {
	lab *Lab
	// programs is where they are, folder what is made of them.
	programs, folder string
	// versions are those of Kubernetes, such as "v1.36.3".
	versions []string
}

// newNodeBuild finds the programs.
func (l *Lab) newNodeBuild() (nodeBuild, error) {
	b := nodeBuild{lab: l, programs: filepath.Join(filepath.Dir(l.Executable), nodesFolder)}
	var sums []byte
	for _, folder := range []string{"", cloudFolder} {
		text, err := os.ReadFile(filepath.Join(b.programs, folder, nodeSums))
		if errors.Is(err, fs.ErrNotExist) {
			return b, fmt.Errorf("%w: the programs of nodes are not in %s: `make bin/nodes` builds them", ErrUnable, b.programs)
		}
		if err != nil {
			return b, fmt.Errorf("reading the digests of the programs of nodes: %w", err)
		}
		sums = append(sums, text...)
	}
	var err error
	if b.versions, err = b.findVersions(); err != nil {
		return b, err
	}
	packages, err := os.ReadFile(l.systemRoot(servers.SystemKubernetes).status())
	if err != nil {
		return b, fmt.Errorf("reading the list of packages: %w", err)
	}
	etcdctl, err := os.ReadFile(b.etcdctl())
	if err != nil {
		return b, fmt.Errorf("reading the program for pods of etcd: %w", err)
	}
	hash := sha256.New()
	fmt.Fprintln(hash, nodeFormat, string(sums), sha256.Sum256(etcdctl), version(string(packages), "iptables"), version(string(packages), "busybox"))
	b.folder = filepath.Join(l.cache(), "nodes-"+hex.EncodeToString(hash.Sum(nil))[:12])
	return b, nil
}

func (b nodeBuild) etcdctl() string {
	return filepath.Join(filepath.Dir(b.lab.Executable), etcdctlProgram)
}

// findVersions are the versions that have a folder among the programs.
func (b nodeBuild) findVersions() ([]string, error) {
	lists, err := filepath.Glob(filepath.Join(b.programs, "v*", nodeImages))
	if err != nil || len(lists) == 0 {
		return nil, fmt.Errorf("finding versions of Kubernetes in %s: there are %d (%w)", b.programs, len(lists), err)
	}
	var versions []string
	for _, list := range lists {
		versions = append(versions, filepath.Base(filepath.Dir(list)))
	}
	return versions, nil
}

// provideNodes sees to what servers of the system of nodes have beside Debian's packages, and links it into the lab.
func (l *Lab) provideNodes(ctx context.Context) error {
	b, err := l.newNodeBuild()
	if err != nil {
		return err
	}
	if _, err := os.Stat(b.folder); errors.Is(err, fs.ErrNotExist) {
		start := time.Now()
		if err := b.make(ctx); err != nil {
			return err
		}
		l.Log.InfoContext(ctx, "made the images of nodes", "took", time.Since(start).Round(time.Second))
	}
	if err := b.removeUnused(); err != nil {
		return err
	}
	err = link(filepath.Join(b.folder, "containerd"), filepath.Join(l.systemsFolder(), servers.TemplateLink(servers.SystemKubernetes)))
	for _, version := range b.versions {
		err = errors.Join(err, link(b.layer(b.folder, version), filepath.Join(l.systemsFolder(), servers.ProgramsLink(servers.SystemKubernetes, version))))
	}
	return err
}

// unusedFor is how long images of other programs are kept: a lab that runs has links to them.
const unusedFor = 24 * time.Hour

// removeUnused removes the images of programs that no lab has started with for a while: each change of the programs makes others, of more
// than a gigabyte.
func (b nodeBuild) removeUnused() error {
	now := time.Now()
	if err := os.Chtimes(b.folder, now, now); err != nil {
		return fmt.Errorf("noting the use of the images of nodes: %w", err)
	}
	folders, err := filepath.Glob(filepath.Join(filepath.Dir(b.folder), "nodes-*"))
	if err != nil {
		return err
	}
	for _, folder := range folders {
		if info, err := os.Stat(folder); err != nil || now.Sub(info.ModTime()) < unusedFor {
			continue // Another lab may have removed it.
		}
		if err := os.RemoveAll(folder); err != nil {
			return fmt.Errorf("removing images of nodes that nobody uses: %w", err)
		}
	}
	return nil
}

// layer is the one of the servers of a version.
func (b nodeBuild) layer(folder, version string) string {
	return filepath.Join(folder, "layer-"+version)
}

func (b nodeBuild) make(ctx context.Context) error {
	work := b.folder + ".new"
	if err := os.RemoveAll(work); err != nil {
		return fmt.Errorf("removing half-made images of nodes: %w", err)
	}
	for _, version := range b.versions {
		if err := b.writeLayer(b.layer(work, version), version); err != nil {
			return fmt.Errorf("making the layer of nodes: %w", err)
		}
	}
	images, err := b.images(filepath.Join(work, "images"))
	if err != nil {
		return fmt.Errorf("making the images of nodes: %w", err)
	}
	if err := b.load(ctx, work, images); err != nil {
		return fmt.Errorf("loading the images of nodes: %w", err)
	}
	if err := os.RemoveAll(filepath.Join(work, "images")); err != nil {
		return fmt.Errorf("removing the layers of images: %w", err)
	}
	return os.Rename(work, b.folder)
}

// writeLayer makes the layer of a server's root: the programs where they are looked for.
func (b nodeBuild) writeLayer(to, version string) error {
	files := map[string]string{"usr/local/lib/node/" + nodeProgram: filepath.Join(version, nodeProgram)}
	for _, name := range []string{"containerd", "containerd-shim-runc-v2", "ctr"} {
		files["usr/local/bin/"+name] = name
	}
	for _, name := range []string{"bridge", "host-local", "loopback", "portmap"} {
		files["opt/cni/bin/"+name] = filepath.Join("cni", name)
	}
	for path, from := range files {
		at := filepath.Join(to, path)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil { //nolint:gosec // As in any system.
			return err
		}
		if err := linkOrCopy(filepath.Join(b.programs, from), at); err != nil {
			return err
		}
	}
	links := map[string]string{
		"usr/local/lib/node/kubeadm": nodeProgram, "usr/local/bin/kubelet": "../lib/node/" + nodeProgram, "usr/local/bin/kubectl": "lab-kubectl",
	}
	for path, target := range links {
		if err := os.Symlink(target, filepath.Join(to, path)); err != nil {
			return err
		}
	}
	return nil
}

// linkOrCopy gives a program another name. In another file system it is copied.
func linkOrCopy(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o755) //nolint:gosec // A program.
}

// images are those of a cluster as kubeadm of each version names them, those of flannel, the cloud controller manager, and a sample
// with a web server. Their layers are written into a folder.
func (b nodeBuild) images(folder string) ([]nodeImage, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // Images are no secret.
		return nil, err
	}
	layers, err := b.layers(folder)
	if err != nil {
		return nil, err
	}
	var images []nodeImage
	for _, version := range append([]string{"", cloudFolder}, b.versions...) {
		text, err := os.ReadFile(filepath.Join(b.programs, version, nodeImages))
		if err != nil {
			return nil, fmt.Errorf("reading a list of images: %w", err)
		}
		for name := range strings.FieldsSeq(string(text)) {
			if slices.ContainsFunc(images, func(i nodeImage) bool { return slices.Contains(i.names, name) }) {
				continue
			}
			kind, _, _ := strings.Cut(filepath.Base(name), ":")
			image, known := nodeKinds(layers, layers[version])[kind]
			if !known {
				return nil, fmt.Errorf("a list of images has %s, which is made of nothing here", name)
			}
			image.names = []string{name}
			images = append(images, image)
		}
	}
	return images, nil
}

// nodeKinds are what the images of a name's last part are made of; node is the layer of a version's program.
func nodeKinds(layers map[string]nodeLayer, node nodeLayer) map[string]nodeImage {
	kinds := map[string]nodeImage{
		"kube-proxy":         {layers: []nodeLayer{layers["filters"], node}},
		"coredns":            {layers: []nodeLayer{layers["coredns"]}, entrypoint: []string{"/coredns"}},
		"pause":              {layers: []nodeLayer{layers["pause"]}, entrypoint: []string{"/pause"}},
		"flannel":            {layers: []nodeLayer{layers["filters"], layers["flannel"]}, entrypoint: []string{"/opt/bin/flanneld"}},
		"flannel-cni-plugin": {layers: []nodeLayer{layers["flannel"]}},
		cloudManager:         {layers: []nodeLayer{layers[cloudFolder]}, entrypoint: []string{"/bin/" + cloudManager}},
		"busybox":            {layers: []nodeLayer{layers["sample"]}, command: []string{"sh"}},
		"sample":             {layers: []nodeLayer{layers["sample"]}, command: []string{"httpd", "-f", "-p", "8080", "-h", "/etc"}},
	}
	kinds["etcd"] = nodeImage{layers: []nodeLayer{node, layers["etcdctl"]}}
	for _, name := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
		kinds[name] = nodeImage{layers: []nodeLayer{node}}
	}
	return kinds
}

// layers writes the layers of all images. That of a version's program has its name.
func (b nodeBuild) layers(folder string) (map[string]nodeLayer, error) {
	system := b.lab.systemRoot(servers.SystemKubernetes)
	filters, err := filterFiles(system, b.lab.imageRoot())
	if err != nil {
		return nil, err
	}
	shell, err := shellFiles(system, b.lab.imageRoot())
	if err != nil {
		return nil, err
	}
	from := func(to, name string) nodeFile { return nodeFile{path: to, from: filepath.Join(b.programs, name)} }
	all := map[string][]nodeFile{
		"filters": filters, "coredns": {from("coredns", "coredns")}, "pause": {from("pause", "pause")}, "sample": shell,
		cloudFolder: {from("bin/"+cloudManager, filepath.Join(cloudFolder, cloudManager))},
		"flannel":   append(slices.Clone(shell), from("opt/bin/flanneld", "flanneld"), from("opt/bin/install-conf", "install-conf"), from("flannel", "cni/flannel")),
		"etcdctl":   {{path: "usr/local/bin/etcdctl", from: b.etcdctl()}},
	}
	for _, version := range b.versions {
		all[version] = []nodeFile{from("usr/local/bin/"+nodeProgram, filepath.Join(version, nodeProgram))}
		for _, name := range nodePrograms() {
			all[version] = append(all[version], nodeFile{path: "usr/local/bin/" + name, target: nodeProgram})
		}
	}
	layers := map[string]nodeLayer{}
	for name, files := range all {
		if layers[name], err = writeLayer(filepath.Join(folder, name+".tar"), files); err != nil {
			return nil, err
		}
	}
	return layers, nil
}

// loaderConfig is that of a containerd that serves no kubelet.
const loaderConfig = `version = 3
root = %q
state = %q
disabled_plugins = ['io.containerd.grpc.v1.cri', 'io.containerd.cri.v1.images', 'io.containerd.cri.v1.runtime']
[grpc]
address = %q
`

// load fills a folder of containerd's with images: one that serves no kubelet does it.
func (b nodeBuild) load(ctx context.Context, work string, images []nodeImage) (err error) {
	// The path of a socket is short.
	run, err := os.MkdirTemp("", "lab-nodes-")
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(run)) }()
	socket, config := filepath.Join(run, "sock"), filepath.Join(run, "config.toml")
	text := fmt.Sprintf(loaderConfig, filepath.Join(work, "containerd"), filepath.Join(run, "state"), socket)
	if err := layout.WriteFile(config, []byte(text)); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(work, "images", "containerd.log")) //nolint:gosec // A file of the cache.
	if err != nil {
		return fmt.Errorf("making a log: %w", err)
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	daemon := exec.Command(filepath.Join(b.programs, "containerd"), "--config", config) //nolint:gosec,noctx // It is ended below, in order.
	daemon.Stdout, daemon.Stderr = log, log
	process.Isolate(daemon)
	if err := daemon.Start(); err != nil {
		return fmt.Errorf("starting containerd: %w", err)
	}
	ctr := func(ctx context.Context, args ...string) *exec.Cmd {
		return exec.CommandContext(ctx, filepath.Join(b.programs, "ctr"), append([]string{"--address", socket, "--namespace", "k8s.io"}, args...)...) //nolint:gosec // Built for this.
	}
	err = importImages(ctx, ctr, images)
	// It writes down what it holds, which a kill would not let it.
	_ = daemon.Process.Signal(os.Interrupt)
	_ = daemon.Wait()
	if err != nil {
		return fmt.Errorf("%w (see %s)", err, log.Name())
	}
	return nil
}

func importImages(ctx context.Context, ctr func(context.Context, ...string) *exec.Cmd, images []nodeImage) error {
	starting, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err := poll.Until(starting, "containerd", func(ctx context.Context) error {
		_, err := output(ctr(ctx, "images", "list", "--quiet"))
		return err
	})
	if err != nil {
		return err
	}
	load := ctr(ctx, "images", "import", "-")
	stdin, err := load.StdinPipe()
	if err != nil {
		return fmt.Errorf("making a pipe: %w", err)
	}
	var said bytes.Buffer
	load.Stdout, load.Stderr = &said, &said
	if err := load.Start(); err != nil {
		return fmt.Errorf("starting ctr: %w", err)
	}
	err = errors.Join(writeImages(stdin, images), stdin.Close())
	if ended := load.Wait(); ended != nil || err != nil {
		return errors.Join(fmt.Errorf("importing images: %w: %s", ended, said.String()), err)
	}
	return nil
}

// imagesOfNodes makes the images of servers that become nodes, one for each version, unless the lab has them.
func (l *Lab) imagesOfNodes(ctx context.Context, state *layout.OpenStack) error {
	if !slices.Contains(state.Systems, servers.SystemKubernetes) || !slices.Contains(state.Services, Image) {
		return nil
	}
	b, err := l.newNodeBuild()
	if err != nil {
		return err
	}
	for _, version := range b.versions {
		name := "node-" + version
		if state.Images[name] != "" {
			continue
		}
		admin, err := login(ctx, address(state.Ports, Identity), UserAdmin, state.Passwords[UserAdmin], "admin")
		if err != nil {
			return err
		}
		id, err := makeImage(ctx, admin, address(state.Ports, Image)+"/v2/images", image{name: name, kubernetes: version, system: servers.SystemKubernetes})
		if err != nil {
			return fmt.Errorf("making image %s: %w", name, err)
		}
		state.Images[name] = id
	}
	return l.Dir.SaveOpenStack(state)
}
