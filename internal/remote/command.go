package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tracing"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Command is a script to run on a host.
type Command struct {
	// What is the purpose of the command, for errors: "install Docker".
	What string
	// Script is POSIX shell. It never stands on a command line.
	Script string
	// Args are $1 and so on. Arguments of programs that the script starts can be seen in ps:
	// never pass a secret.
	Args []string
	// Env is exported to the script, and never stands on a command line.
	Env map[string]string
	// Stdin is the script's own standard input; empty when it is nil. It is read to its
	// end before the script begins.
	Stdin io.Reader
	// Sudo runs it as root.
	Sudo bool
	// Timeout ends it; 0 leaves that to the context.
	Timeout time.Duration
	// Output gets each line of stdout and stderr as it comes, masked, one at a time.
	Output func(line string)
	// Decode is offered each line before Output, as the host wrote it, and reports whether it
	// took it. It is for lines of a protocol: a mask would change what they say, such as a count
	// that a secret number equals. The caller masks what it decodes.
	Decode func(line string) bool
	// Secrets are masked in Output and errors; those of the host always are.
	Secrets []vnfm.Secret
}

// Result is what a command wrote, as it is: each is the end of it, up to 64 KiB. That of an
// error is masked.
type Result struct{ Stdout, Stderr string }

// StatusError is a command that ended with another exit status than 0.
type StatusError struct {
	// Host and What say which command it was.
	Host, What string
	// Status is the exit status, 128 and more when a signal ended the command.
	Status int
	Result Result
}

// errorLines is how many lines of a command's output an error shows.
const errorLines = 12

func (e *StatusError) Error() string {
	text := fmt.Sprintf("%s on %s ended with status %d", e.What, e.Host, e.Status)
	if last := e.Result.last(); last != "" {
		text += ":\n" + last
	}
	return text
}

// last is the end of what a command said, for a person.
func (r Result) last() string {
	if last := lastLines(r.Stderr, errorLines); last != "" {
		return last
	}
	return lastLines(r.Stdout, errorLines)
}

// ConnectionError is a connection that could not be made, or that broke: what a command
// did until then is not known, and it was killed by the host.
type ConnectionError struct {
	// Host and What say what was tried on which host.
	Host, What string
	Err        error
}

func (e *ConnectionError) Error() string {
	return fmt.Sprintf("%s on %s: no connection: %v", e.What, e.Host, e.Err)
}

// Unwrap returns what the connection said.
func (e *ConnectionError) Unwrap() error { return e.Err }

// Run runs a command to its end. An exit status other than 0 is a *StatusError, a
// connection that breaks a *ConnectionError; the result is what was written until then.
// When ctx ends, or Timeout is over, the command is killed with all its children, and the
// error is that of the context.
func (c *Client) Run(ctx context.Context, cmd Command) (Result, error) {
	content, size, err := readAll(cmd.Stdin)
	if err != nil {
		return Result{}, fmt.Errorf("%s on %s: reading its standard input: %w", cmd.What, c.name, err)
	}
	return c.run(ctx, cmd, content, size)
}

// run runs a command with size bytes of content as its standard input.
func (c *Client) run(ctx context.Context, cmd Command, content io.Reader, size int64) (Result, error) {
	hidden := c.mask(cmd.Secrets...)
	var shared sync.Mutex
	stdout := &lines{mask: hidden, each: cmd.Output, decode: cmd.Decode, shared: &shared}
	stderr := &lines{mask: hidden, each: cmd.Output, decode: cmd.Decode, shared: &shared}
	ctx, span := tracing.Start(ctx, tracing.SSH, "ssh command")
	span.Text("server.address", c.name)
	span.Text("vnf.command", hidden.hide(cmd.What))
	err := c.stream(ctx, cmd, content, size, stdout, stderr)
	result := Result{Stdout: stdout.close(), Stderr: stderr.close()}
	if failed := (*StatusError)(nil); errors.As(err, &failed) {
		failed.Result = Result{Stdout: hidden.hide(result.Stdout), Stderr: hidden.hide(result.Stderr)}
	}
	if err != nil {
		span.Fail(hidden.hide(err.Error()))
	}
	span.End(nil)
	return result, err
}

// stream runs a command whose output goes to writers as it is.
func (c *Client) stream(ctx context.Context, cmd Command, content io.Reader, size int64, stdout, stderr io.Writer) error {
	if cmd.Timeout > 0 {
		limit := fmt.Errorf("it did not end within %s: %w", cmd.Timeout, context.DeadlineExceeded)
		limited, cancel := context.WithTimeoutCause(ctx, cmd.Timeout, limit)
		defer cancel()
		ctx = limited
	}
	root := direct
	if cmd.Sudo {
		var err error
		if root, err = c.root(ctx); err != nil {
			return c.failed(ctx, cmd.What, err)
		}
	}
	begin, err := program{script: cmd.Script, args: cmd.Args, env: cmd.Env, size: size}.input(root, c.sudoPassword())
	if err != nil {
		return fmt.Errorf("%s on %s: %w", cmd.What, c.name, err)
	}
	status, err := c.execute(ctx, execution{begin: begin, content: content, stdout: stdout, stderr: stderr})
	if err != nil {
		return c.failed(ctx, cmd.What, err)
	}
	if status != 0 {
		return &StatusError{Host: c.name, What: cmd.What, Status: status}
	}
	return nil
}

// failed says what could not be done on which host.
func (c *Client) failed(ctx context.Context, what string, err error) error {
	var content *contentError
	var refused *sudoError
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s on %s was stopped: %w", what, c.name, context.Cause(ctx))
	case errors.As(err, &content), errors.As(err, &refused):
		return fmt.Errorf("%s on %s: %w", what, c.name, err)
	default:
		return &ConnectionError{Host: c.name, What: what, Err: err}
	}
}
