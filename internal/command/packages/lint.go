package packages

import (
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/spf13/cobra"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/csar"
	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/hot"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfd"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// formSARIF is the form in which code hosts read what "package lint" finds.
const formSARIF = "sarif"

func lintCommand(version string) *cobra.Command {
	var r reading
	var form string
	var strict, list bool
	cmd := &cobra.Command{
		Use:   "lint PACKAGE",
		Short: "Check a package against SOL004 and SOL001",
		Long: `Checks a package and its VNFD, and names each finding with its place, its rule and the clause that
the rule is from. What is an error here is an error of vnf_package or vnf_instance. All flavours
are rendered with their defaults where the package holds Kubernetes objects, and templates of
Heat are read.

Exit codes: 0 no errors (with --strict no warnings either), 1 findings, 2 the package cannot be
opened or the command is written wrongly.`,
		Example: `  terraform-provider-vnf package lint examples/packages/core5g
  terraform-provider-vnf package lint --output sarif examples/packages/core5g > core5g.sarif
  terraform-provider-vnf package lint --rules`,
		Args: func(cmd *cobra.Command, args []string) error {
			if list {
				return cli.NoArguments(cmd, args)
			}
			return cli.Arguments("PACKAGE")(cmd, args)
		},
		RunE: cli.Interruptible(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if list {
				return listRules(cmd, version, form)
			}
			return withEngine(version, func(e *lcm.Engine) error {
				found, err := r.lint(ctx, e, args[0])
				if err != nil {
					return err
				}
				return report(cmd, version, found, form, strict)
			})
		}),
	}
	r.flags(cmd, signatures[1])
	cli.Output(cmd, &form, cli.FormText, cli.FormJSON, formSARIF)
	cmd.Flags().BoolVar(&strict, "strict", false, "fail on warnings, too")
	cmd.Flags().BoolVar(&list, "rules", false, "list the rules instead")
	return cmd
}

// lint returns what is found in a package.
func (r *reading) lint(ctx context.Context, e *lcm.Engine, source string) (vnfm.Problems, error) {
	spec, err := r.spec(source)
	if err != nil {
		return nil, err
	}
	p, found, err := e.ReadPackage(ctx, spec)
	if err != nil || found.HasErrors() {
		return found, cli.Usage(err)
	}
	for i := range p.Descriptor.Flavours {
		f := &p.Descriptor.Flavours[i]
		problems, err := lintFlavour(ctx, e, p, f)
		if err != nil {
			return nil, err
		}
		for _, problem := range problems {
			// The flavours mostly have the same objects.
			if problem.Attribute == "" && !slices.Contains(found, problem) {
				found = append(found, problem)
			}
		}
	}
	return found, nil
}

// lintFlavour returns what is found in the templates of Heat and in the Kubernetes objects of a flavour.
func lintFlavour(ctx context.Context, e *lcm.Engine, p *vnfm.Package, f *vnfm.Flavour) (vnfm.Problems, error) {
	var found vnfm.Problems
	if hot.HasTemplates(p, f) {
		found = lintTemplates(ctx, p, f)
		found.Under(heatTemplate.ID)
	}
	if !p.HasContainers(f) {
		return append(found, lintUnmade(p, f)...), nil
	}
	_, problems, err := e.RenderInstance(ctx, vnfm.InstanceSpec{PackageID: p.ID, FlavourID: f.ID, OperationalState: vnfm.Started})
	return append(found, problems...), err
}

// lintUnmade warns of a flavour whose VDUs are described by nothing: neither manifests nor charts, neither templates of Heat nor what the VNFD
// says of servers. It is no error: a request can name a chart or files that are not listed.
func lintUnmade(p *vnfm.Package, f *vnfm.Flavour) vnfm.Problems {
	isServer := func(v vnfm.VDU) bool {
		return len(v.SWImages)+len(v.StorageIDs) > 0 || v.Compute != nil || v.CPUs > 0 || v.MemoryBytes > 0
	}
	isExternal := func(a vnfm.PackageArtifact) bool { return a.External }
	isChart := func(file vnfm.PackageFile) bool {
		return path.Base(file.Path) == "Chart.yaml" || helm.IsChart(p.Content, file.Path)
	}
	if len(f.VDUs) == 0 || hot.HasTemplates(p, f) || hot.HasTemplatesAside(p) ||
		slices.ContainsFunc(f.VDUs, isServer) || slices.ContainsFunc(p.Artifacts, isExternal) || slices.ContainsFunc(p.Files, isChart) {
		return nil
	}
	return vnfm.Problems{{
		Severity: vnfm.SeverityWarning, File: f.VDUs[0].Place.File, Line: f.VDUs[0].Place.Line,
		Summary: fmt.Sprintf("the package does not say what the VDUs of deployment flavour %q are made of", f.ID),
		Detail:  "list their Kubernetes manifests as a Source in the manifest of the package, name a Helm chart with a node of the type Mciop, or describe containers or servers in the VNFD",
	}}
}

// lintTemplates reads the templates of a flavour. VDUs can be containers where the flavour has some.
func lintTemplates(ctx context.Context, p *vnfm.Package, f *vnfm.Flavour) vnfm.Problems {
	var containers []string
	for i := range f.VDUs {
		if p.HasContainers(f) {
			containers = append(containers, f.VDUs[i].ID)
		}
	}
	s, found := hot.Load(budget.New(ctx, budget.Limits{}), p, f, containers...)
	if s != nil {
		found = append(found, s.Unused()...)
	}
	return found
}

// Rules of findings about no standard of ETSI.
var (
	heatTemplate     = vnfm.Rule{ID: "heat-template", Title: "Templates refer to parameters, resources and files that exist", Clause: "Heat Orchestration Template"}
	kubernetesObject = vnfm.Rule{ID: "kubernetes-object", Title: "The objects of an instance can be rendered and applied", Clause: "Kubernetes API"}
)

// rules are those of packages, and last that of findings about no standard.
func rules() []vnfm.Rule {
	return append(slices.Concat(csar.Rules(), vnfd.Rules()), heatTemplate, kubernetesObject)
}

// ruleOf returns a rule; one without an id is that of a finding about no standard.
func ruleOf(id string) vnfm.Rule {
	all := rules()
	if n := slices.IndexFunc(all, func(r vnfm.Rule) bool { return r.ID == id }); n >= 0 {
		return all[n]
	}
	return all[len(all)-1]
}

func listRules(cmd *cobra.Command, version, form string) error {
	switch form {
	case cli.FormJSON:
		return cli.JSON(cmd, rules())
	case formSARIF:
		return cli.JSON(cmd, sarif(version, nil))
	}
	for _, rule := range rules() {
		cli.Say(cmd, "%-26s %s (%s)", rule.ID, rule.Title, rule.Clause)
	}
	return nil
}

// finding is a problem as JSON.
type finding struct {
	Severity string    `json:"severity"`
	File     string    `json:"file,omitempty"`
	Line     int       `json:"line,omitempty"`
	Column   int       `json:"column,omitempty"`
	Rule     vnfm.Rule `json:"rule"`
	Summary  string    `json:"summary"`
	Detail   string    `json:"detail,omitempty"`
}

func severity(p vnfm.Problem) string {
	if p.Severity == vnfm.SeverityWarning {
		return "warning"
	}
	return "error"
}

// report writes the findings and fails when they are a reason to.
func report(cmd *cobra.Command, version string, found vnfm.Problems, form string, strict bool) error {
	failed, warnings := 0, 0
	list := make([]finding, 0, len(found))
	for _, p := range found {
		if p.Severity == vnfm.SeverityError {
			failed++
		} else {
			warnings++
		}
		list = append(list, finding{severity(p), p.File, p.Line, p.Column, ruleOf(p.Rule), p.Summary, p.Detail})
	}
	switch form {
	case cli.FormJSON:
		if err := cli.JSON(cmd, list); err != nil {
			return err
		}
	case formSARIF:
		if err := cli.JSON(cmd, sarif(version, list)); err != nil {
			return err
		}
	default:
		for i, p := range found {
			cli.Say(cmd, "%s: %s [%s, %s]", severity(p), p, list[i].Rule.ID, list[i].Rule.Clause)
		}
		cli.Say(cmd, "%s, %s", counted(failed, "error"), counted(warnings, "warning"))
	}
	if failed > 0 || strict && warnings > 0 {
		return fmt.Errorf("the package has %s and %s", counted(failed, "error"), counted(warnings, "warning"))
	}
	return nil
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
