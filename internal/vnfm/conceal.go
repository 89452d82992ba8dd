package vnfm

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// Concealed are the secrets of an operation, which become known one after the other. It is
// safe for concurrent use, and a nil one knows no secrets.
type Concealed struct {
	mu      sync.Mutex
	secrets map[string]bool
	// mask is that of the secrets, nil until it is needed.
	mask *Mask
}

// Add makes further secrets known, and those inside of secrets that are documents of YAML or
// JSON: an error quotes a token, not the file that it is in.
func (c *Concealed) Add(secrets ...string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range secrets {
		if !c.add(s) {
			continue
		}
		for _, inner := range secretsInside(s) {
			c.add(inner)
		}
	}
}

// add reports whether a secret was not known before.
func (c *Concealed) add(secret string) bool {
	if secret == "" || c.secrets[secret] {
		return false
	}
	if c.secrets == nil {
		c.secrets = map[string]bool{}
	}
	c.secrets[secret], c.mask = true, nil
	return true
}

// Hide returns a text with every form of every secret replaced.
func (c *Concealed) Hide(text string) string {
	if c == nil || text == "" {
		return text
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mask == nil {
		c.mask = NewMask(slices.Collect(maps.Keys(c.secrets))...)
	}
	return c.mask.Hide(text)
}

// Error returns an error whose text has no secrets; one without secrets stays as it is.
func (c *Concealed) Error(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if clean := c.Hide(text); clean != text {
		return &maskedError{text: clean, err: err}
	}
	return err
}

type maskedError struct {
	text string
	err  error
}

func (e *maskedError) Error() string { return e.text }

func (e *maskedError) Unwrap() error { return e.err }

type concealedKey struct{}

// WithConcealed returns a context that keeps the secrets of the work that is done with it;
// ctx itself when it does so already.
func WithConcealed(ctx context.Context) context.Context {
	if ConcealedIn(ctx) != nil {
		return ctx
	}
	return context.WithValue(ctx, concealedKey{}, &Concealed{})
}

// ConcealedIn are the secrets that a context keeps; nil when it keeps none.
func ConcealedIn(ctx context.Context) *Concealed {
	c, _ := ctx.Value(concealedKey{}).(*Concealed)
	return c
}

// Conceal makes secrets known to a context that keeps them: whatever comes to know a secret
// for an operation says so, before it sends it anywhere.
func Conceal(ctx context.Context, secrets ...string) { ConcealedIn(ctx).Add(secrets...) }
