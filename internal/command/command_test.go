package command

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
)

func TestCommandLine(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		code int
		want []string
	}{
		"Terraform":     {nil, 0, []string{"serving, debug: false"}},
		"debugger":      {[]string{"-debug"}, 0, []string{"serving, debug: true"}},
		"debugger, off": {[]string{"-debug=false"}, 0, []string{"serving, debug: false"}},
		"debugger, two": {[]string{"--debug"}, 0, []string{"serving, debug: true"}},
		"version":       {[]string{"--version"}, 0, []string{"v1.2.3"}},
		"help":          {[]string{"--help"}, 0, []string{"started by Terraform", "store"}},
		"no command":    {[]string{"stoer"}, cli.ExitUsage, []string{`no command or argument "stoer"`, "--help"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			p := Program{Version: "v1.2.3", Serve: func(_ context.Context, debug bool) error {
				_, _ = fmt.Fprintf(&out, "serving, debug: %t", debug)
				return nil
			}}
			if code := p.Run(t.Context(), test.args, &out, &out); code != test.code {
				t.Errorf("exit code %d, want %d\n%s", code, test.code, out.String())
			}
			for _, part := range test.want {
				require.Contains(t, out.String(), part, "the command does not say")
			}
		})
	}
}
