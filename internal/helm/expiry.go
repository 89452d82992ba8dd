package helm

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// warnUnselected reports a regeneration that no result of the chart is made again by.
func (k *calls) warnUnselected(ps *vnfm.Problems) {
	if k.options.Regenerate == nil || k.selected || (k.hides() && k.looked) {
		return
	}
	*ps = append(*ps, vnfm.Problem{
		Severity: vnfm.SeverityWarning, Attribute: "regenerate",
		Summary: "regenerate names no result of the chart that can be made again",
		Detail:  "the functions that the chart calls are " + vnfm.QuotedNames(k.called()),
	})
}

// expiryNotice is how long before its end a certificate is reported, unless a fifth of its
// life is less.
const expiryNotice = 30 * 24 * time.Hour

// warnExpiry reports remembered certificates that end soon: they are not made again by
// themselves.
func (c *Chart) warnExpiry(k *calls, ps *vnfm.Problems) {
	for _, key := range sortedKeys(k.used) {
		call := k.used[key]
		if k.fresh[key] || !strings.HasPrefix(call.Function, "gen") {
			continue
		}
		made := struct {
			Cert string `json:"Cert"`
		}{}
		if json.Unmarshal(call.Value, &made) != nil {
			continue
		}
		block, _ := pem.Decode([]byte(made.Cert))
		if block == nil {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			continue
		}
		left, notice := cert.NotAfter.Sub(k.clock), min(expiryNotice, cert.NotAfter.Sub(cert.NotBefore)/5)
		if left > notice {
			continue
		}
		expires := "expires"
		if left < 0 {
			expires = "has expired"
		}
		*ps = append(*ps, vnfm.Problem{
			Severity: vnfm.SeverityWarning, File: c.place(call.File),
			Summary: fmt.Sprintf("the certificate of %q that %s made %s on %s", cert.Subject.CommonName, call.Function, expires, cert.NotAfter.UTC().Format(time.DateOnly)),
			Detail:  "results of functions stay; set regenerate with a new trigger to have it made again",
		})
	}
}
