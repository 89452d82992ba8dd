package lcm

import (
	"context"
	"encoding/base64"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// withSecretsOf returns a context whose Mask knows the secrets of a request. Those of its
// VIMs, and of what is made for it, become known on the way.
func withSecretsOf(ctx context.Context, spec *vnfm.InstanceSpec) context.Context {
	ctx = vnfm.WithMask(ctx)
	vnfm.Conceal(ctx, textsIn(spec.SecretParams)...)
	vnfm.Conceal(ctx, namedSecrets(spec.AdditionalParams)...)
	if spec.Sink != nil {
		for _, value := range spec.Sink.Headers {
			text := value.Reveal()
			vnfm.Conceal(ctx, text)
			// A scheme such as Bearer is no secret, and what follows it may stand alone.
			if _, rest, ok := strings.Cut(text, " "); ok {
				vnfm.Conceal(ctx, rest)
			}
		}
	}
	return ctx
}

// concealCredentials makes credentials known, and the secrets inside those that are files:
// an error quotes a token, not the kubeconfig that it is in.
func concealCredentials(ctx context.Context, credentials vnfm.Credentials) {
	if vnfm.MaskOf(ctx) == nil {
		return
	}
	for name, secret := range credentials {
		text := secret.Reveal()
		vnfm.Conceal(ctx, text)
		if name != vnfm.CredentialKubeconfig && name != vnfm.CredentialCloudsYAML {
			continue
		}
		var file any
		if yaml.Unmarshal([]byte(text), &file) != nil {
			continue
		}
		for _, inner := range namedSecrets(file) {
			vnfm.Conceal(ctx, inner)
			if raw, err := base64.StdEncoding.DecodeString(inner); err == nil {
				vnfm.Conceal(ctx, string(raw))
			}
		}
	}
}

// textsIn are all texts in a value.
func textsIn(value any) []string {
	var out []string
	switch value := value.(type) {
	case map[string]any:
		for _, item := range value {
			out = append(out, textsIn(item)...)
		}
	case []any:
		for _, item := range value {
			out = append(out, textsIn(item)...)
		}
	case string:
		out = append(out, value)
	}
	return out
}

// namedSecrets are the texts in a value that go by the name of a secret.
func namedSecrets(value any) []string {
	var out []string
	switch value := value.(type) {
	case map[string]any:
		for name, item := range value {
			if text, ok := item.(string); ok && vnfm.IsSecretName(name) {
				out = append(out, text)
			}
			out = append(out, namedSecrets(item)...)
		}
	case []any:
		for _, item := range value {
			out = append(out, namedSecrets(item)...)
		}
	}
	return out
}
