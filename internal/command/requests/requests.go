// Package requests has the commands for requests of SOL003 and of OpenStack Tacker.
package requests

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
)

// Command is the group of the commands about requests.
func Command() *cobra.Command {
	return cli.Group("request", "Convert requests to a VNF manager",
		"A request is the body of an InstantiateVnfRequest of SOL003, as OpenStack Tacker has it, too.", convertCommand())
}

func convertCommand() *cobra.Command {
	var c converter
	var vimConfig string
	cmd := &cobra.Command{
		Use:   "convert REQUEST",
		Short: "Print a configuration that does what an instantiate request does",
		Long: `Prints a configuration with a vnf_vim, a vnf_package and a vnf_instance that does what an
InstantiateVnfRequest (JSON) does. The VIM is that of a configuration file of OpenStack Tacker
(--vim-config), or that of the vimConnectionInfo of the request. Secrets of both are not repeated:
they become variables, which are given to write-only arguments. What the request has and the
configuration has no place for is written to standard error, and is a comment at its beginning.`,
		Example: `  terraform-provider-vnf request convert --vim-config examples/complete/tacker/containers/vim.yaml --package examples/packages/hello examples/complete/tacker/containers/request.json
  terraform-provider-vnf request convert examples/complete/tacker/servers/request.json > main.tf`,
		Args: cli.Arguments("REQUEST"),
		RunE: cli.Interruptible(func(_ context.Context, cmd *cobra.Command, args []string) error {
			request, err := readFile(args[0], fromJSON)
			if err != nil {
				return cli.Usagef("reading the request: %w", err)
			}
			var vim map[string]any
			if vimConfig != "" {
				if vim, err = readFile(vimConfig, yaml.Unmarshal); err != nil {
					return cli.Usagef("reading the VIM configuration: %w", err)
				}
			}
			text, err := c.convert(request, vim)
			if err != nil {
				return cli.Usagef("converting %s: %w", args[0], err)
			}
			for _, line := range c.findings.lines {
				cmd.PrintErrf("Warning: %s\n", line)
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err
		}),
	}
	cmd.Flags().StringVar(&vimConfig, "vim-config", "", "`FILE` that describes the VIM, as openstack vim register takes it")
	cmd.Flags().StringVar(&c.source, "package", "", "`SOURCE` of the VNF package; by default a variable")
	cmd.Flags().StringVar(&c.name, "name", "vnf", "`NAME` of the instance")
	cmd.Flags().StringVar(&c.vimName, "vim-name", "vim", "`NAME` of the VIM")
	return cmd
}

// maxFile bounds a request and a VIM configuration, in bytes.
const maxFile = 1 << 20

// fromJSON keeps numbers as they are written: an id can have more digits than a float.
func fromJSON(text []byte, out any) error {
	if err := json.Unmarshal(text, new(json.RawMessage)); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(out)
}

// readFile reads an object of a file. No error repeats what the file says: it may be a secret.
func readFile(name string, decode func([]byte, any) error) (map[string]any, error) {
	f, err := os.Open(filepath.Clean(name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxFile:
		return nil, fmt.Errorf("%s is larger than %d bytes", name, maxFile)
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return nil, fmt.Errorf("%s is UTF-16: save it as UTF-8", name)
	}
	var out map[string]any
	if err := decode(text, &out); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			before := string(text[:min(int(syntax.Offset), len(text))])
			return nil, fmt.Errorf("%s is not JSON: line %d: %w", name, strings.Count(before, "\n")+1, err)
		}
		return nil, fmt.Errorf("%s does not hold an object", name)
	}
	switch {
	case out == nil:
		return nil, fmt.Errorf("%s does not hold an object", name)
	case len(out) == 0:
		return nil, fmt.Errorf("%s holds an object without fields", name)
	}
	return out, nil
}
