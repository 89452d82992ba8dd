package instance_test

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/stretchr/testify/require"
)

// loginTemplate has a password that stays when the Secret is there, and a certificate of a CA.
const loginTemplate = `{{- $name := printf "%s-login" .Release.Name }}
{{- $old := lookup "v1" "Secret" .Release.Namespace $name }}
apiVersion: v1
kind: Secret
metadata: { name: {{ $name }} }
type: Opaque
data:
  {{- if $old }}
  password: {{ index $old.data "password" }}
  {{- else }}
  password: {{ randAlphaNum 20 | b64enc | quote }}
  {{- end }}
---
{{- $ca := genCA "ims-ca" 3650 }}
{{- $host := printf "%s-cscf.%s.svc" .Release.Name .Release.Namespace }}
{{- $cert := genSignedCert $host nil (list $host) 365 $ca }}
apiVersion: v1
kind: Secret
metadata: { name: {{ .Release.Name }}-tls }
type: kubernetes.io/tls
data: { tls.crt: {{ $cert.Cert | b64enc }}, tls.key: {{ $cert.Key | b64enc }}, ca.crt: {{ $ca.Cert | b64enc }} }
`

// rolled are annotations of the pods that charts restart them with.
const rolled = `    metadata:
      annotations:
        checksum/login: {{ include (print $.Template.BasePath "/login.yaml") . | sha256sum }}
        roll: {{ randAlphaNum 5 | quote }}
        at: {{ now | unixEpoch | quote }}
      labels:
        app.kubernetes.io/instance: {{ .Release.Name }}
        app.kubernetes.io/component: cscf
`

// random are the contents that random functions of the chart have given, by what they are.
func (env *testEnv) random() map[string]string {
	env.Helper()
	secret := func(name, field string) string {
		text, err := base64.StdEncoding.DecodeString(env.kubectl("get", "secret", name, "-o", "jsonpath={.data."+field+"}"))
		require.NoError(env, err)
		return string(text)
	}
	annotations := env.kubectl("get", "deployment", "test-cscf", "-o", "jsonpath={.spec.template.metadata.annotations}")
	return map[string]string{
		"password": secret("test-login", "password"), "ca": secret("test-tls", `ca\.crt`), "cert": secret("test-tls", `tls\.crt`), "roll": annotations,
	}
}

// TestAccInstance_helmRandom leads a chart with a password, a certificate of its own CA, and
// annotations that are to roll with every upgrade through its life.
func TestAccInstance_helmRandom(t *testing.T) {
	env := newEnv(t)
	edits := []edit{
		chartFile("templates/login.yaml", loginTemplate),
		inChart("templates/cscf.yaml", "    metadata:\n      labels:\n        app.kubernetes.io/instance: {{ .Release.Name }}\n        app.kubernetes.io/component: cscf\n", rolled),
	}
	first := ims(t, edits...)
	second := ims(t, append(edits, chartFile("templates/token.yaml", "apiVersion: v1\nkind: Secret\nmetadata: { name: {{ .Release.Name }}-token }\nstringData: { token: {{ uuidv4 }} }\n"))...)
	var before map[string]string
	// changed checks which of the contents are others, and that the certificate is one of the CA.
	changed := func(want ...string) resource.TestCheckFunc {
		return func(*terraform.State) error {
			now := env.random()
			roots := x509.NewCertPool()
			roots.AppendCertsFromPEM([]byte(now["ca"]))
			block, _ := pem.Decode([]byte(now["cert"]))
			cert, err := x509.ParseCertificate(block.Bytes)
			if err == nil {
				_, err = cert.Verify(x509.VerifyOptions{Roots: roots, DNSName: "test-cscf." + env.namespace + ".svc"})
			}
			if err != nil {
				return err
			}
			for name, text := range now {
				if differs := before != nil && before[name] != text; differs != strings.Contains(strings.Join(want, " "), name) {
					return fmt.Errorf("%s changed: %t", name, differs)
				}
			}
			before = now
			return nil
		}
	}
	const regenerate = `regenerate = { trigger = "1", functions = ["genCA"] }`
	env.run(t,
		resource.TestStep{
			Config:            env.configFor(first),
			ConfigPlanChecks:  resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plansObjects(10)}},
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check:             allChecks(env.checkBackend(9), env.history("1 deployed"), changed()),
		},
		resource.TestStep{
			Config: env.configFor(second),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectKnownValue(address, tfjsonpath.New("changes").AtMapKey("added"), lines([]string{"v1/Secret test-token"})),
			}},
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check:             allChecks(env.history("1 superseded", "2 deployed"), changed("roll")),
		},
		after(env.clearStore, checked(env.configFor(second), planned(plancheck.ResourceActionNoop), allChecks(env.history("1 superseded", "2 deployed"), changed()))),
		applied(env.configFor(second, regenerate), allChecks(env.history("1 superseded", "2 superseded", "3 deployed"), changed("ca cert roll"))),
	)
}
