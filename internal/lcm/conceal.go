package lcm

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// withSecretsOf returns a context that keeps the secrets of a request. Those of its
// VIMs, and of what is made for it, become known on the way.
func withSecretsOf(ctx context.Context, spec *vnfm.InstanceSpec) context.Context {
	texts := vnfm.Unshown(vnfm.TextsIn(spec.SecretParams), spec.AdditionalParams)
	named := vnfm.Unshown(vnfm.NamedSecrets(spec.AdditionalParams), spec.AdditionalParams)
	ctx = context.WithValue(vnfm.WithConcealed(ctx), requestKey{}, texts)
	vnfm.Conceal(ctx, append(named, texts...)...)
	if spec.Sink != nil {
		for _, value := range spec.Sink.Headers {
			text := value.Reveal()
			vnfm.Conceal(ctx, text)
			// A scheme such as Bearer is not a secret, and what follows it may stand alone.
			if _, rest, ok := strings.Cut(text, " "); ok {
				vnfm.Conceal(ctx, rest)
			}
		}
	}
	return ctx
}

type requestKey struct{}

// sealedTexts is the sealed value of an instance that holds the texts which the request called
// secret: a termination has no request to know them from.
const sealedTexts = "secret_texts"

// sealTexts adds the secret texts of the request to values that are about to be sealed.
func sealTexts(ctx context.Context, plain map[string]string) error {
	texts, ok := ctx.Value(requestKey{}).([]string)
	if !ok {
		return nil
	}
	raw, err := json.Marshal(texts)
	plain[sealedTexts] = string(raw)
	return err
}

// concealSealed makes what was sealed known: what the request called secret, and what goes by
// the name of a secret.
func concealSealed(ctx context.Context, plain map[string]string) {
	for _, text := range plain {
		var value any
		if json.Unmarshal([]byte(text), &value) == nil {
			vnfm.Conceal(ctx, vnfm.Unshown(vnfm.NamedSecrets(value), value)...)
		}
	}
	var texts []string
	if json.Unmarshal([]byte(plain[sealedTexts]), &texts) == nil {
		vnfm.Conceal(ctx, texts...)
	}
}

// instanceDestination is where the parameters of management drivers go: the servers of an
// instance that are on its VIM and have these keys.
func instanceDestination(i *vnfm.Instance) (seal.Destination, error) {
	return seal.DestinationOf(map[string]any{"vim_id": i.VIMID, "host_keys": i.HostKeys})
}

// sealInstance seals secrets of an instance for its destination.
func (e *Engine) sealInstance(ctx context.Context, en *records.Entry[vnfm.Instance], plain map[string]string) error {
	s, err := e.store(ctx)
	if err != nil {
		return err
	}
	to, err := instanceDestination(&en.Value)
	if err != nil {
		return err
	}
	if err := sealTexts(ctx, plain); err != nil {
		return err
	}
	en.Rec.Sealed, err = s.SealFor(ctx, en.Rec.ID, to, plain)
	return err
}

// openInstance opens what sealInstance sealed.
func (e *Engine) openInstance(ctx context.Context, en *records.Entry[vnfm.Instance]) (map[string]string, error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, err
	}
	to, err := instanceDestination(&en.Value)
	if err != nil {
		return nil, err
	}
	plain, err := s.OpenFor(ctx, en.Rec.ID, to, en.Rec.Sealed)
	concealSealed(ctx, plain)
	return plain, err
}

// checkInstance returns an error, once, for a record whose host keys were edited, and removes
// the keys. This gives an editor of the store no more power than deleting them.
func (e *Engine) checkInstance(ctx context.Context, s store.Store, en *records.Entry[vnfm.Instance]) error {
	if len(en.Rec.Sealed) == 0 {
		return nil
	}
	_, err := e.openInstance(ctx, en)
	if _, ok := errors.AsType[*seal.EditedError](err); !ok {
		// The request has the secrets that cannot be opened.
		return nil
	}
	refused := records.EditedError(err, vnfm.EditedHostKeys, fmt.Sprintf("opening the additional parameters of VNF instance %q", en.Value.Name))
	en.Value.HostKeys, en.Rec.Sealed = nil, nil
	return errors.Join(refused, saveInstance(ctx, s, en))
}

// The sealed values of an instance: the parameters of its management drivers and the secret ones of its infra driver, since a refresh
// and a termination have no request to read them from, and its results, in base64.
const (
	sealedParams  = "management_params"
	sealedSecrets = "secret_params"
	sealedResults = "results"
)

// sealed are the parameters that a record holds sealed.
type sealed struct{ management, secrets map[string]any }

// sealParams puts parameters into a record that is about to be written.
func (e *Engine) sealParams(ctx context.Context, en *records.Entry[vnfm.Instance], params sealed) error {
	en.Value.SecretParams = len(params.secrets) > 0
	plain := map[string]string{}
	addResults(&en.Value, plain)
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

// addResults adds the results of an instance to the values that are about to be sealed.
func addResults(i *vnfm.Instance, plain map[string]string) {
	if i.Results == nil {
		return
	}
	data := i.Results.Data()
	if i.HasResults = len(data) > 0; i.HasResults {
		plain[sealedResults] = base64.StdEncoding.EncodeToString(data)
	}
}

// openParams reads what sealParams has put there, the results into the instance.
func (e *Engine) openParams(ctx context.Context, en *records.Entry[vnfm.Instance]) (sealed, error) {
	var out sealed
	if len(en.Rec.Sealed) == 0 {
		return out, nil
	}
	plain, err := e.openInstance(ctx, en)
	if err != nil {
		return out, records.EditedError(err, vnfm.EditedInstance, fmt.Sprintf("opening the additional parameters of VNF instance %q", en.Value.Name))
	}
	takeResults(&en.Value, plain)
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

// takeResults gives an instance the results among its opened values.
func takeResults(i *vnfm.Instance, plain map[string]string) {
	data, err := base64.StdEncoding.DecodeString(plain[sealedResults])
	if i.Results == nil && err == nil && (len(data) > 0 || !i.HasResults) {
		i.Results = vnfm.NewResults(data)
	}
}
