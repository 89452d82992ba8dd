package lcm

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	attributeParams       = "additional_params"
	attributeSecretParams = "additional_params_wo"
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
// flavour names, with the secret ones laid over them, and the rest, which is for the infra
// driver.
func (e *Engine) splitParams(f *vnfm.Flavour, spec *vnfm.InstanceSpec, problems *vnfm.Problems) {
	taken := map[string]bool{}
	for _, h := range e.hooksOf(f) {
		for _, name := range h.driver.Params() {
			taken[name] = true
		}
	}
	infra, management := map[string]any{}, map[string]any{}
	for name, value := range spec.AdditionalParams {
		if taken[name] {
			management[name] = value
		} else {
			infra[name] = value
		}
	}
	if shown := secretsIn(management, ""); len(shown) > 0 {
		*problems = append(*problems, vnfm.Problem{
			Severity: vnfm.SeverityWarning, Attribute: attributeParams,
			Summary: "additional_params shows secrets: " + strings.Join(shown, ", "),
			Detail:  "plan and state have them in clear; give them in additional_params_wo, which is laid over additional_params and reaches neither",
		})
	}
	for _, name := range slices.Sorted(maps.Keys(spec.SecretParams)) {
		if !taken[name] {
			*problems = append(*problems, vnfm.Problem{
				Attribute: attributeSecretParams, Key: name, Summary: "nothing takes the secret parameter " + quote(name),
				Detail: "additional_params_wo is for the management drivers that the VNFD names, which take " + listOf(slices.Sorted(maps.Keys(taken))),
			})
		}
	}
	spec.Management = merged(management, spec.SecretParams)
	if len(management) > 0 {
		spec.AdditionalParams = infra
	}
}

// merged lays values over others: objects key by key, all else as a whole.
func merged(below, above map[string]any) map[string]any {
	out := maps.Clone(below)
	if out == nil {
		out = map[string]any{}
	}
	for key, value := range above {
		under, isMap := out[key].(map[string]any)
		if over, ok := value.(map[string]any); ok && isMap {
			out[key] = merged(under, over)
			continue
		}
		out[key] = value
	}
	return out
}

// secretsIn are the paths of values that go by the name of a secret.
func secretsIn(value any, at string) []string {
	var out []string
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			out = append(out, secretsIn(value[key], strings.TrimPrefix(at+"."+key, "."))...)
		}
	case []any:
		for n, item := range value {
			out = append(out, secretsIn(item, fmt.Sprintf("%s.%d", at, n))...)
		}
	case string:
		name := at[strings.LastIndexByte(at, '.')+1:]
		if value != "" && slices.ContainsFunc([]string{"password", "passphrase", "private_key"}, func(word string) bool { return strings.HasSuffix(name, word) }) {
			out = append(out, at)
		}
	}
	return out
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
	mac := hmac.New(sha256.New, key)
	mac.Write(raw)
	return "hmac-sha256:" + hex.EncodeToString(mac.Sum(nil))
}

// sealedParams is the sealed value of an instance that holds the parameters of its
// management drivers: a termination has no request to read them from.
const sealedParams = "management_params"

// sealParams puts the parameters of management drivers into a record that is about to be
// written.
func (e *Engine) sealParams(ctx context.Context, en *entry[vnfm.Instance], params map[string]any) error {
	if len(params) == 0 {
		en.rec.Sealed = nil
		return nil
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	if err := e.sealInstance(ctx, en, map[string]string{sealedParams: string(raw)}); err != nil {
		return fmt.Errorf("sealing the additional parameters of VNF instance %q: %w", en.value.Name, err)
	}
	return nil
}

// openParams reads them back.
func (e *Engine) openParams(ctx context.Context, en *entry[vnfm.Instance]) (map[string]any, error) {
	if len(en.rec.Sealed) == 0 {
		return nil, nil
	}
	plain, err := e.openInstance(ctx, en)
	if err != nil {
		return nil, edited(err, fmt.Sprintf("opening the additional parameters of VNF instance %q", en.value.Name), "apply the instance first, and terminate it then")
	}
	var out map[string]any
	if err := json.Unmarshal([]byte(plain[sealedParams]), &out); err != nil {
		return nil, fmt.Errorf("reading the additional parameters of VNF instance %q: %w", en.value.Name, err)
	}
	return out, nil
}
