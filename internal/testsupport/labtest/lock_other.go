//go:build !unix

package labtest

import "context"

// lockFile does nothing: the lab runs on unix systems only.
func lockFile(context.Context, ...string) (unlock func(), err error) { return func() {}, nil }
