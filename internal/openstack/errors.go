package openstack

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/nfv-iac/terraform-provider-vnf/internal/endpoint"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// CredentialsError says that Keystone does not accept the credentials: 401, or 404 for a token or an application credential that it does not know.
type CredentialsError struct {
	Peer    vnfm.Peer
	AuthURL string
	Err     error
}

func (e *CredentialsError) Error() string {
	return fmt.Sprintf("%s at %s refused the credentials: %v; they are wrong, or have expired, or the user or project is disabled: correct this in %s and apply again", e.Peer.Name, e.AuthURL, e.Err, e.Peer.Settings)
}

func (e *CredentialsError) Unwrap() error { return e.Err }

// Is makes errors.Is(err, vnfm.ErrCredentials) true.
func (e *CredentialsError) Is(target error) bool { return target == vnfm.ErrCredentials }

// answerError is an answer that is not success.
type answerError struct {
	code    int
	host    string
	message string
	// request is the id under which the logs of the service have the request.
	request string
}

func (e *answerError) Error() string {
	text := fmt.Sprintf("%s answered %d %s", e.host, e.code, http.StatusText(e.code))
	if e.message != "" {
		text += ": " + e.message
	}
	if e.request != "" {
		text += " (" + e.request + ")"
	}
	return text
}

// IsNotFound reports whether a service said that something is not there.
func IsNotFound(err error) bool { return hasCode(err, http.StatusNotFound) }

// IsBadRequest reports whether a service said that it cannot make sense of a request.
func IsBadRequest(err error) bool { return hasCode(err, http.StatusBadRequest) }

// IsForbidden reports whether a service said that the user may not do that.
func IsForbidden(err error) bool { return hasCode(err, http.StatusForbidden) }

// IsConflict reports whether a service said that something has a name already, or is in
// a state in which that cannot be done.
func IsConflict(err error) bool { return hasCode(err, http.StatusConflict) }

func hasCode(err error, code int) bool {
	var a *answerError
	// Refused credentials say nothing of what was asked for with them.
	return errors.As(err, &a) && a.code == code && !IsRefused(err)
}

// IsUnavailable reports whether a service did not answer, or answered that it cannot just
// now: that may pass by itself.
func IsUnavailable(err error) bool {
	var (
		away *vnfm.UnreachableError
		a    *answerError
	)
	if errors.As(err, &away) {
		return true
	}
	return errors.As(err, &a) && (a.code >= http.StatusInternalServerError || a.code == http.StatusTooManyRequests)
}

// IsRefused reports whether Keystone refused the credentials themselves.
func IsRefused(err error) bool {
	var c *CredentialsError
	return errors.As(err, &c)
}

// failure is what the caller gets: what was tried, where, and what the other side said.
// Nothing of a secret is in it, whatever a service repeats.
func (c *Client) failure(doing string, err error) error {
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: %w", doing, context.Canceled)
	}
	var answer gophercloud.ErrUnexpectedResponseCode
	if !errors.As(err, &answer) {
		if again := (*gophercloud.ErrUnableToReauthenticate)(nil); errors.As(err, &again) {
			return c.failure("authenticating again for "+doing, again.ErrReauth)
		}
		if again := (*gophercloud.ErrErrorAfterReauthentication)(nil); errors.As(err, &again) {
			return c.failure(doing, again.ErrOriginal)
		}
		return fmt.Errorf("%s: %w", doing, &vnfm.UnreachableError{Peer: c.peer.Name, Err: c.transport(err)})
	}
	failure := &answerError{code: answer.Actual, host: hostOf(answer.URL), message: c.redacted(messageOf(answer.Body)), request: answer.ResponseHeader.Get("X-Openstack-Request-Id")}
	switch {
	case answer.Actual >= 300 && answer.Actual < 400:
		failure.message = "it redirects to another address, which is not followed; give the address of the service itself"
	case answer.Actual == http.StatusUnauthorized, answer.Actual == http.StatusNotFound && isTokens(answer.URL) && isKeystone(answer.Body):
		return fmt.Errorf("%s: %w", doing, &CredentialsError{Peer: c.peer, AuthURL: c.access.AuthURL, Err: failure})
	case answer.Actual == http.StatusNotFound && isTokens(answer.URL):
		failure.message = strings.TrimPrefix(failure.message+"; is the auth_url that of Keystone?", "; ")
	}
	return fmt.Errorf("%s: %w", doing, failure)
}

// isKeystone reports whether an answer is an error in the form of Keystone's. What has no path for tokens answers in another one.
func isKeystone(body []byte) bool {
	var answer struct {
		Error struct {
			Code  int    `json:"code"`
			Title string `json:"title"`
		} `json:"error"`
	}
	return json.Unmarshal(body, &answer) == nil && answer.Error.Code != 0 && answer.Error.Title != ""
}

func isTokens(target string) bool { return strings.HasSuffix(target, "/v3/auth/tokens") }

// transport says without the URL why no answer came, and what to do about it.
func (c *Client) transport(err error) error {
	var u *url.Error
	host := hostOf(c.access.AuthURL)
	if errors.As(err, &u) {
		host, err = hostOf(u.URL), u.Err
	}
	var (
		unknown  x509.UnknownAuthorityError
		hostname x509.HostnameError
		record   tls.RecordHeaderError
	)
	advice := ""
	switch {
	case errors.As(err, &unknown):
		advice = "; set ca_certificate to the certificate authority of the cloud"
	case errors.As(err, &hostname):
		advice = "; the certificate is for another name"
	case errors.As(err, &record):
		advice = "; the service does not speak TLS"
	case errors.Is(err, context.DeadlineExceeded):
		advice = "; no answer came in time"
	}
	return fmt.Errorf("%s: %w%s", host, err, advice)
}

// isPermanentTransport reports whether trying again cannot help.
func isPermanentTransport(err error) bool {
	return endpoint.IsPermanent(err) || errors.Is(err, context.Canceled)
}

func hostOf(text string) string {
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		return u.Scheme + "://" + u.Host
	}
	return "the service"
}

// maxMessage bounds what is repeated of an answer.
const maxMessage = 400

// messageOf finds the text for people in an answer. Each service wraps it in its own way.
func messageOf(body []byte) string {
	var answer any
	text := strings.TrimSpace(string(body))
	if json.Unmarshal(body, &answer) == nil {
		text = messageIn(answer)
	} else if strings.HasPrefix(text, "<") {
		text = ""
	}
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxMessage {
		text = text[:maxMessage] + "..."
	}
	return text
}

func messageIn(v any) string {
	m, ok := v.(map[string]any)
	if !ok {
		return ""
	}
	for _, name := range []string{"message", "faultstring", "description"} {
		if text, isText := m[name].(string); isText && text != "" {
			return text
		}
	}
	for _, child := range m {
		if text := messageIn(child); text != "" {
			return text
		}
	}
	return ""
}

// redacted takes the secrets of the client out of a text.
func (c *Client) redacted(text string) string {
	return vnfm.NewMask(append(c.access.secrets(), c.session.Token())...).Hide(text)
}
