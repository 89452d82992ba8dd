package openstack

import (
	"strings"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/stretchr/testify/assert"
)

// TestRedacted: what a service repeats of a password is masked, also when it is quoted or the
// message is cut off within it.
func TestRedacted(t *testing.T) {
	t.Parallel()
	c := &Client{session: &gophercloud.ProviderClient{}, access: &access{password: `pass"wörd-of-keystone`, token: "123"}}
	for text, want := range map[string]string{
		`no pass"wörd-of-keystone here`:                                        "no (sensitive) here",
		`{"password": "pass\"w\u00f6rd-of-keystone"}`:                          `{"password": "(sensitive)"}`,
		"<p>pass&quot;wörd-of-keystone</p>":                                    "<p>(sensitive)</p>",
		messageOf([]byte(strings.Repeat("x", 388) + ` pass"wörd-of-keystone`)): strings.Repeat("x", 388) + " (sensitive)...",
		"token: 123, 1234 and 123":                                             "token: (sensitive), 1234 and 123",
	} {
		assert.Equal(t, want, c.redacted(text), "%q becomes", text)
	}
}
