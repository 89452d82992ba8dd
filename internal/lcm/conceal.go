package lcm

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// withSecretsOf returns a context that keeps the secrets of a request. Those of its
// VIMs, and of what is made for it, become known on the way.
func withSecretsOf(ctx context.Context, spec *vnfm.InstanceSpec) context.Context {
	texts := vnfm.Unshown(vnfm.TextsIn(spec.SecretParams), spec.AdditionalParams)
	ctx = context.WithValue(vnfm.WithConcealed(ctx), requestKey{}, texts)
	vnfm.Conceal(ctx, texts...)
	vnfm.Conceal(ctx, vnfm.Unshown(vnfm.NamedSecrets(spec.AdditionalParams), spec.AdditionalParams)...)
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
