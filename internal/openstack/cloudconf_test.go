package openstack

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func TestCloudConf(t *testing.T) {
	t.Parallel()
	at := vnfm.OpenStackConnection{AuthURL: "https://cloud.example:5000/v3", Region: "RegionOne", Interface: "internal", CACertificate: "PEM", InsecureSkipTLSVerify: true}
	assert.Equal(t, `[Global]
application-credential-id="id"
application-credential-secret="a\"b\\c"
auth-url="https://cloud.example:5000/v3"
ca-file="/etc/config/cacert"
os-endpoint-type="internal"
region="RegionOne"
tls-insecure="true"
[LoadBalancer]
lb-provider="ovn"
manage-security-groups="true"
[LoadBalancerClass "inner"]
floating-network-id="net"
`, CloudConf(at, "id", `a"b\c`, map[string]map[string]string{
		"LoadBalancer":              {"manage-security-groups": "true", "lb-provider": "ovn"},
		`LoadBalancerClass "inner"`: {"floating-network-id": "net"},
	}).Reveal())
	assert.Equal(t, `[Global]
application-credential-id="id"
application-credential-secret="secret"
auth-url="https://cloud.example:5000/v3"
ca-file="/etc/ssl/cloud.pem"
`, CloudConf(vnfm.OpenStackConnection{AuthURL: at.AuthURL, CACertificate: "PEM"}, "id", "secret", map[string]map[string]string{"global": {"CA-File": "/etc/ssl/cloud.pem"}}).Reveal())
}

func TestCheckCloudConf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ section, key, value, want string }{
		"good":          {"LoadBalancer", "lb-provider", "ovn", ""},
		"named section": {`LoadBalancerClass "inner"`, "floating-network-id", "x", ""},
		"ca-file":       {"Global", "ca-file", "/x", ""},
		"section":       {"Load]Balancer", "a", "x", `"Load]Balancer" is not a section of cloud.conf: letters, digits and '-', for example LoadBalancer or LoadBalancerClass "internal"`},
		"no section":    {"", "a", "x", `"" is not a section of cloud.conf: letters, digits and '-', for example LoadBalancer or LoadBalancerClass "internal"`},
		"key":           {"Networking", "a=b", "x", `"a=b" is not a key of cloud.conf: letters, digits and '-', for example lb-provider`},
		"credentials":   {"global", "Application-Credential-Secret", "x", "Application-Credential-Secret of section Global follows from the VIM and its application credential"},
		"password":      {"Global", "password", "x", "password of section Global follows from the VIM and its application credential"},
		"two lines":     {"Networking", "a", "x\n[Global]\nauth-url=evil", "a value of cloud.conf is one line"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, CheckCloudConf(c.section, c.key, c.value))
		})
	}
}
