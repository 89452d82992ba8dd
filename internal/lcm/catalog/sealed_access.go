package catalog

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// access is vnfm.ChartAccess as it is sealed: a Secret never writes itself.
type access struct {
	Username              string            `json:"username,omitempty"`
	Password              string            `json:"password,omitempty"`
	Token                 string            `json:"token,omitempty"`
	Headers               map[string]string `json:"headers,omitempty"`
	CACertificate         string            `json:"ca_certificate,omitempty"`
	InsecureSkipTLSVerify bool              `json:"insecure_skip_tls_verify,omitempty"`
	PlainHTTP             bool              `json:"plain_http,omitempty"`
}

// addAccess adds how one gets into a source to what is sealed; nil is nothing.
func addAccess(plain map[string]string, a *vnfm.ChartAccess) error {
	if a == nil || reflect.ValueOf(*a).IsZero() {
		return nil
	}
	out := access{
		Username: a.Username, Password: a.Password.Reveal(), Token: a.Token.Reveal(), CACertificate: a.CACertificate,
		InsecureSkipTLSVerify: a.InsecureSkipTLSVerify, PlainHTTP: a.PlainHTTP,
	}
	for name, value := range a.Headers {
		if out.Headers == nil {
			out.Headers = map[string]string{}
		}
		out.Headers[name] = value.Reveal()
	}
	text, err := json.Marshal(out) //nolint:gosec // it is sealed
	plain[sealedAccess] = string(text)
	return err
}

// readAccess is what addAccess has added.
func readAccess(text string) (*vnfm.ChartAccess, error) {
	if text == "" {
		return nil, nil
	}
	var in access
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		return nil, err
	}
	a := &vnfm.ChartAccess{
		Username: in.Username, Password: vnfm.Secret(in.Password), Token: vnfm.Secret(in.Token), CACertificate: in.CACertificate,
		InsecureSkipTLSVerify: in.InsecureSkipTLSVerify, PlainHTTP: in.PlainHTTP,
	}
	for name, value := range in.Headers {
		if a.Headers == nil {
			a.Headers = map[string]vnfm.Secret{}
		}
		a.Headers[name] = vnfm.Secret(value)
	}
	return a, nil
}

// renewAccess has the record of a package keep how one gets into its source now; nil leaves it. It is called under Config.WithReferences.
func renewAccess(ctx context.Context, s *seal.Store, id string, now *vnfm.ChartAccess) error {
	if now == nil {
		return nil
	}
	en, err := records.Get[packageRecord](ctx, s, store.KindPackage, id)
	if err != nil {
		return err
	}
	if err := openWorkloads(ctx, s, en); err != nil {
		return err
	}
	before, after := map[string]string{}, map[string]string{}
	if err := addAccess(before, en.Value.access); err != nil {
		return err
	}
	if err := addAccess(after, now); err != nil || reflect.DeepEqual(before, after) {
		return err
	}
	en.Value.access, en.Rec.Sealed = now, nil
	if err := sealWorkloads(ctx, s, en); err != nil {
		return err
	}
	return en.Update(ctx, s)
}
