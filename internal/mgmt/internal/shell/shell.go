// Package shell runs functions of shell scripts on hosts, for the management drivers.
package shell

import (
	"context"
	"fmt"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
)

// Ask runs a command and returns what it wrote to its standard output, but for line breaks
// at the end. Output of the start files of a shell before it is not part of the answer.
func Ask(ctx context.Context, client *remote.Client, cmd remote.Command) (string, error) {
	cmd.Script = "echo\necho " + beginning + "\n" + cmd.Script
	result, err := client.Run(ctx, cmd)
	if err != nil {
		return "", err
	}
	_, answer, found := strings.Cut(result.Stdout, "\n"+beginning+"\n")
	if !found {
		return "", fmt.Errorf("%s on %s: the answer is too long", cmd.What, client.Name())
	}
	return strings.TrimRight(answer, "\n"), nil
}

// beginning is the line before an answer: a login shell may print something first.
const beginning = "-=-"
