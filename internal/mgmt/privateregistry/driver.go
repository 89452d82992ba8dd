package privateregistry

import (
	"context"
	"fmt"
	"io/fs"
	"path"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/hosts"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/params"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/registry/install"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Param is the additional parameter that describes the registry.
const Param = "private_registry_installation_param"

// Driver is the management driver. It is safe for concurrent use.
type Driver struct{}

var _ vnfm.ManagementDriver = Driver{}

// New returns the management driver.
func New() Driver { return Driver{} }

// Params implements vnfm.ManagementDriver.
func (Driver) Params() []string { return []string{Param} }

// Check implements vnfm.ManagementDriver.
func (Driver) Check(c *vnfm.HookCheck) vnfm.Problems {
	var problems vnfm.Problems
	access, _ := read(c.Params, c.Later, c.Package, c.Flavour, &problems)
	if n := c.Counts[access.VDU]; access.VDU != "" && n != 1 && c.Request.OperationalState != vnfm.Stopped {
		problems = append(problems, vnfm.Problem{
			Attribute: "scale_levels", Summary: fmt.Sprintf("a private registry cannot be scaled: VDU %s would have %d servers", access.VDU, n),
			Detail: "each would have images of its own; make an instance for each registry instead",
		})
	}
	return problems
}

// read reads the parameters.
func read(values map[string]any, later bool, p *vnfm.Package, f *vnfm.Flavour, problems *vnfm.Problems) (hosts.Access, install.Config) {
	root := params.Root(values, later, problems)
	o := root.Needed(Param, "it says where the registry is installed: ssh_cp_name, ssh_username, ssh_password and more")
	if o == nil {
		return hosts.Access{}, install.Config{}
	}
	access := hosts.ReadAccess(o, f)
	file := func(name string) string {
		text := o.Text(name)
		if text == "" {
			return ""
		}
		data, err := fs.ReadFile(p.Content, path.Clean(text))
		if err != nil {
			//findings:says add the file to the package, or write its path from the root of the package
			o.Errorf(name, "", "names a file that is not in the package: %q", text)
		}
		return string(data)
	}
	spec := vnfm.RegistrySpec{
		Name: o.Text("container_name"), Runtime: o.Text("runtime"), Image: o.Text("image"), ImagePath: o.Text("image_path"),
		Port: o.Int("port_no", install.DefaultPort, 1, 65535), StoragePath: o.Text("storage_path"),
		Certificate: file("certificate_path"), Key: o.Secret("key"),
	}
	if users := o.Object("users"); users != nil {
		spec.Users = map[string]vnfm.Secret{}
		for _, name := range users.Names() {
			spec.Users[name] = users.Secret(name)
		}
	}
	if proxy := o.Object("proxy"); proxy != nil {
		spec.HTTPProxy, spec.HTTPSProxy, spec.NoProxy = proxy.Secret("http_proxy"), proxy.Secret("https_proxy"), proxy.Text("no_proxy")
		proxy.Done()
	}
	o.Done()
	cfg, err := configOf(&spec, p.Content)
	if err != nil {
		o.Errorf("image_path", "it is a file of the package that `docker save` wrote", "cannot be used: %s", err)
		return access, cfg
	}
	if later && spec.Certificate != "" && spec.Key == "" {
		return access, cfg
	}
	o.Join(cfg.Check())
	return access, cfg
}

// Run implements vnfm.ManagementDriver. It installs the registry at the end of an operation, on the server that the instance then has.
// A termination needs no removal, because it deletes the server.
func (Driver) Run(ctx context.Context, call *vnfm.HookCall) error {
	if !call.End || call.Operation == vnfm.OpTerminate {
		return nil
	}
	var problems vnfm.Problems
	access, cfg := read(call.Params, false, call.Package, call.Flavour, &problems)
	if err := problems.Err(); err != nil {
		return err
	}
	has, err := call.Resources(ctx)
	if err != nil {
		return err
	}
	servers, err := access.Find(has)
	if err != nil {
		return err
	}
	return remote.Each(ctx, 1, servers, func(ctx context.Context, s hosts.Server) error {
		c, err := s.Open(ctx, call)
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }()
		_, err = install.Apply(ctx, c, cfg, func(line string) { call.Recorder.Progress(ctx, line) })
		return err
	})
}
