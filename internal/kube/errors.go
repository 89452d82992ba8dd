package kube

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/endpoint"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// CredentialsError means that the API server rejects the credentials (401).
type CredentialsError struct {
	Peer     vnfm.Peer
	Endpoint string
	// Source names the place where the credentials are read, and read again after a rejection;
	// empty for credentials given as arguments.
	Source string
	Err    error
}

func (e *CredentialsError) Error() string {
	if e.Source != "" {
		return fmt.Sprintf("%s at %s refused the credentials of %s: %v; they were read again, and there are no others that it accepts: "+
			"make sure that %s has valid credentials for this server, or correct %s, and apply again", e.Peer.Name, e.Endpoint, e.Source, e.Err, e.Source, e.Peer.Settings)
	}
	return fmt.Sprintf("%s at %s refused the credentials: %v; they are wrong or have expired: rotate them in %s and apply again; "+
		"credentials that expire during a run belong in token_file or exec, which are read again", e.Peer.Name, e.Endpoint, e.Err, e.Peer.Settings)
}

func (e *CredentialsError) Unwrap() error { return e.Err }

// Is makes errors.Is(err, vnfm.ErrCredentials) true.
func (e *CredentialsError) Is(target error) bool { return target == vnfm.ErrCredentials }

// UnknownKindError means that the API server does not serve a kind.
type UnknownKindError struct {
	GVK schema.GroupVersionKind
	// Known are served kinds with a similar name, the nearest first, each as
	// "group/version Kind".
	Known []string
}

func (e *UnknownKindError) Error() string {
	msg := fmt.Sprintf("the API server does not serve the kind %s of %s", e.GVK.Kind, e.GVK.GroupVersion())
	if len(e.Known) > 0 {
		msg += "; it serves " + strings.Join(e.Known, ", ")
	}
	return msg + "; if a CustomResourceDefinition defines the kind, apply that first"
}

// transportError means that no usable answer came.
type transportError struct {
	err       error
	permanent bool
}

func (e *transportError) Error() string {
	err := endpoint.WithoutURL(e.err)
	return err.Error() + advice(err)
}

func (e *transportError) Unwrap() error { return e.err }

// advice returns the remedy for a failed handshake, usually an argument of the VIM.
func advice(err error) string {
	var (
		unknown  x509.UnknownAuthorityError
		hostname x509.HostnameError
		expired  x509.CertificateInvalidError
		record   tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &unknown):
		return "; set ca_certificate to the certificate authority of the API server"
	case errors.As(err, &hostname):
		return "; set tls_server_name to a name in the certificate, or the endpoint to one"
	case errors.As(err, &expired) && expired.Reason == x509.Expired:
		return "; renew the certificate of the API server, and check the clock here"
	case errors.As(err, &record):
		return "; the endpoint does not speak TLS"
	case errors.Is(err, context.DeadlineExceeded):
		return "; no answer came in time"
	default:
		return ""
	}
}

// isPermanentTransport reports whether a retry cannot help.
func isPermanentTransport(err error) bool {
	var t *transportError
	if errors.As(err, &t) && t.permanent {
		return true
	}
	return endpoint.IsPermanent(err)
}

// serverError is an unsuccessful answer. It unwraps to the server's Status, so that the predicates
// of apimachinery's errors package work.
type serverError struct {
	*apierrors.StatusError
	code       int
	retryAfter time.Duration
	// transientConflict is a 409 caused by a concurrent change, not by a field of another manager.
	transientConflict bool
	// notServed is a 404 for the path itself: the server does not serve the kind, or not yet.
	notServed bool
	// noAccount is a 403 because a service account does not exist, or not yet: a controller creates
	// the account of a new namespace.
	noAccount bool
	// webhook is a webhook that the server could not call. denied is set if a webhook that it did
	// call rejected the request, with any status code.
	webhook *silentWebhook
	denied  bool
}

func (e *serverError) Unwrap() error { return e.StatusError }

func newServerError(res *http.Response, body []byte, r request) *serverError {
	status := metav1.Status{}
	if err := json.Unmarshal(body, &status); err != nil || status.Kind != "Status" {
		text := strings.TrimSpace(string(body))
		if len(text) > 200 {
			text = text[:200] + "..."
		}
		status = apierrors.NewGenericServerResponse(res.StatusCode, r.method, schema.GroupResource{}, "", text, 0, true).ErrStatus
		if text != "" {
			status.Message = fmt.Sprintf("HTTP status %s: %s", res.Status, text)
		}
		if res.StatusCode >= 300 && res.StatusCode < 400 {
			status.Message = fmt.Sprintf("the server redirects to another address (HTTP status %s); give the address of the API server itself", res.Status)
		}
	}
	status.Code = int32(res.StatusCode) //nolint:gosec // three digits
	webhook, denied := webhookIn(res.StatusCode, status.Message), deniedAdmission.MatchString(status.Message)
	r.sensitive.clean(&status)
	e := &serverError{StatusError: &apierrors.StatusError{ErrStatus: status}, code: res.StatusCode, webhook: webhook, denied: denied}
	if s, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && s > 0 {
		e.retryAfter = time.Duration(s) * time.Second
	}
	if r.writes {
		e.transientConflict = status.Reason == metav1.StatusReasonConflict && len(fieldConflicts(&status)) == 0
		e.notServed = res.StatusCode == http.StatusNotFound && (status.Details == nil || status.Details.Name == "")
		e.noAccount = strings.Contains(status.Message, "error looking up service account") && strings.Contains(status.Message, "not found")
	}
	return e
}

// failure adds operation and object to an error. It makes a transport error a
// *vnfm.UnreachableError and a 401 a *CredentialsError.
func (c *Client) failure(r request, err error) error {
	var transport *transportError
	var server *serverError
	switch {
	case errors.As(err, &transport):
		return fmt.Errorf("%s %s: %w", r.doing, r.object, c.unreachable(fmt.Errorf("%s: %w", c.endpoint, err)))
	case errors.As(err, &server) && server.code == http.StatusUnauthorized:
		refused := &CredentialsError{Peer: c.peer, Endpoint: c.endpoint.String(), Err: err}
		if c.source != nil {
			refused.Source = c.source.String()
		}
		return fmt.Errorf("%s %s: %w", r.doing, r.object, refused)
	default:
		return fmt.Errorf("%s %s: %w", r.doing, r.object, err)
	}
}

func isUnknownKind(err error) bool {
	var unknown *UnknownKindError
	return errors.As(err, &unknown)
}
