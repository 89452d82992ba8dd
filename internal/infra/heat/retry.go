package heat

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
)

// Reasons for which a stack fails and that are over by and by.
const (
	// Nova lets go of the port of a server some time after it has said that the server is gone, on a busy machine many
	// seconds later. So does Neutron with what hangs on a network or subnet.
	reasonInUse = "a service reports that a resource is still in use"
	// Heat works with the token of the request, whose end its resources tell in words of their own.
	reasonToken = "the token of the request is no longer valid"
)

const (
	// inUseTries is how often Heat is asked again for what is still in use, with pauses that double from inUsePause: half a
	// minute in all, beside what Heat needs to fail.
	inUseTries = 5
	inUsePause = time.Second
	// inUseLongest bounds the pause where there are more tries.
	inUseLongest = 16 * time.Second
)

// retries counts how often Heat was asked again, by reason. The zero value is ready to use.
type retries struct {
	inUse, token int
	// untilEnd goes on with what is still in use as long as the operation has time: nothing else can be done about it.
	untilEnd bool
}

// next reports whether Heat is to be asked again for a reason, after the pause that it needs. It is false at the end of ctx.
func (r *retries) next(ctx context.Context, reason string) bool {
	switch reason {
	case reasonInUse:
		r.inUse++
		pause := min(inUsePause<<min(r.inUse-1, inUseTries), inUseLongest)
		return (r.untilEnd || r.inUse <= inUseTries) && poll.Sleep(ctx, pause) == nil
	case reasonToken:
		r.token++
		return r.token == 1
	default:
		return false
	}
}

// retryReason says what made a stack fail that may be over when Heat is asked again; empty when nothing is known to be.
func (s *session) retryReason(ctx context.Context, err error, token string) string {
	var failed *stackError
	if !errors.As(err, &failed) {
		return ""
	}
	if inUse(failed) {
		return reasonInUse
	}
	if valid, err := s.client.IsValid(ctx, token); err == nil && !valid {
		return reasonToken
	}
	return ""
}

// inUseWords are how Neutron and Nova say that something hangs on a resource yet. An address that another port has is not among
// them: it does not become free.
var inUseWords = []string{
	"is still in use",                            // a port, Nova
	"ports still in use on the network",          // a network
	"have an IP allocation from this subnet",     // a subnet
	"required by one or more floating IPs",       // a router interface
	"requires a FixedIP",                         // a floating address whose port is being changed
	"already in use, device ID",                  // a port that is bound yet
	"volume is not in an available state",        // a volume that is being detached
	"status must be available or error",          // the same, Cinder's deletion
	"cannot be deleted while in use by instance", // a security group, older releases
}

func inUse(failed *stackError) bool {
	return slices.ContainsFunc(failed.reasons, func(reason string) bool {
		return slices.ContainsFunc(inUseWords, func(words string) bool { return strings.Contains(reason, words) })
	})
}
