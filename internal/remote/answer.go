package remote

import (
	"context"
	"fmt"
	"strings"
)

// Answer runs a command and returns its standard output without line breaks at the end. Output of the start files of a login
// shell is not part of it.
func (c *Client) Answer(ctx context.Context, cmd Command) (string, error) {
	cmd.Script = "echo\necho " + beginning + "\n" + cmd.Script
	result, err := c.Run(ctx, cmd)
	if err != nil {
		return "", err
	}
	_, answer, found := strings.Cut(result.Stdout, "\n"+beginning+"\n")
	if !found {
		return "", fmt.Errorf("%s on %s: the answer is too long", cmd.What, c.Name())
	}
	return strings.TrimRight(answer, "\n"), nil
}

// beginning is the line before an answer.
const beginning = "-=-"
