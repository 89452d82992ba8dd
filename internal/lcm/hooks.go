package lcm

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// hookNames are the names that the interface Vnflcm has for operations: their hooks
// are these with _start and _end.
var hookNames = map[vnfm.OperationType]string{
	vnfm.OpInstantiate: "instantiate", vnfm.OpScale: "scale", vnfm.OpScaleToLevel: "scale_to_level", vnfm.OpChangeFlavour: "change_flavour",
	vnfm.OpOperate: "operate", vnfm.OpHeal: "heal", vnfm.OpChangePackage: "change_current_package", vnfm.OpModifyInfo: "modify_information",
	vnfm.OpChangeExtConn: "change_external_connectivity", vnfm.OpTerminate: "terminate",
}

const (
	hookStart = "_start"
	hookEnd   = "_end"
)

// hookName is the name of a hook of an operation.
func hookName(kind vnfm.OperationType, end bool) string {
	if end {
		return hookNames[kind] + hookEnd
	}
	return hookNames[kind] + hookStart
}

// hooked is a hook with the management driver that works at it.
type hooked struct {
	hook   vnfm.Hook
	name   string
	driver vnfm.ManagementDriver
}

// driverOf is the management driver of an implementation, by the name of the artifact
// or else by its type.
func (e *Engine) driverOf(impl vnfm.Implementation) (string, vnfm.ManagementDriver) {
	for _, name := range []string{impl.Artifact, impl.Type} {
		if d, ok := e.cfg.Management[name]; ok {
			return name, d
		}
	}
	return "", nil
}

// hooksOf are all hooks of a flavour at which a management driver works, in the order of
// their names.
func (e *Engine) hooksOf(f *vnfm.Flavour) []hooked {
	if f == nil {
		return nil
	}
	var out []hooked
	for _, hook := range slices.Sorted(maps.Keys(f.Operations)) {
		if !strings.HasSuffix(hook, hookStart) && !strings.HasSuffix(hook, hookEnd) {
			continue
		}
		if name, d := e.driverOf(f.Operations[hook]); d != nil {
			out = append(out, hooked{hook: vnfm.Hook{Name: hook, Implementation: f.Operations[hook]}, name: name, driver: d})
		}
	}
	return out
}

// at are the drivers that work at one hook: the one that the VNFD names for it and, when
// the user gave a sink for credentials, at every end the one that serves it.
func (e *Engine) at(f *vnfm.Flavour, request *vnfm.InstanceSpec, kind vnfm.OperationType, end bool) []hooked {
	name := hookName(kind, end)
	out := slices.DeleteFunc(e.hooksOf(f), func(h hooked) bool { return h.hook.Name != name })
	if d := e.cfg.Management[vnfm.CredentialsSender]; d != nil && end && request.Sink != nil &&
		!slices.ContainsFunc(out, func(h hooked) bool { return h.name == vnfm.CredentialsSender }) {
		out = append(out, hooked{hook: vnfm.Hook{Name: name}, name: vnfm.CredentialsSender, driver: d})
	}
	return out
}

// around is what the hooks around one operation need to know.
type around struct {
	kind    vnfm.OperationType
	pkg     *vnfm.Package
	flavour *vnfm.Flavour
	request vnfm.InstanceSpec
	// forceful goes on whatever a driver says; leftBehind hears what that was.
	forceful   bool
	leftBehind func(object, reason string)
}

// keptLeaving is the note of the VNFCs that an operation takes away.
const keptLeaving = "leaving"

// hook runs the management drivers of one hook of an operation.
func (e *Engine) hook(ctx context.Context, op *operation, a around, end bool) error {
	return e.runHooks(ctx, op, a, e.at(a.flavour, &a.request, a.kind, end), end)
}

func (e *Engine) runHooks(ctx context.Context, op *operation, a around, drivers []hooked, end bool) error {
	if len(drivers) == 0 {
		return nil
	}
	if err := e.needKey(ctx, &op.instance.value); err != nil {
		return err
	}
	var leaving []string
	if kept := op.Kept(keptLeaving); kept != "" {
		if err := json.Unmarshal([]byte(kept), &leaving); err != nil {
			return fmt.Errorf("reading which VNFCs leave with the operation: %w", err)
		}
	}
	for _, h := range drivers {
		err := h.driver.Run(ctx, &vnfm.HookCall{
			Hook: h.hook, Operation: a.kind, End: end, Params: ownParams(h.driver, a.request.Management), Instance: &op.instance.value, Request: &a.request,
			Package: a.pkg, Flavour: a.flavour, Leaving: leaving, Forceful: a.forceful, DigestKey: op.instance.value.DigestKey, Recorder: op,
			Resources: func(ctx context.Context) (*vnfm.ResourceInfo, error) { return e.resourcesOf(ctx, op.instance) },
			VIMs:      e,
			HostKeys:  hostKeys{op},
			State:     driverState{operation: op, driver: h.name},
			Kubeconfig: func(ctx context.Context, ref vnfm.ClusterRef) (*vnfm.Kubeconfig, error) {
				return e.WorkloadKubeconfig(ctx, ref, vnfm.KubeconfigSpec{})
			},
		})
		switch {
		case err == nil:
		case a.forceful && ctx.Err() == nil:
			if a.leftBehind != nil {
				a.leftBehind(fmt.Sprintf("What Management Driver %q Does at Hook %s", h.name, h.hook.Name), err.Error())
			}
		default:
			return fmt.Errorf("management driver %q at hook %s: %w", h.name, h.hook.Name, err)
		}
	}
	return nil
}

// resourcesOf looks what an instance has on its VIM, by its record.
func (e *Engine) resourcesOf(ctx context.Context, en *entry[vnfm.Instance]) (*vnfm.ResourceInfo, error) {
	t, d, err := e.bindRecord(ctx, en)
	if err != nil {
		return nil, err
	}
	return d.Resources(ctx, t)
}

// depart notes which VNFCs an operation takes away, for the drivers that work before and
// after it. Nothing is looked up where there are none, and an operation that is continued
// goes on with those that were noted.
func (e *Engine) depart(ctx context.Context, op *operation, a around, leaving func(ctx context.Context) ([]string, error)) ([]string, error) {
	if len(e.at(a.flavour, &a.request, a.kind, false)) == 0 && len(e.at(a.flavour, &a.request, a.kind, true)) == 0 {
		return nil, nil
	}
	var ids []string
	if kept := op.Kept(keptLeaving); kept != "" {
		err := json.Unmarshal([]byte(kept), &ids)
		return ids, err
	}
	ids, err := leaving(ctx)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	text, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	return ids, op.Keep(ctx, keptLeaving, string(text))
}

// vnfcsOf are the ids of the VNFCs of an instance that are chosen.
func (e *Engine) vnfcsOf(ctx context.Context, en *entry[vnfm.Instance], chosen func(*vnfm.VNFC) bool) ([]string, error) {
	has, err := e.resourcesOf(ctx, en)
	if err != nil {
		return nil, err
	}
	var out []string
	for n := range has.VNFCs {
		if chosen(&has.VNFCs[n]) {
			out = append(out, has.VNFCs[n].ID)
		}
	}
	return out, nil
}

// checkHooks finds hooks whose management driver is not known, and what a request
// and the planned instance lack for those that are.
func (e *Engine) checkHooks(r *resolution, request *vnfm.InstanceSpec, planned *vnfm.Preview, problems *vnfm.Problems) {
	f := r.flavour
	for _, hook := range slices.Sorted(maps.Keys(f.Operations)) {
		impl := f.Operations[hook]
		if impl.Artifact == "" || (!strings.HasSuffix(hook, hookStart) && !strings.HasSuffix(hook, hookEnd)) {
			continue
		}
		if _, d := e.driverOf(impl); d == nil {
			*problems = append(*problems, vnfm.Problem{
				Summary: "the VNFD names the management driver " + quote(impl.Artifact) + " for hook " + hook + ", which is not known",
				Detail: "a package's own Python classes are not run; the management drivers that are built in, by the name of the artifact or by its type, are " +
					listOf(slices.Sorted(maps.Keys(e.cfg.Management))),
			})
		}
	}
	checks := map[string]*vnfm.HookCheck{}
	check := func(name string) *vnfm.HookCheck {
		if checks[name] == nil {
			checks[name] = &vnfm.HookCheck{
				Params: ownParams(e.cfg.Management[name], request.Management), Later: request.SecretsLater || len(request.ParamsLater) > 0, Request: request,
				Package: r.pkg, Flavour: f, Counts: r.counts, Planned: planned,
			}
		}
		return checks[name]
	}
	for _, h := range e.hooksOf(f) {
		c := check(h.name)
		c.Hooks = append(c.Hooks, h.hook)
	}
	if request.Sink != nil && e.cfg.Management[vnfm.CredentialsSender] != nil {
		check(vnfm.CredentialsSender)
	}
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		*problems = append(*problems, e.cfg.Management[name].Check(checks[name])...)
	}
}
