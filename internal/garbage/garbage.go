// Package garbage lets a short process end before it collects garbage. Terraform starts the provider three or four times for each command,
// mostly for its schema, and what a start allocates stays. It is imported for its initialisation, which runs before
// that of the larger packages.
package garbage

import (
	"os"
	"runtime"
	"runtime/debug"
)

// first is the percentage that holds until the first collection, which it delays from a heap of 4 MiB to one of 16.
const first = 400

// A user who has set GOGC decides.
var _ = os.Getenv("GOGC") == "" && delay()

func delay() bool {
	usual := debug.SetGCPercent(first)
	// The first collection finds the new object unreachable, and runs the cleanup.
	runtime.AddCleanup(new(*int), func(percent int) { debug.SetGCPercent(percent) }, usual)
	return true
}
