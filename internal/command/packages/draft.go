package packages

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/csar"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// author is the provider that a package made of something that runs names: who packs it may write his own name there.
const author = "unknown"

// flavourID is the one deployment flavour of such a package.
const flavourID = "default"

// draft is a package that is made of something that runs.
type draft struct {
	// name is that of the product, version of what runs, origin where it comes from: it makes the id of the descriptor.
	name, version, origin, description string
	at                                 time.Time
	vdus                               []draftVDU
	// chart is the path of the Helm chart; empty for none.
	chart string
	files map[string][]byte
}

// draftVDU is a VDU with what runs of it.
type draftVDU struct {
	id, name, description, kind string
	count                       int
}

// The types of VDUs.
const (
	vduOfContainers = "tosca.nodes.nfv.Vdu.OsContainerDeployableUnit"
	vduOfServers    = "tosca.nodes.nfv.Vdu.Compute"
)

// The files that a package has besides those that it is made of.
const (
	metaFile = "TOSCA-Metadata/TOSCA.meta"
	logFile  = "ChangeLog.txt"
)

// id is that of the descriptor: the same for what is packed again.
func (d *draft) id() string {
	sum := sha256.Sum256([]byte(d.origin))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// quoted writes a text as a scalar of YAML.
func quoted(text string) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(text)
	return strings.TrimSpace(out.String())
}

// descriptor is the VNFD.
func (d *draft) descriptor() []byte {
	var out bytes.Buffer
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(&out, format+"\n", args...) }
	line("tosca_definitions_version: tosca_simple_yaml_1_3\ndescription: %s\n", quoted(d.description))
	line("metadata:\n  template_name: %s\n  template_version: %s\n  template_author: %s\n", quoted(d.name), quoted(d.version), author)
	line("topology_template:\n  substitution_mappings:\n    node_type: tosca.nodes.nfv.VNF\n    properties:\n      flavour_id: %s\n", flavourID)
	line("  node_templates:\n    VNF:\n      type: tosca.nodes.nfv.VNF\n      properties:")
	line("        descriptor_id: %s\n        descriptor_version: %s\n        provider: %s", d.id(), quoted(d.version), author)
	line("        product_name: %s\n        software_version: %s\n        vnfm_info: [terraform-provider-vnf]", quoted(d.name), quoted(d.version))
	line("        flavour_id: %s\n        flavour_description: %s", flavourID, quoted(d.description))
	for _, v := range d.vdus {
		line("\n    %s:\n      type: %s\n      properties:", quoted(v.id), v.kind)
		line("        name: %s\n        description: %s", quoted(v.name), quoted(v.description))
		line("        vdu_profile:\n          min_number_of_instances: %d\n          max_number_of_instances: %d", min(v.count, 1), max(v.count, 1))
	}
	if d.chart != "" {
		line("\n    chart:\n      type: tosca.nodes.nfv.Mciop\n      artifacts:\n        chart:\n          type: tosca.artifacts.nfv.HelmChart\n          file: %s",
			quoted("../"+d.chart))
		if len(d.vdus) > 0 {
			line("      requirements:")
		}
		for _, v := range d.vdus {
			line("        - associatedVdu: %s", quoted(v.id))
		}
	}
	for n, v := range d.vdus {
		if n == 0 {
			line("\n  policies:")
		}
		line("    - %s:\n        type: tosca.policies.nfv.VduInitialDelta\n        properties:", quoted(v.id+"_initial_delta"))
		line("          initial_delta: { number_of_instances: %d }\n        targets: [%s]", v.count, quoted(v.id))
	}
	return out.Bytes()
}

// complete adds descriptor, metadata and manifest. The digests of the manifest are written with the package.
func (d *draft) complete() {
	entry, manifest := "Definitions/"+d.name+".yaml", d.name+".mf"
	at := d.at.UTC().Format(time.RFC3339)
	d.files[entry] = d.descriptor()
	d.files[metaFile] = []byte("TOSCA-Meta-File-Version: 1.0\nCSAR-Version: 1.1\nCreated-By: terraform-provider-vnf\n" +
		"Entry-Definitions: " + entry + "\nETSI-Entry-Manifest: " + manifest + "\nETSI-Entry-Change-Log: " + logFile + "\n")
	d.files[logFile] = []byte(at + " " + d.description + "\n")
	d.files[manifest] = []byte("metadata:\n  vnf_product_name: " + quoted(d.name) + "\n  vnf_provider_id: " + author + "\n  vnf_package_version: " + quoted(d.version) +
		"\n  vnf_release_date_time: " + at + "\n  vnfd_id: " + d.id() + "\n  vnf_software_version: " + quoted(d.version) +
		"\n  vnfm_info: terraform-provider-vnf\n  compatible_specification_versions: 4.3.1\n")
}

// target is where a package goes: a file, or a directory that is not there yet.
type target struct {
	path string
	dir  bool
}

// targetOf refuses a directory that has something in it, and a folder that is not there.
func targetOf(name string) (target, error) {
	t := target{path: filepath.Clean(name), dir: !slices.Contains([]string{".csar", ".zip"}, strings.ToLower(filepath.Ext(name)))}
	if info, err := os.Stat(filepath.Dir(t.path)); err != nil || !info.IsDir() {
		return t, cli.Usagef("there is no directory %s for the package", filepath.Dir(t.path))
	}
	info, err := os.Stat(t.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return t, nil
	case err != nil:
		return t, cli.Usage(err)
	case !t.dir && info.IsDir():
		return t, cli.Usagef("%s is a directory; name a file, or a directory that is not there yet", t.path)
	case !t.dir:
		return t, nil
	case !info.IsDir():
		return t, cli.Usagef("%s is no package file: name it .csar or .zip, or name a directory that is not there yet", t.path)
	}
	if entries, err := os.ReadDir(t.path); err != nil || len(entries) > 0 {
		return t, cli.Usagef("the directory %s is not empty: name one that is not there yet", t.path)
	}
	return t, nil
}

// base begins the names of the files beside the package.
func (t target) base() string { return strings.TrimSuffix(t.path, filepath.Ext(t.path)) }

// beside is a file that belongs to a package and is none of its files, since it may hold secrets.
type beside struct {
	path string
	text []byte
}

// pack writes a draft as a package after a check that it can be read, and what it has beside it. It returns the digest.
func (d *draft) pack(
	ctx context.Context, cmd *cobra.Command, version string, t target, others []beside, check func(ctx context.Context, e *lcm.Engine, p *vnfm.Package) error,
) (digest string, err error) {
	d.complete()
	dir, err := os.MkdirTemp("", "vnf-package-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := writeTree(dir, d.files); err != nil {
		return "", err
	}
	if _, _, err := csar.Hash(dir); err != nil { //nolint:contextcheck // what it reads has just been written
		return "", err
	}
	err = withEngine(version, func(e *lcm.Engine) error {
		r := &reading{integrity: integrities[0], signature: signatures[2]}
		p, err := r.read(ctx, cmd, e, dir)
		if err != nil {
			return err
		}
		return check(ctx, e, p)
	})
	if err != nil {
		return "", err
	}
	for _, o := range others {
		if err := writePrivate(o.path, o.text); err != nil {
			return "", err
		}
	}
	a, err := csar.OpenDirectory(dir, csar.DefaultLimits())
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	digest = csar.ContentDigest(a)
	if t.dir {
		files := map[string][]byte{}
		for _, f := range a.Files() {
			if files[f.Path], err = a.ReadFile(f.Path); err != nil {
				return "", err
			}
		}
		return digest, writeTree(t.path, files)
	}
	var packed bytes.Buffer
	if err := csar.WriteZip(a, &packed); err != nil {
		return "", err
	}
	return digest, replace(t.path, packed.Bytes())
}

// writeTree writes files below a directory.
func writeTree(dir string, files map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		at := filepath.Join(dir, filepath.FromSlash(path.Clean(name)))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil { //nolint:gosec // a package is public
			return err
		}
		if err := os.WriteFile(at, files[name], 0o644); err != nil { //nolint:gosec // a package is public
			return err
		}
	}
	return nil
}

// writePrivate writes a file that only its owner can read, whatever was there before.
func writePrivate(name string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".vnf-*") // its mode is 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
