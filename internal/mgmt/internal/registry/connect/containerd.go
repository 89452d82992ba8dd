package connect

import (
	"fmt"
	"strings"
)

// hostsTOML configures how containerd reaches a registry. containerd tries the table of the host first, which it requires before
// version 2, then the server. Both get the same settings, so that either error is the error of the registry.
func hostsTOML(c Connection, folder string) []byte {
	var settings strings.Builder
	settings.WriteString("capabilities = [\"pull\", \"resolve\", \"push\"]\n")
	if c.Certificate != "" {
		fmt.Fprintf(&settings, "ca = %q\n", folder+"/ca.crt")
	}
	header := ""
	if basic := c.basic(); basic != "" {
		header = fmt.Sprintf("Authorization = \"Basic %s\"\n", basic)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nserver = %q\n%s", mark, c.url(), settings.String())
	if header != "" {
		b.WriteString("\n[header]\n" + header)
	}
	fmt.Fprintf(&b, "\n[host.%q]\n%s", c.url(), settings.String())
	if header != "" {
		fmt.Fprintf(&b, "\n[host.%q.header]\n%s", c.url(), header)
	}
	return []byte(b.String())
}
