package lcm

import (
	"context"
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

// hook runs the management drivers of one hook of an operation: the one that the VNFD
// names for it and, when the user gave a sink for credentials, at every end the one
// that serves it.
func (e *Engine) hook(ctx context.Context, op *operation, f *vnfm.Flavour, request vnfm.InstanceSpec, end bool) error {
	name := hookNames[op.kind()] + hookStart
	if end {
		name = hookNames[op.kind()] + hookEnd
	}
	var drivers []string
	if f != nil && f.Operations[name].Artifact != "" {
		drivers = append(drivers, f.Operations[name].Artifact)
	}
	if end && request.Sink != nil && !slices.Contains(drivers, vnfm.CredentialsSender) {
		drivers = append(drivers, vnfm.CredentialsSender)
	}
	if len(drivers) == 0 {
		return nil
	}
	key, err := e.digestKey(ctx)
	if err != nil {
		return err
	}
	for _, artifact := range drivers {
		d, ok := e.cfg.Management[artifact]
		if !ok {
			return fmt.Errorf("hook %s: there is no management driver %q", name, artifact)
		}
		err := d.Run(ctx, &vnfm.HookCall{
			Operation: op.kind(), End: end, Instance: &op.instance.value, Request: &request, DigestKey: key, Recorder: op,
			Kubeconfig: func(ctx context.Context, ref vnfm.ClusterRef) (*vnfm.Kubeconfig, error) {
				return e.WorkloadKubeconfig(ctx, ref, vnfm.KubeconfigSpec{})
			},
		})
		if err != nil {
			return fmt.Errorf("management driver %q at hook %s: %w", artifact, name, err)
		}
	}
	return nil
}

// checkHooks finds hooks whose management driver is not known, and what a request
// and the planned instance lack for those that are.
func (e *Engine) checkHooks(f *vnfm.Flavour, request *vnfm.InstanceSpec, planned *vnfm.Preview, problems *vnfm.Problems) {
	needed := map[string]bool{}
	for _, hook := range slices.Sorted(maps.Keys(f.Operations)) {
		artifact := f.Operations[hook].Artifact
		if artifact == "" || (!strings.HasSuffix(hook, hookStart) && !strings.HasSuffix(hook, hookEnd)) {
			continue
		}
		if _, ok := e.cfg.Management[artifact]; !ok {
			*problems = append(*problems, vnfm.Problem{
				Summary: "the VNFD names the management driver " + quote(artifact) + " for hook " + hook + ", which is not known",
				Detail:  "scripts of a package are not run; the management drivers that are built in are " + listOf(slices.Sorted(maps.Keys(e.cfg.Management))),
			})
			continue
		}
		needed[artifact] = true
	}
	if request.Sink != nil {
		needed[vnfm.CredentialsSender] = true
	}
	for _, artifact := range slices.Sorted(maps.Keys(needed)) {
		if d, ok := e.cfg.Management[artifact]; ok {
			*problems = append(*problems, d.Check(request, planned)...)
		}
	}
}

// deliver sends credentials to a sink that is new or another one; all other reasons to
// send are the ends of operations.
func (u *update) deliver(ctx context.Context) error {
	i, sink := &u.instance.value, u.spec.Sink
	if sink == nil {
		return nil
	}
	waits := i.Cluster != nil && i.Cluster.Paused
	moved := len(i.Deliveries) == 0 && !waits
	for _, d := range i.Deliveries {
		moved = moved || d.URL != sink.URL
	}
	if !moved {
		return nil
	}
	return u.operation(ctx, vnfm.OpModifyInfo, map[string]any{"credentials_sink": sink.URL}, func(context.Context, *operation) error { return nil })
}
