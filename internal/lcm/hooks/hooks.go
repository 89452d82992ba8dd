// Package hooks calls management drivers at the start and the end of LCM operations, as the
// interface Vnflcm of a VNFD names them.
package hooks

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tracing"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// operationNames are the names that the interface Vnflcm has for operations: their hooks
// are these with _start and _end.
var operationNames = map[vnfm.OperationType]string{
	vnfm.OpInstantiate: "instantiate", vnfm.OpScale: "scale", vnfm.OpScaleToLevel: "scale_to_level", vnfm.OpChangeFlavour: "change_flavour",
	vnfm.OpOperate: "operate", vnfm.OpHeal: "heal", vnfm.OpChangePackage: "change_current_package", vnfm.OpModifyInfo: "modify_information",
	vnfm.OpChangeExtConn: "change_external_connectivity", vnfm.OpTerminate: "terminate",
}

const (
	suffixStart = "_start"
	suffixEnd   = "_end"
)

// Name is the name of a hook of an operation.
func Name(kind vnfm.OperationType, end bool) string {
	if end {
		return operationNames[kind] + suffixEnd
	}
	return operationNames[kind] + suffixStart
}

func isHook(name string) bool {
	return strings.HasSuffix(name, suffixStart) || strings.HasSuffix(name, suffixEnd)
}

// Drivers are the management drivers by the name, or the type, of the artifacts that VNFDs
// give.
type Drivers map[string]vnfm.ManagementDriver

// Binding is a hook with the management driver that is called at it.
type Binding struct {
	Hook vnfm.Hook
	// Name is that of the driver.
	Name   string
	Driver vnfm.ManagementDriver
}

// inEngine are the management drivers of OpenStack Tacker whose work is that of the engine: it restarts what reads
// changed configuration, and changes images, with every change of the package.
var inEngine = map[string]bool{"mgmt-container-update": true, "vnflcm_noop": true}

// find returns the management driver of an implementation, by the name of the artifact or
// else by its type.
func (d Drivers) find(impl vnfm.Implementation) (string, vnfm.ManagementDriver) {
	for _, name := range []string{impl.Artifact, impl.Type} {
		if driver, ok := d[name]; ok {
			return name, driver
		}
	}
	return "", nil
}

// All are the hooks of a flavour that have a management driver, in the order of their names.
func (d Drivers) All(f *vnfm.Flavour) []Binding {
	if f == nil {
		return nil
	}
	var out []Binding
	for _, hook := range slices.Sorted(maps.Keys(f.Operations)) {
		if !isHook(hook) {
			continue
		}
		if name, driver := d.find(f.Operations[hook]); driver != nil {
			out = append(out, Binding{Hook: vnfm.Hook{Name: hook, Implementation: f.Operations[hook]}, Name: name, Driver: driver})
		}
	}
	return out
}

// Named are the operation and the end of it that a hook of a flavour is of, and its management driver. Hooks of a termination are none.
func (d Drivers) Named(f *vnfm.Flavour, hook string) (kind vnfm.OperationType, end bool, b Binding, ok bool) {
	all := d.All(f)
	at := slices.IndexFunc(all, func(b Binding) bool { return b.Hook.Name == hook })
	for kind := range operationNames {
		for _, end := range []bool{false, true} {
			if at >= 0 && kind != vnfm.OpTerminate && Name(kind, end) == hook {
				return kind, end, all[at], true
			}
		}
	}
	return "", false, Binding{}, false
}

// Names are the hooks of a flavour that Named finds.
func (d Drivers) Names(f *vnfm.Flavour) []string {
	var out []string
	for _, b := range d.All(f) {
		if _, _, _, ok := d.Named(f, b.Hook.Name); ok {
			out = append(out, b.Hook.Name)
		}
	}
	return out
}

// RegisterVIM reports whether a management driver of a flavour registers a VIM.
func (d Drivers) RegisterVIM(f *vnfm.Flavour) bool {
	return slices.ContainsFunc(d.All(f), func(b Binding) bool {
		_, ok := b.Driver.(vnfm.Registrar)
		return ok
	})
}

// Params are the names of the additional parameters that the management drivers of a flavour
// take.
func (d Drivers) Params(f *vnfm.Flavour) map[string]bool {
	out := map[string]bool{}
	for _, b := range d.All(f) {
		for _, name := range b.Driver.Params() {
			out[name] = true
		}
	}
	return out
}

// Operation is what the hooks around one operation need to know of it.
type Operation struct {
	Kind    vnfm.OperationType
	Package *vnfm.Package
	Flavour *vnfm.Flavour
	Request vnfm.InstanceSpec
	// Changes are what it does to VNFCs, and Counts how many each VDU has afterwards.
	Changes Changes
	Counts  map[string]int
	// Forceful has an operation go on whatever a driver returns; LeftBehind, when set,
	// receives the error.
	Forceful   bool
	LeftBehind func(object, reason string)
}

// At are the drivers that are called at one end of an operation: the one that the VNFD names
// for it, those that keep nodes which the operation changes and, when the user gave a sink for
// credentials, at every end the one that serves it.
func (d Drivers) At(o *Operation, end bool) []Binding {
	name := Name(o.Kind, end)
	out := slices.DeleteFunc(d.All(o.Flavour), func(b Binding) bool { return b.Hook.Name != name })
	out = append(out, d.keepers(o, end, out)...)
	if sender := d[vnfm.CredentialsSender]; sender != nil && end && o.Request.Sink != nil &&
		!slices.ContainsFunc(out, func(b Binding) bool { return b.Name == vnfm.CredentialsSender }) {
		out = append(out, Binding{Hook: vnfm.Hook{Name: name}, Name: vnfm.CredentialsSender, Driver: sender})
	}
	return out
}

// HasAny reports whether a driver is called around an operation.
func (d Drivers) HasAny(o *Operation) bool { return len(d.At(o, false))+len(d.At(o, true)) > 0 }

// Run calls drivers one after the other. Common has what is the same for all of them, and
// state returns what the driver of a name keeps.
func Run(ctx context.Context, o *Operation, drivers []Binding, common vnfm.HookCall, state func(driver string) vnfm.DriverState) error {
	for _, b := range drivers {
		call := common
		call.Hook, call.Params, call.State = b.Hook, ownParams(b.Driver, o.Request.Management), state(b.Name)
		call.Operation, call.Request, call.Package, call.Flavour, call.Forceful = o.Kind, &o.Request, o.Package, o.Flavour, o.Forceful
		working, span := tracing.Start(ctx, tracing.Hooks, "hook "+b.Hook.Name)
		span.Text("vnf.management_driver", b.Name)
		err := b.Driver.Run(working, &call)
		span.End(err)
		switch {
		case err == nil:
		case o.Forceful && ctx.Err() == nil:
			if o.LeftBehind != nil {
				o.LeftBehind(fmt.Sprintf("Work of Management Driver %q at Hook %s", b.Name, b.Hook.Name), err.Error())
			}
		default:
			return fmt.Errorf("management driver %q at hook %s: %w", b.Name, b.Hook.Name, err)
		}
	}
	return nil
}

// Watch has drivers look whether what they have set up is as it should be. Common has what is the same for all of them.
func (o *Operation) Watch(ctx context.Context, drivers []Binding, common vnfm.HookCall, state func(driver string) vnfm.DriverState) (map[string]string, error) {
	out := map[string]string{}
	for _, b := range drivers {
		watcher, ok := b.Driver.(vnfm.Watcher)
		if !ok {
			continue
		}
		call := common
		call.Hook, call.Params, call.State = b.Hook, ownParams(b.Driver, o.Request.Management), state(b.Name)
		call.Operation, call.Request, call.Package, call.Flavour = o.Kind, &o.Request, o.Package, o.Flavour
		found, err := watcher.Watch(ctx, &call)
		if err != nil {
			return nil, fmt.Errorf("management driver %q: %w", b.Name, err)
		}
		for vdu, text := range found {
			out[vdu] = strings.TrimPrefix(out[vdu]+", "+text, ", ")
		}
	}
	return out, nil
}

// ownParams are those of the parameters that a driver takes.
func ownParams(d vnfm.ManagementDriver, params map[string]any) map[string]any {
	out := map[string]any{}
	for _, name := range d.Params() {
		if value, ok := params[name]; ok {
			out[name] = value
		}
	}
	return out
}

// leavingNote is the note of the VNFCs that an operation takes away.
const leavingNote = "leaving"

// Leaving returns the VNFCs that were noted to leave with an operation; ok is false when
// nothing was noted.
func Leaving(r vnfm.Recorder) (ids []string, ok bool, err error) {
	note := r.Note(leavingNote)
	if note == "" {
		return nil, false, nil
	}
	if err := json.Unmarshal([]byte(note), &ids); err != nil {
		return nil, false, fmt.Errorf("reading which VNFCs the operation removes: %w", err)
	}
	return ids, true, nil
}

// NoteLeaving notes the VNFCs that leave with an operation.
func NoteLeaving(ctx context.Context, r vnfm.Recorder, ids []string) error {
	text, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	return r.SetNote(ctx, leavingNote, string(text))
}

// Check finds hooks whose management driver is not known, and what a request and the planned
// instance lack for those that are. Common has what is the same for all drivers.
func (d Drivers) Check(common vnfm.HookCheck, problems *vnfm.Problems) {
	request := common.Request
	d.checkUnknown(common.Flavour, request.UnknownDrivers, problems)
	checks := d.checks(common)
	if request.Sink != nil && d[vnfm.CredentialsSender] != nil && checks[vnfm.CredentialsSender] == nil {
		checks[vnfm.CredentialsSender] = d.check(vnfm.CredentialsSender, common)
	}
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		*problems = append(*problems, d[name].Check(checks[name])...)
	}
}

// CheckOperation finds what a request lacks for the management drivers that are called around an operation, and for no others.
func (d Drivers) CheckOperation(o *Operation, common vnfm.HookCheck) vnfm.Problems {
	called := map[string]bool{}
	for _, b := range slices.Concat(d.At(o, false), d.At(o, true)) {
		called[b.Name] = true
	}
	var problems vnfm.Problems
	checks := d.checks(common)
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		if called[name] {
			problems = append(problems, d[name].Check(checks[name])...)
		}
	}
	return problems
}

// CheckHosts has the management drivers of a flavour look at the user's hosts that they work on.
func (d Drivers) CheckHosts(ctx context.Context, common vnfm.HostCheck, params map[string]any) (vnfm.Problems, error) {
	var problems vnfm.Problems
	asked := map[string]bool{}
	for _, b := range d.All(common.Flavour) {
		checker, ok := b.Driver.(vnfm.HostChecker)
		if !ok || asked[b.Name] {
			continue
		}
		asked[b.Name] = true
		own := common
		own.Params = ownParams(checker, params)
		found, err := checker.CheckHosts(ctx, &own)
		if err != nil {
			return problems, fmt.Errorf("management driver %q: %w", b.Name, err)
		}
		problems = append(problems, found...)
	}
	return problems, nil
}

// checks are what the drivers that the flavour names are to check, by their names.
func (d Drivers) checks(common vnfm.HookCheck) map[string]*vnfm.HookCheck {
	out := map[string]*vnfm.HookCheck{}
	for _, b := range d.All(common.Flavour) {
		if out[b.Name] == nil {
			out[b.Name] = d.check(b.Name, common)
		}
		out[b.Name].Hooks = append(out[b.Name].Hooks, b.Hook)
	}
	return out
}

// check is what one driver is to check.
func (d Drivers) check(name string, common vnfm.HookCheck) *vnfm.HookCheck {
	common.Params = ownParams(d[name], common.Request.Management)
	common.Later = common.Request.SecretsLater || len(common.Request.ParamsLater) > 0
	return &common
}
