package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Command is a script to run on a host.
type Command struct {
	// What says what it does, for errors: "install Docker".
	What string
	// Script is POSIX shell. It never stands on a command line.
	Script string
	// Args are $1 and so on. They can be seen in ps: never a secret.
	Args []string
	// Env is exported to the script, and never stands on a command line.
	Env map[string]string
	// Stdin is the script's own standard input; empty when it is nil.
	Stdin io.Reader
	// Sudo runs it as root.
	Sudo bool
	// Timeout ends it; 0 leaves that to the context.
	Timeout time.Duration
	// Output gets each line of stdout and stderr as it comes, masked.
	Output func(line string)
	// Secrets are masked in Output, errors and Result.
	Secrets []vnfm.Secret
}

// Result is what a command wrote. Each is the end of it, up to 64 KiB, masked.
type Result struct{ Stdout, Stderr string }

// StatusError is a command that ended with another exit status than 0.
type StatusError struct {
	// Host and What say which command it was.
	Host, What string
	// Status is the exit status, 128 and more when a signal ended the command.
	Status int
	Result Result
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s on %s ended with status %d", e.What, e.Host, e.Status)
}

// ConnectionError is a connection that broke or could not be made. What a command did
// until then is not known.
type ConnectionError struct {
	Host, What string
	Err        error
}

func (e *ConnectionError) Error() string {
	return fmt.Sprintf("%s on %s: the connection broke: %v", e.What, e.Host, e.Err)
}

// Unwrap returns what the connection said.
func (e *ConnectionError) Unwrap() error { return e.Err }

// Run runs a command to its end. An exit status other than 0 is a *StatusError, a
// connection that breaks a *ConnectionError. When ctx ends, the command is killed with
// all its children.
func (c *Client) Run(ctx context.Context, cmd Command) (Result, error) {
	return Result{}, errors.ErrUnsupported
}
