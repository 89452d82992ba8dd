package packages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// instance are the flags that describe an instance of a package.
type instance struct {
	flavour, level, namespace string
	scale                     map[string]string
	params                    string
}

func (i *instance) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&i.flavour, "flavour", "", "`ID` of the deployment flavour; by default that of the VNFD")
	cmd.Flags().StringVar(&i.level, "level", "", "`ID` of the instantiation level; by default that of the flavour")
	cmd.Flags().StringToStringVar(&i.scale, "scale", nil, "`ASPECT=LEVEL`; may be repeated")
	cmd.Flags().StringVar(&i.namespace, "namespace", "", "`NAME` of the namespace of the instance")
	cmd.Flags().StringVar(&i.params, "params", "", "`FILE` with additional_params, YAML or JSON")
}

// spec is the specification of the instance.
func (i *instance) spec() (vnfm.InstanceSpec, error) {
	s := vnfm.InstanceSpec{FlavourID: i.flavour, LevelID: i.level, Namespace: i.namespace, OperationalState: vnfm.Started}
	for _, aspect := range slices.Sorted(maps.Keys(i.scale)) {
		level, err := strconv.Atoi(i.scale[aspect])
		if err != nil || level < 0 {
			return s, cli.Usagef("--scale %s=%s is no scale level; write a number from 0", aspect, i.scale[aspect])
		}
		if s.ScaleLevels == nil {
			s.ScaleLevels = map[string]int{}
		}
		s.ScaleLevels[aspect] = level
	}
	if err := cli.Namespace(i.namespace); err != nil {
		return s, err
	}
	if i.params == "" {
		return s, nil
	}
	text, err := os.ReadFile(filepath.Clean(i.params))
	if err != nil {
		return s, cli.Usagef("reading the parameters: %w", err)
	}
	if s.AdditionalParams, err = params(text); err != nil {
		return s, cli.Usagef("reading the parameters %s: %w", i.params, err)
	}
	return s, nil
}

// params reads parameters as Terraform gives them: numbers are those of JSON. An error is one line, and repeats no value: it may be a secret.
func params(text []byte) (map[string]any, error) {
	var read any
	if err := yaml.Unmarshal(text, &read); err != nil {
		if wrong := new(yaml.TypeError); errors.As(err, &wrong) {
			return nil, errors.New(strings.Join(wrong.Errors, "; "))
		}
		return nil, err
	}
	if _, ok := read.(map[string]any); !ok && read != nil {
		return nil, errors.New("it must hold a mapping from names to values, with texts as names")
	}
	data, err := json.Marshal(read)
	if err != nil {
		return nil, errors.New("it has what JSON does not have: a name that is no text, or a number that is not finite")
	}
	var out map[string]any
	err = json.Unmarshal(data, &out)
	return out, err
}

func renderCommand(version string) *cobra.Command {
	var r reading
	var i instance
	cmd := &cobra.Command{
		Use:   "render PACKAGE",
		Short: "Print the Kubernetes objects of an instance of a package",
		Long: `Prints the objects that an instance would have as YAML, as data "vnf_rendering" does: with the replicas of
their VDUs, with values of Secrets masked, and with placeholders for results of random functions
of a chart. It needs no cluster.`,
		Example: `  terraform-provider-vnf package render examples/packages/core5g
  terraform-provider-vnf package render --scale user-plane=2 --namespace core examples/packages/core5g`,
		Args: cli.Arguments("PACKAGE"),
		RunE: cli.Interruptible(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			spec, err := i.spec()
			if err != nil {
				return err
			}
			return withEngine(version, func(e *lcm.Engine) error {
				rendered, err := rendering(ctx, cmd, e, &r, args[0], spec)
				if err != nil {
					return err
				}
				for n, key := range slices.Sorted(maps.Keys(rendered.Contents)) {
					if n > 0 {
						cli.Say(cmd, "---")
					}
					cli.Say(cmd, "%s", strings.TrimSuffix(rendered.Contents[key], "\n"))
				}
				return nil
			})
		}),
	}
	r.flags(cmd, signatures[1])
	i.flags(cmd)
	return cmd
}

// rendering renders an instance of a package.
func rendering(ctx context.Context, cmd *cobra.Command, e *lcm.Engine, r *reading, source string, spec vnfm.InstanceSpec) (*vnfm.Rendering, error) {
	p, err := r.read(ctx, cmd, e, source)
	if err != nil {
		return nil, err
	}
	spec.PackageID = p.ID
	rendered, problems, err := e.RenderInstance(ctx, spec)
	if err != nil {
		return nil, err
	}
	warn(cmd, "", problems)
	if err := problems.Err(); err != nil {
		return nil, fmt.Errorf("rendering the package %s: %w", source, err)
	}
	return rendered, nil
}
