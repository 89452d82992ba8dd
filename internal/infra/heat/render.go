package heat

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/hot"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfd"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// strangeValue is what to do about a template that cannot be written.
const strangeValue = "write the value that it names as a text"

// rendering is a target without anything that only the VIM knows.
type rendering struct {
	source  *hot.Source
	request hot.Request
	stack   *hot.Stack
	objects map[string]string
}

// render makes the stack of a target offline.
func render(b *budget.Budget, t *vnfm.Target) (_ *rendering, ps vnfm.Problems) {
	defer func() { t.Blame(ps) }()
	if t.Instance.Namespace != "" {
		ps = append(ps, vnfm.Problem{Attribute: "namespace", Summary: "an OpenStack VIM has no namespaces", Detail: "remove the argument: the instance is in the project of the VIM"})
	}
	if checkContainers(t, &ps); ps.HasErrors() {
		return nil, ps
	}
	source, more := hot.Load(b, t.Package, t.Flavour, foreign(t)...)
	if ps = append(ps, more...); ps.HasErrors() {
		return nil, ps
	}
	p := readParams(t, source, &ps)
	if ps.HasErrors() {
		return nil, ps
	}
	if checkName(t, source, &ps); ps.HasErrors() {
		return nil, ps
	}
	out := &rendering{source: source}
	out.request = hot.Request{Flavour: t.Flavour, Counts: countsOf(t), NFV: p.nfv, Parameters: p.stack, Secrets: t.SecretParams, VNFCs: map[string][]int{}, DigestKey: t.DigestKey}
	out.request.Links = linksOf(t.Instance.Links)
	for id, vdu := range source.VDUs {
		if vdu.Form == hot.Copied {
			out.request.VNFCs[id] = chooseNumbers(nil, out.request.Counts[id], nil)
		}
	}
	if len(t.AvailabilityZones) > 0 && !source.AsksZone(out.request) {
		ps.Invalid(vnfm.AttributeZones, fmt.Sprintf("no template of deployment flavour %q asks for an availability zone", t.Flavour.ID),
			"the argument would have no effect: remove it, or have a template read { get_param: [nfv, VDU, "+vduIn(t.Flavour)+", locationConstraints] }")
	}
	out.stack, more = source.Stack(out.request)
	if ps = append(ps, more...); ps.HasErrors() {
		return nil, ps
	}
	out.objects, more = source.Objects(out.request)
	if ps = append(ps, more...); ps.HasErrors() {
		return nil, ps
	}
	removeElsewhere(out, t)
	// As the package has it: the stack lists its copies in its outputs.
	rest := maps.Clone(source.Top)
	delete(rest, "resources")
	text, err := json.Marshal(rest)
	if err != nil {
		ps = append(ps, vnfm.Problem{Summary: "the template cannot be written as JSON", Detail: err.Error() + "; " + strangeValue})
		return nil, ps
	}
	out.objects[stackKey(t.Instance)] = hot.Digest(t.DigestKey, text)
	return out, ps
}

// foreign are the VDUs that are on VIMs of other kinds: no template needs to have them.
func foreign(t *vnfm.Target) []string {
	if t.Part == nil {
		return nil
	}
	return t.Part.Foreign
}

// checkContainers finds VDUs of containers that were left to the VIM.
func checkContainers(t *vnfm.Target, ps *vnfm.Problems) {
	for i := range t.Flavour.VDUs {
		v := &t.Flavour.VDUs[i]
		if v.OfContainers() && t.Part.Has(v.ID) {
			*ps = append(*ps, vnfm.Problem{
				File: v.Place.File, Line: v.Place.Line, Column: v.Place.Column, Attribute: vnfm.AttributeConnections,
				Summary: fmt.Sprintf("VDU %q consists of containers, which OpenStack cannot run", v.ID),
				Detail:  fmt.Sprintf("place it on a Kubernetes VIM: vim_connections = { <name> = { vim_id = <id>, vdu_ids = [%q] } }", v.ID),
			})
		}
	}
}

// vduIn is the id of a VDU, for examples.
func vduIn(f *vnfm.Flavour) string {
	if len(f.VDUs) == 0 {
		return "<VDU>"
	}
	return f.VDUs[0].ID
}

// removeElsewhere takes the VDUs out of the objects that are on another VIM: of them the stack
// has no VNFC.
func removeElsewhere(r *rendering, t *vnfm.Target) {
	for id, vdu := range r.source.VDUs {
		if t.Part.Has(id) {
			continue
		}
		for key := range r.objects {
			if _, name, _ := strings.Cut(key, " "); name == vdu.Resource {
				delete(r.objects, key)
			}
		}
	}
}

// linksOf are the networks of an instance by what they are for: a connection point or an
// internal virtual link.
func linksOf(l vnfm.Links) map[string]hot.Link {
	out := map[string]hot.Link{}
	for _, external := range l.External {
		for id, cp := range external.ExtCPs {
			out[id] = hot.Link{NetworkID: external.ResourceID, IPs: cp.IPAddresses, PortID: cp.LinkPortID, MAC: cp.MACAddress}
		}
	}
	for id, network := range l.Managed {
		out[id] = hot.Link{NetworkID: network}
	}
	return out
}

// countsOf are the numbers of VNFCs that the stack has: an instance that is stopped keeps
// its servers.
func countsOf(t *vnfm.Target) map[string]int {
	counts := t.Counts
	if t.Instance.OperationalState == vnfm.Stopped {
		if all, problems := vnfd.Counts(t.Flavour, t.Instance.LevelID, t.Instance.ScaleLevels); !problems.HasErrors() {
			counts = all
		}
	}
	out := make(map[string]int, len(counts))
	for id, n := range counts {
		if t.Part.Has(id) {
			out[id] = n
		}
	}
	return out
}

// digestOf is "sha256:<hex>" over the content of a stack as JSON, in which the keys of maps
// are in order, without the values of hidden parameters. It stays in the stack, beside what it
// is of.
func digestOf(content *openstack.StackContent) (string, error) {
	shown := content.Parameters
	if visible, hidden := parted(content); len(hidden) > 0 {
		shown = visible
	}
	text, err := json.Marshal([]any{content.Template, content.Files, shown})
	if err != nil {
		return "", fmt.Errorf("taking a digest: %w", err)
	}
	return digest.Of(text), nil
}

// Preview implements vnfm.InfraDriver.
func (d *Driver) Preview(ctx context.Context, t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) {
	if t.Part.Empty() {
		return &vnfm.Preview{}, nil
	}
	r, ps := render(budget.New(ctx, budget.Limits{}), t)
	if ps.HasErrors() {
		return nil, ps
	}
	preview := r.preview(t)
	return &preview, ps
}

func (r *rendering) preview(t *vnfm.Target) vnfm.Preview {
	preview := vnfm.Preview{
		FlavourID: t.Flavour.ID, LevelID: t.Instance.LevelID, ScaleStatus: t.Instance.ScaleStatus,
		VDUs: map[string]vnfm.VDUState{}, Objects: r.objects,
	}
	if t.Package.Descriptor != nil {
		preview.VNFDID = t.Package.Descriptor.ID
	}
	for _, name := range r.source.Hidden() {
		if value := t.Instance.AdditionalParams[name]; name != paramNFV && value != nil && value != "" && !t.Secret(name) {
			preview.ShownSecrets = append(preview.ShownSecrets, name)
		}
	}
	for id := range r.source.VDUs {
		if t.Part.Has(id) {
			preview.VDUs[id] = vduState(t.Flavour, id, t.Counts[id])
		}
	}
	return preview
}

func vduState(f *vnfm.Flavour, id string, count int) vnfm.VDUState {
	state := vnfm.VDUState{Kind: serverType, Name: id, Replicas: &count}
	if vdu := f.VDU(id); vdu != nil && vdu.Name != "" {
		state.Name = vdu.Name
	}
	return state
}

// Render implements vnfm.InfraDriver: the template of the stack, and the nested ones and
// the parameters behind it.
func (d *Driver) Render(ctx context.Context, t *vnfm.Target) (*vnfm.Rendering, vnfm.Problems) {
	if t.Part.Empty() {
		return &vnfm.Rendering{}, nil
	}
	r, ps := render(budget.New(ctx, budget.Limits{}), t)
	if ps.HasErrors() {
		return nil, ps
	}
	preview := r.preview(t)
	out := &vnfm.Rendering{Preview: preview, Fields: r.fields(t), Units: r.units(t, &preview)}
	if t.Compared {
		return out, ps
	}
	documents := []any{r.stack.Template, map[string]any{"parameters": r.stack.Parameters}}
	text := ""
	for _, document := range documents {
		part, err := yaml.Marshal(document)
		if err != nil {
			ps = append(ps, vnfm.Problem{Summary: "the template cannot be written as YAML", Detail: err.Error() + "; " + strangeValue})
			return nil, ps
		}
		text += string(part) + "---\n"
	}
	for _, name := range slices.Sorted(maps.Keys(r.stack.Files)) {
		text += "# " + name + "\n" + r.stack.Files[name] + "---\n"
	}
	out.Contents = map[string]string{stackKey(t.Instance): text}
	return out, ps
}
