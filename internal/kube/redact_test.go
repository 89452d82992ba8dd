package kube

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Values of fields that hold secrets are in no error, wherever the server quotes them; other
// values stay.
func TestQuotedValuesOfSecretFields(t *testing.T) {
	t.Parallel()
	const planted = "planted-secret"
	for name, tc := range map[string]struct {
		message string
		causes  []metav1.StatusCause
		want    string
	}{
		"data of a Secret that somebody else applies": {
			message: `Secret "x" is invalid: data[.dockerconfigjson]: Invalid value: "planted-secret": invalid character`,
			want:    `Secret "x" is invalid: data[.dockerconfigjson]: Invalid value: (sensitive): invalid character`,
		},
		"data by any name": {
			message: `admission webhook "v" denied the request: Secret "x" is invalid: data[user]: Invalid value: "planted-secret": no`,
			want:    `admission webhook "v" denied the request: Secret "x" is invalid: data[user]: Invalid value: (sensitive): no`,
		},
		"data of a ConfigMap": {
			message: `ConfigMap "x" is invalid: data[a b]: Invalid value: "a b": no`,
			want:    `ConfigMap "x" is invalid: data[a b]: Invalid value: "a b": no`,
		},
		"stringData": {
			message: `Secret "x" is invalid: stringData[a]: Invalid value: "planted-secret": no`,
			want:    `Secret "x" is invalid: stringData[a]: Invalid value: (sensitive): no`,
		},
		"environment": {
			message: `Deployment.apps "a" is invalid: spec.template.spec.containers[0].env[0].value: Invalid value: "planted-secret": no`,
			want:    `Deployment.apps "a" is invalid: spec.template.spec.containers[0].env[0].value: Invalid value: (sensitive): no`,
		},
		"environment of another type": {
			message: `failed to create typed patch object (ns/a; apps/v1, Kind=Deployment): .spec.template.spec.containers[name="a"].env[name="PW"].value: expected string, got &value.valueUnstructured{Value:1234567890}`,
			want:    `failed to create typed patch object (ns/a; apps/v1, Kind=Deployment): .spec.template.spec.containers[name="a"].env[name="PW"].value: expected string, got (sensitive)`,
		},
		"the same variable twice": {
			message: `Pod "a" is invalid: spec.containers[0].env[1]: Duplicate value: {"name":"PW","value":"planted-secret"}`,
			want:    `Pod "a" is invalid: spec.containers[0].env[1]: Duplicate value: (sensitive)`,
		},
		"cause and text": {
			message: `KubeadmConfig.bootstrap.cluster.x-k8s.io "k" is invalid: [spec.users[0].passwd: Invalid value: "planted-secret": no, spec.files[0].content: Invalid value: "planted \"secret": no, spec.format: Unsupported value: "x": supported values: "cloud-config"]`,
			causes: []metav1.StatusCause{
				{Field: "spec.users[0].passwd", Message: `Invalid value: "planted-secret": no`},
				{Field: "spec.files[0].content", Message: `Invalid value: "planted \"secret": no`},
				{Field: "spec.format", Message: `Unsupported value: "x": supported values: "cloud-config"`},
			},
			want: `KubeadmConfig.bootstrap.cluster.x-k8s.io "k" is invalid: [spec.users[0].passwd: Invalid value: (sensitive): no, spec.files[0].content: Invalid value: (sensitive): no, spec.format: Unsupported value: "x": supported values: "cloud-config"]`,
		},
		"an object before a secret": {
			message: `X "k" is invalid: [spec.a: Invalid value: {"b":"c"}: no, spec.bootstrapToken.token: Invalid value: "planted-secret": no, spec.z: Invalid value: {}: no]`,
			want:    `X "k" is invalid: [spec.a: Invalid value: {"b":"c"}: no, spec.bootstrapToken.token: Invalid value: (sensitive): no, spec.z: Invalid value: {}: no]`,
		},
		"an object with a secret": {
			message: `X "k" is invalid: spec.login: Invalid value: {"user":"a","adminPassword":"planted-secret"}: no`,
			want:    `X "k" is invalid: spec.login: Invalid value: (sensitive): no`,
		},
		"a denial": {
			message: `admission webhook "v.example.org" denied the request: spec.kubeconfig: Invalid value: "planted-secret": no`,
			want:    `admission webhook "v.example.org" denied the request: spec.kubeconfig: Invalid value: (sensitive): no`,
		},
		"a key of any name": {
			message: `X "k" is invalid: spec.tls.key: Invalid value: "-----BEGIN RSA PRIVATE KEY-----\nplanted-secret": no`,
			want:    `X "k" is invalid: spec.tls.key: Invalid value: (sensitive): no`,
		},
		"no secret": {
			message: `Deployment.apps "a" is invalid: [spec.replicas: Invalid value: -1: must be positive, spec.template.spec.containers[0].env[0].valueFrom.secretKeyRef.key: Invalid value: "a b": no, spec.template.spec.imagePullSecrets[0].name: Invalid value: "A": no, spec.topologyKey: Invalid value: "x y": no]`,
			want:    `Deployment.apps "a" is invalid: [spec.replicas: Invalid value: -1: must be positive, spec.template.spec.containers[0].env[0].valueFrom.secretKeyRef.key: Invalid value: "a b": no, spec.template.spec.imagePullSecrets[0].name: Invalid value: "A": no, spec.topologyKey: Invalid value: "x y": no]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, err := json.Marshal(metav1.Status{
				TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Reason: metav1.StatusReasonInvalid, Message: tc.message,
				Details: &metav1.StatusDetails{Causes: tc.causes},
			})
			require.NoError(t, err)
			got := newServerError(&http.Response{StatusCode: http.StatusUnprocessableEntity, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(""))}, body, request{})
			assert.Equal(t, tc.want, got.Error(), "got  %s", got)
			for i, cause := range got.ErrStatus.Details.Causes {
				assert.NotContains(t, cause.Message, "planted", "cause %d says", i)
			}
			assert.NotContains(t, got.Error(), planted, "the secret is in the error")
		})
	}
}
