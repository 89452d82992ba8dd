package packages

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/configuration"
	"github.com/nfv-iac/terraform-provider-vnf/internal/command/connect"
	"github.com/nfv-iac/terraform-provider-vnf/internal/document"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/heat"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// fromStack packs a stack of Heat that belongs to no instance.
type fromStack struct {
	name  string
	cloud connect.OpenStack
}

func (s *fromStack) run(ctx context.Context, cmd *cobra.Command, version, name string) error {
	t, err := targetOf(name)
	if err != nil {
		return err
	}
	client, err := s.cloud.Client(version)
	if err != nil {
		return err
	}
	stack, err := heat.FindForeign(ctx, client, s.name)
	if err != nil {
		return err
	}
	d := &draft{name: stack.Name, version: "1.0", origin: "stack " + stack.Name, description: "The Heat stack " + stack.Name, at: stack.At, files: map[string][]byte{}}
	if text, ok := stack.Template["description"].(string); ok && text != "" {
		d.description = strings.Join(strings.Fields(text), " ")
	}
	for _, v := range stack.VDUs {
		d.vdus = append(d.vdus, draftVDU{id: v.ID, name: v.ID, kind: vduOfServers, description: v.Type, count: v.Count})
	}
	top, err := yaml.Marshal(integers(stack.Template))
	if err != nil {
		return err
	}
	dir := "BaseHOT/" + flavourID + "/"
	d.files[dir+stack.Name+".yaml"] = top
	for file, text := range stack.Files {
		d.files[dir+"nested/"+file] = []byte(text)
	}
	return d.packStack(ctx, cmd, version, t, stack)
}

// integers is a document with whole numbers as integers, which YAML writes without an exponent.
func integers(v any) any {
	return document.Map(v, func(v any) any {
		if f, ok := v.(float64); ok && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return int64(f)
		}
		return v
	})
}

// packStack writes package, parameters and configuration.
func (d *draft) packStack(ctx context.Context, cmd *cobra.Command, version string, t target, stack *heat.Foreign) error {
	given, _ := integers(stack.Parameters).(map[string]any)
	shown, secret, names := configuration.Part(given)
	secrets, secretsOf, err := argument{".secrets.yaml", secret}.file(t)
	if err != nil {
		return err
	}
	// Who lists the stacks of the project sees the others: they need no file that only one can read.
	params := configuration.Fields{{Name: heat.ParamStackName, Value: stack.Name}}
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		params = append(params, configuration.Field{Name: name, Value: shown[name]})
	}
	hidden := make(configuration.Fields, 0, len(secret)+len(stack.Hidden))
	for _, name := range slices.Sorted(maps.Keys(secret)) {
		hidden = append(hidden, configuration.Field{Name: name, Value: secretsOf + configuration.Expression("["+configuration.Quote(name)+"]")})
	}
	for _, name := range stack.Hidden {
		hidden = append(hidden, configuration.Field{Name: name, Value: configuration.Expression("var." + configuration.Name(name))})
	}
	others := slices.DeleteFunc([]beside{secrets}, func(b beside) bool { return b.path == "" })
	digest, err := d.pack(ctx, cmd, version, t, others, func(ctx context.Context, e *lcm.Engine, p *vnfm.Package) error {
		all := maps.Clone(given)
		for _, name := range stack.Hidden {
			all[name] = ""
		}
		all[heat.ParamStackName] = stack.Name
		_, problems, err := e.RenderInstance(ctx, vnfm.InstanceSpec{Name: stack.Name, PackageID: p.ID, OperationalState: vnfm.Started, AdditionalParams: all})
		if err == nil {
			err = problems.Err()
		}
		if err != nil {
			return fmt.Errorf("rendering the templates of the stack: %w", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	warnSecrets(cmd, secrets.path, names)
	if len(stack.Hidden) > 0 {
		cmd.PrintErrf("Warning: Heat does not show the values of %s: give them as the variables of the configuration; another value changes the stack\n", strings.Join(stack.Hidden, ", "))
	}
	_, err = cmd.OutOrStdout().Write(d.terraform(t, digest, "", params, hidden, stack.Hidden...))
	return err
}
