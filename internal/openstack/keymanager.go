package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// keyManagerTimeout bounds what is asked of Barbican at once, with authentication and what
// is tried again: a plan waits for it.
const keyManagerTimeout = requestTimeout

// KeyManager keeps secrets in Barbican, each under an id and a name. It is safe for
// concurrent use.
type KeyManager struct {
	client *Client
}

// NewKeyManager returns the key manager of an OpenStack without sending a request. The
// peer of the configuration says where it is configured.
func NewKeyManager(cfg Config) (*KeyManager, error) {
	client, err := New(cfg)
	if err != nil {
		return nil, err
	}
	return &KeyManager{client: client}, nil
}

// String says which Barbican it is.
func (k *KeyManager) String() string {
	return fmt.Sprintf("the Barbican of %s", k.client.access.AuthURL)
}

// Find returns the ids of the secrets of a name, the oldest first.
func (k *KeyManager) Find(ctx context.Context, name string) ([]string, error) {
	type secret struct {
		Ref string `json:"secret_ref"`
	}
	ctx, cancel := context.WithTimeout(ctx, keyManagerTimeout)
	defer cancel()
	all, err := list[secret](ctx, k.client, call{
		doing: "looking in Barbican for the secrets " + name, service: ServiceKeyManager, path: "/secrets",
		query: url.Values{"name": {name}, "sort": {"created:asc"}, "limit": {"100"}},
	}, "secrets")
	if err != nil {
		return nil, k.explain(err)
	}
	ids := make([]string, 0, len(all))
	for _, each := range all {
		ids = append(ids, path.Base(each.Ref))
	}
	return ids, nil
}

// Read returns a secret; found is false when there is none.
func (k *KeyManager) Read(ctx context.Context, id string) (secret vnfm.Secret, found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, keyManagerTimeout)
	defer cancel()
	text := ""
	err = k.client.do(ctx, call{
		doing: fmt.Sprintf("reading secret %s from Barbican", id), service: ServiceKeyManager, path: secretPath(id) + "/payload", text: &text,
	})
	if IsNotFound(err) {
		return "", false, nil
	}
	return vnfm.Secret(text), err == nil, k.explain(err)
}

// Create makes a secret and returns its id. The answer refers to it by a URL whose host
// is what Barbican takes for its own.
func (k *KeyManager) Create(ctx context.Context, name string, text vnfm.Secret) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, keyManagerTimeout)
	defer cancel()
	var answer struct {
		Ref string `json:"secret_ref"`
	}
	err := k.client.do(ctx, call{
		doing: fmt.Sprintf("making secret %s in Barbican", name), service: ServiceKeyManager, method: http.MethodPost, path: "/secrets", ok: []int{http.StatusCreated},
		body: map[string]any{
			"name": name, "secret_type": "passphrase", "algorithm": "age", "payload": text.Reveal(), "payload_content_type": "text/plain",
		},
		out: &answer,
	})
	if err != nil {
		return "", k.explain(err)
	}
	id := path.Base(answer.Ref)
	if answer.Ref == "" {
		return "", fmt.Errorf("making secret %s in Barbican: the answer does not name it", name)
	}
	return id, nil
}

// Delete removes a secret. One that is not there is success.
func (k *KeyManager) Delete(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, keyManagerTimeout)
	defer cancel()
	return k.explain(k.client.remove(ctx, fmt.Sprintf("removing secret %s from Barbican", id), ServiceKeyManager, secretPath(id), nil))
}

func secretPath(id string) string { return "/secrets/" + url.PathEscape(id) }

// ageIdentity is what secrets of this provider hold.
var ageIdentity = lazyregexp.New(`AGE-SECRET-KEY-1[A-Za-z0-9]*`)

// explain says what a refusal means, and takes a secret out of what is repeated of an
// answer.
func (k *KeyManager) explain(err error) error {
	var answer *answerError
	if errors.As(err, &answer) {
		answer.message = ageIdentity.ReplaceAllString(answer.message, "(sensitive)")
	}
	if IsForbidden(err) {
		return fmt.Errorf("%w; the user of %s needs the role creator in its project, or whatever the policy of this Barbican asks for to make, read and remove secrets", err, k.client.peer.Settings)
	}
	return err
}
