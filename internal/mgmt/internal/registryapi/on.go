package registryapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // the program
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/shell"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
)

// program asks on the host. Secrets are in its standard input.
//
//go:embed ping.py
var program string

// question is the input of the program.
type question struct {
	Server      string `json:"server"`
	Secure      bool   `json:"secure"`
	Authorities string `json:"authorities"`
	// Exactly is a SHA-256.
	Exactly  string `json:"exactly"`
	Username string `json:"username"`
	Password string `json:"password"`
}

// on has Python on the host ask, where sshd forwards nothing.
func (e Endpoint) on(ctx context.Context, client *remote.Client) (status int, challenge string, err error) {
	q := question{Server: e.Server, Secure: e.Secure, Authorities: e.Authorities, Username: e.Username, Password: e.Password.Reveal()}
	if e.Exactly != nil {
		digest := sha256.Sum256(e.Exactly.Raw)
		q.Exactly = hex.EncodeToString(digest[:])
	}
	input, err := json.Marshal(q) //nolint:gosec // It is the standard input of the program.
	if err != nil {
		return 0, "", err
	}
	output, err := shell.Ask(ctx, client, remote.Command{
		What: "ask " + e.url(), Args: []string{program}, Stdin: bytes.NewReader(input),
		Script: `command -v python3 >/dev/null || { echo "sshd forwards no connections (AllowTcpForwarding), and there is no python3 to ask with" >&2; exit 1; }
python3 -c "$1"`,
	})
	if err != nil {
		return 0, "", err
	}
	var answer struct {
		Status    int    `json:"status"`
		Challenge string `json:"challenge"`
		Error     string `json:"error"`
	}
	if err := json.Unmarshal([]byte(output), &answer); err != nil {
		return 0, "", fmt.Errorf("python3 says %q: %w", output, err)
	}
	if answer.Error != "" {
		return 0, "", errors.New(answer.Error)
	}
	return answer.Status, answer.Challenge, nil
}
