//go:build !linux

package servers

import (
	"context"
	"log/slog"
)

// Options are the arguments of a host.
type Options struct {
	Socket, Data, Volumes, Image, Systems string
	Balancers, BalancersSeen              string
	Enter                                 []string
	Octet                                 int
	Log                                   *slog.Logger
}

// Serve fails: only Linux has what servers need.
func Serve(context.Context, Options) error { return ErrUnable }

// Probe fails: only Linux has what servers need.
func Probe(string) error { return ErrUnable }

// ProbeManaged fails: only Linux has what servers need.
func ProbeManaged(context.Context) error { return ErrUnable }

// Sweep fails: only Linux has what servers need.
func Sweep(context.Context, string, int) error { return ErrUnable }

// Boot fails: only Linux has what servers need.
func Boot(BootOptions) error { return ErrUnable }
