package helm

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// secretsTemplate generates a password, which other objects have in other forms, a CA with its certificate, a password that stays when it
// is found, and one that no object shows.
const secretsTemplate = `{{- $password := randAlphaNum 20 }}
{{- $ca := genCA "ca" 365 }}
{{- $cert := genSignedCert "amf" nil (list "amf.ran.svc") 365 $ca }}
{{- $old := (lookup "v1" "Secret" .Release.Namespace "kept").data | default dict }}
apiVersion: v1
kind: Secret
metadata: { name: core, annotations: { roll: {{ randAlphaNum 5 | quote }} } }
data:
  password: {{ $password | b64enc }}
  url: {{ printf "amqp://amf:%s@queue" $password | b64enc }}
  digest: {{ $password | sha256sum | b64enc }}
  hidden: {{ randAlphaNum 9 | sha256sum | b64enc }}
  ca.crt: {{ $ca.Cert | b64enc }}
  ca.key: {{ $ca.Key | b64enc }}
---
apiVersion: v1
kind: Secret
metadata: { name: tls }
stringData:
  tls.crt: |
    {{- $cert.Cert | nindent 4 }}
  tls.key: {{ $cert.Key | quote }}
---
apiVersion: v1
kind: Secret
metadata: { name: kept }
data: { password: {{ index $old "password" | default (randAlphaNum 12 | b64enc) }} }
`

// TestSeeds: what the record of a release shows of its generated texts is not made again, and the rest is named.
func TestSeeds(t *testing.T) {
	files := with("templates/amf.yaml", secretsTemplate)
	installed := kept(t, files, Options{}, RandomKept).manifest()
	adopted, ps := renderedAs(t, files, Options{Recorded: installed}, RandomKept)
	require.Len(t, ps, 1)
	require.Contains(t, ps[0].String(), NotRecorded)
	require.Contains(t, ps[0].String(), "randAlphaNum in core/templates/amf.yaml")
	lines := func(manifest string) []string {
		var out []string
		for line := range strings.Lines(manifest) {
			if !strings.Contains(line, "hidden:") {
				out = append(out, line)
			}
		}
		return out
	}
	require.Equal(t, lines(installed), lines(adopted.manifest()))
	require.NotEqual(t, installed, adopted.manifest())

	again := kept(t, files, Options{Results: adopted.Results}, RandomPlanned)
	require.Equal(t, adopted.manifest(), again.manifest())
	require.Empty(t, laterIn(again))
	// The text that rolls is another one with other values, and nothing else is.
	next := kept(t, files, Options{Results: adopted.Results, Values: map[string]any{"other": true}}, RandomKept)
	require.NotEqual(t, adopted.manifest(), next.manifest())
	known, err := decodeResults(adopted.Results)
	require.NoError(t, err)
	require.Len(t, known.Calls, 6)
	roll := func(manifest string) string { return strings.Split(manifest, "\ndata:")[0] }
	require.NotEqual(t, roll(adopted.manifest()), roll(next.manifest()))
	require.Equal(t, strings.TrimPrefix(adopted.manifest(), roll(adopted.manifest())), strings.TrimPrefix(next.manifest(), roll(next.manifest())))
}
