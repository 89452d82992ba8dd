// Package shell runs functions of shell scripts on hosts, for the management drivers.
package shell

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
)

// Ask runs a command and returns what it wrote to its standard output, byte by byte, but
// for line breaks at the end. remote.Client.Run hides what reads like a secret of the host:
// where the password is "ubuntu", so is the name of the system. It takes no word of less
// than four letters for one, so that the answer comes in lines of three.
func Ask(ctx context.Context, client *remote.Client, cmd remote.Command) (string, error) {
	cmd.Script = "answer=$(\n" + cmd.Script + "\n) || exit\necho\necho " + beginning + "\nprintf %s \"$answer\" | base64 | tr -d '\\n' | fold -w 3\n"
	result, err := client.Run(ctx, cmd)
	if err != nil {
		return "", err
	}
	_, encoded, found := strings.Cut(result.Stdout, "\n"+beginning+"\n")
	if !found {
		return "", fmt.Errorf("%s on %s: the answer is too long", cmd.What, client.Name())
	}
	answer, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(encoded, "\n", ""))
	if err != nil {
		return "", fmt.Errorf("%s on %s: the answer cannot be read: %w", cmd.What, client.Name(), err)
	}
	return string(answer), nil
}

// beginning is the line before an answer: a login shell may print something first.
const beginning = "-=-"
