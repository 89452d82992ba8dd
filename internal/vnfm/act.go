package vnfm

import "context"

// Act is what a user has done once, without a trigger that is kept. One of its fields is set.
type Act struct {
	// Heal replaces VNFCs. Its Trigger is of no account.
	Heal *HealSpec
	// RotateKubeconfig has the kubeconfig of a workload cluster made again.
	RotateKubeconfig bool
	// RotateCredential has another application credential issued for a workload cluster.
	RotateCredential bool
	// Hook has the management driver work again that the VNFD names for a hook, such as instantiate_end.
	Hook string
}

// AttributeHook is the argument that names the hook of an Act.
const AttributeHook = "hook"

type followerKey struct{}

// WithFollower returns a context whose operations are followed by a function. It is called for one step at a time, and must not wait.
func WithFollower(ctx context.Context, follow func(Progress)) context.Context {
	return context.WithValue(ctx, followerKey{}, follow)
}

// Follow tells the follower of a context, if it has one, what an operation says.
func Follow(ctx context.Context, p Progress) {
	if follow, ok := ctx.Value(followerKey{}).(func(Progress)); ok {
		follow(p)
	}
}
