package lcm

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// normalise gives parameters the shape that they have after a round trip through
// a record, where every number is a float64.
func normalise(params map[string]any) map[string]any {
	raw, err := json.Marshal(params)
	if err != nil {
		return params
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		return params
	}
	return out
}

// splitParams parts the parameters of a request: those of the management drivers that its
// flavour names, with the secret ones merged over them, and the rest, which is for the infra
// driver.
func (e *Engine) splitParams(f *vnfm.Flavour, spec *vnfm.InstanceSpec) {
	taken := e.management().Params(f)
	parted := func(params map[string]any) (infra, management map[string]any) {
		infra, management = map[string]any{}, map[string]any{}
		for name, value := range params {
			if taken[name] {
				management[name] = value
			} else {
				infra[name] = value
			}
		}
		return infra, management
	}
	infra, management := parted(spec.AdditionalParams)
	secrets, managementSecrets := parted(spec.SecretParams)
	spec.Management, spec.InfraSecrets = vnfm.MergeDeep(management, managementSecrets), secrets
	if len(management) > 0 {
		spec.AdditionalParams = infra
	}
}

// withRunParams completes the parameters of management drivers that a recovered record has, which lack those that were write-only, with
// what this run brings. What the record has wins. They are sealed in no record.
func (e *Engine) withRunParams(ctx context.Context, i *vnfm.Instance, recorded map[string]any) map[string]any {
	given := e.cfg.Params.Find(i.ID, i.Name)
	if len(given) == 0 {
		return recorded
	}
	vnfm.Conceal(ctx, vnfm.Unshown(vnfm.TextsIn(given), recorded)...)
	return vnfm.MergeDeep(given, recorded)
}

// infraLater reports whether something of the parameters of the infra driver is known only
// later, of a specification whose parameters are parted.
func infraLater(spec *vnfm.InstanceSpec) bool {
	among := func(params map[string]any) func(string) bool {
		return func(name string) bool { _, ok := params[name]; return ok }
	}
	return slices.ContainsFunc(spec.ParamsLater, among(spec.AdditionalParams)) || slices.ContainsFunc(spec.SecretNamesLater, among(spec.InfraSecrets)) ||
		spec.SecretsLater && len(spec.SecretNamesLater) == 0
}

// warnShown warns of secrets among parameters that everybody may read: those that go by the
// name of one, and those that the package declares.
func warnShown(params map[string]any, declared []string, problems *vnfm.Problems) {
	shown := slices.Clone(declared)
	for name, value := range params {
		shown = append(shown, vnfm.ShownSecrets(name, value)...)
	}
	if len(shown) == 0 {
		return
	}
	slices.Sort(shown)
	*problems = append(*problems, vnfm.Problem{
		Severity: vnfm.SeverityWarning, Attribute: vnfm.AttributeParams,
		Summary: "additional_params shows secrets: " + strings.Join(slices.Compact(shown), ", "),
		Detail:  "plan and state hold them in clear; give them in additional_params_wo, which is merged over additional_params and reaches neither",
	})
}

// paramsDigest is a keyed digest of parameters; empty when there are none.
func paramsDigest(key []byte, params map[string]any) string {
	if len(params) == 0 {
		return ""
	}
	// Maps are encoded in the order of their keys.
	raw, err := json.Marshal(params)
	if err != nil {
		return ""
	}
	return "hmac-sha256:" + digest.Keyed(key, raw)
}

// The sealed values of an instance: the parameters of its management drivers and the secret
// ones of its infra driver. A refresh and a termination have no request to read them from.
const (
	sealedParams  = "management_params"
	sealedSecrets = "secret_params"
)

// sealed are the parameters that a record holds sealed.
type sealed struct{ management, secrets map[string]any }

// sealParams puts parameters into a record that is about to be written.
func (e *Engine) sealParams(ctx context.Context, en *records.Entry[vnfm.Instance], params sealed) error {
	en.Value.SecretParams = len(params.secrets) > 0
	plain := map[string]string{}
	for name, values := range map[string]map[string]any{sealedParams: params.management, sealedSecrets: params.secrets} {
		if len(values) == 0 {
			continue
		}
		raw, err := json.Marshal(values)
		if err != nil {
			return err
		}
		plain[name] = string(raw)
	}
	if len(plain) == 0 {
		en.Rec.Sealed = nil
		return nil
	}
	if err := e.sealInstance(ctx, en, plain); err != nil {
		return fmt.Errorf("sealing the additional parameters of VNF instance %q: %w", en.Value.Name, err)
	}
	return nil
}

// openParams reads them back.
func (e *Engine) openParams(ctx context.Context, en *records.Entry[vnfm.Instance]) (sealed, error) {
	var out sealed
	if len(en.Rec.Sealed) == 0 {
		return out, nil
	}
	plain, err := e.openInstance(ctx, en)
	if err != nil {
		return out, records.EditedError(err, vnfm.EditedInstance, fmt.Sprintf("opening the additional parameters of VNF instance %q", en.Value.Name))
	}
	for name, into := range map[string]*map[string]any{sealedParams: &out.management, sealedSecrets: &out.secrets} {
		if plain[name] == "" {
			continue
		}
		if err := json.Unmarshal([]byte(plain[name]), into); err != nil {
			return sealed{}, fmt.Errorf("reading the additional parameters of VNF instance %q: %w", en.Value.Name, err)
		}
	}
	return out, nil
}

// recordedSpec reads the spec back out of a record, with what its infra driver needs of the
// sealed parameters.
func (e *Engine) recordedSpec(ctx context.Context, en *records.Entry[vnfm.Instance]) (vnfm.InstanceSpec, error) {
	spec := specOf(&en.Value)
	if !en.Value.SecretParams {
		return spec, nil
	}
	params, err := e.openParams(ctx, en)
	spec.InfraSecrets = params.secrets
	return spec, err
}
