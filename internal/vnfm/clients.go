package vnfm

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
)

// Clients keeps one client of a kind per VIM and credentials, as long as the process runs:
// all that work on the same VIM share one. The zero value is empty and ready; it is safe
// for concurrent use.
type Clients[C any] struct {
	mu   sync.Mutex
	kept map[[sha256.Size]byte]C
}

// Get returns the client of a VIM, which build makes when there is none. Build sends no
// request: others wait for it. The connection is what JSON can write.
func (c *Clients[C]) Get(vim string, connection any, credentials Credentials, build func() (C, error)) (client C, err error) {
	// Secrets enter in clear into the sum only: a rotated one makes another client.
	secrets := make(map[string]string, len(credentials))
	for name, secret := range credentials {
		secrets[name] = secret.Reveal()
	}
	text, err := json.Marshal([]any{vim, connection, secrets})
	if err != nil {
		return client, fmt.Errorf("VIM %q: %w", vim, err)
	}
	key := sha256.Sum256(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	if found, ok := c.kept[key]; ok {
		return found, nil
	}
	if client, err = build(); err != nil {
		return client, err
	}
	if c.kept == nil {
		c.kept = map[[sha256.Size]byte]C{}
	}
	c.kept[key] = client
	return client, nil
}
