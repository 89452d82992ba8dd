package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"
)

// controlTimeout bounds one exchange on the control socket.
const controlTimeout = 5 * time.Second

// The control socket takes one line and answers with one: "ok <text>" or "error <text>".
const (
	answerOK    = "ok"
	answerError = "error"
)

// Control answers commands on a unix socket.
type Control struct {
	// Handle carries out one command and says what to answer.
	Handle func(words []string) (string, error)
	Log    *slog.Logger
}

// Serve answers until ctx ends.
func (c *Control) Serve(ctx context.Context, listener net.Listener) error {
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	var exchanges sync.WaitGroup
	defer exchanges.Wait()
	for {
		conn, err := listener.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil //nolint:nilerr // The listener was closed because ctx ended.
			}
			return fmt.Errorf("accepting a command: %w", err)
		}
		exchanges.Go(func() {
			if err := c.exchange(conn); err != nil {
				c.Log.WarnContext(ctx, "a command could not be answered", "error", err)
			}
		})
	}
}

func (c *Control) exchange(conn net.Conn) error {
	defer conn.Close() //nolint:errcheck // The answer has been written by then, or its error is returned.
	if err := conn.SetDeadline(time.Now().Add(controlTimeout)); err != nil {
		return err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return fmt.Errorf("reading the command: %w", err)
	}
	text, err := c.Handle(strings.Fields(line))
	if err != nil {
		_, err = fmt.Fprintf(conn, "%s %v\n", answerError, err)
		return err
	}
	_, err = fmt.Fprintf(conn, "%s %s\n", answerOK, text)
	return err
}

// Command sends a command to a control socket and returns the answer.
func Command(ctx context.Context, socket string, words ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return "", fmt.Errorf("reaching the lab's services: %w", err)
	}
	defer conn.Close() //nolint:errcheck // Everything has been read by then.
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return "", fmt.Errorf("reaching the lab's services: %w", err)
	}
	if _, err := fmt.Fprintln(conn, strings.Join(words, " ")); err != nil {
		return "", fmt.Errorf("sending the command: %w", err)
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("reading the answer: %w", err)
	}
	verdict, text, _ := strings.Cut(strings.TrimSpace(line), " ")
	if verdict != answerOK {
		return "", errors.New(text)
	}
	return text, nil
}
