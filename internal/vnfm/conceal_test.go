package vnfm_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func TestConcealed(t *testing.T) {
	m := &vnfm.Concealed{}
	m.Add("s3cret/with \"quotes\" & more", "abc", "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END KEY-----\n", "s3cret/with", strings.Repeat("x", 70<<10))
	for text, want := range map[string]string{
		"":                                       "",
		"abc is too short":                       "abc is too short",
		`s3cret/with "quotes" & more`:            "(sensitive)",
		`s3cret/with \"quotes\" \u0026 more`:     "(sensitive)",
		"u=s3cret%2Fwith+%22quotes%22+%26+more&": "u=(sensitive)&",
		"czNjcmV0L3dpdGggInF1b3RlcyIgJiBtb3Jl":   "(sensitive)",
		"s3cret/with another":                    "(sensitive) another",
		"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC":       "(sensitive)",
	} {
		require.Equal(t, want, m.Hide(text), "%q becomes", text)
	}
	require.Equal(t, "abcd", (*vnfm.Concealed)(nil).Hide("abcd"), "without secrets")
}
