package packages

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/configuration"
)

// argument is an argument that is read from a file beside the package.
type argument struct {
	suffix string
	values map[string]any
}

// file is the file of an argument, with the expression that reads it; both are empty without values.
func (a argument) file(t target) (beside, configuration.Expression, error) {
	if len(a.values) == 0 {
		return beside{}, "", nil
	}
	text, err := yaml.Marshal(a.values)
	if err != nil {
		return beside{}, "", err
	}
	path := t.base() + a.suffix
	return beside{path, text}, configuration.Expression(fmt.Sprintf("yamldecode(file(%s))", configuration.Quote(filepath.ToSlash(path)))), nil
}

// warnSecrets names what was taken for a secret.
func warnSecrets(cmd *cobra.Command, path string, names []string) {
	if len(names) == 0 {
		return
	}
	cmd.PrintErrf("Warning: these values go by the name of a secret: %s; they are in %s, which only you can read, and go to write-only arguments; do not commit the file\n",
		strings.Join(names, ", "), path)
}

// terraform is the configuration with which an instance takes over what was packed.
func (d *draft) terraform(t target, digest string, namespace string, params, secrets configuration.Fields, variables ...string) []byte {
	f := configuration.New()
	name := configuration.Name(d.name)
	f.Comment("%s %s", filepath.ToSlash(t.path), digest)
	f.Block("variable", []string{"vim_id"}, configuration.Fields{
		{Name: "type", Value: configuration.Expression("string")},
		{Name: "description", Value: "The id of the vnf_vim with what is adopted."},
	})
	for _, v := range variables {
		f.Block("variable", []string{configuration.Name(v)}, configuration.Fields{
			{Name: "type", Value: configuration.Expression("string")}, {Name: "sensitive", Value: true}, {Name: "ephemeral", Value: true},
		})
	}
	f.Block("resource", []string{"vnf_package", name}, configuration.Fields{
		{Name: "name", Value: d.name}, {Name: "source", Value: filepath.ToSlash(t.path)},
	})
	var version any
	if len(secrets) > 0 {
		version = 1
	}
	f.Block("resource", []string{"vnf_instance", name}, configuration.Fields{
		{Name: "name", Value: d.name},
		{Name: "vim_id", Value: configuration.Expression("var.vim_id")},
		{Name: "package_id", Value: configuration.Expression("vnf_package." + name + ".id")},
		{Name: "namespace", Value: namespace},
		{Name: "adopt_existing", Value: true},
		{Name: "additional_params", Value: params},
		{Name: "additional_params_wo", Value: secrets},
		{Name: "additional_params_wo_version", Value: version},
	})
	return f.Bytes()
}
