package kube

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/urlpath"
)

const (
	jsonType       = "application/json"
	applyPatchType = "application/apply-patch+yaml"
	mergePatchType = "application/merge-patch+json"
	jsonPatchType  = "application/json-patch+json"
	metadataList   = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	metadataObject = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

	// maxBody bounds an answer that is read into memory as a whole.
	maxBody = 256 << 20
)

// request is one call of the API. Every request may be sent again.
type request struct {
	// doing and object name the attempt in errors: "applying", "Deployment core/amf".
	doing, object       string
	method, path        string
	query               url.Values
	contentType, accept string
	body                []byte
	// sensitive redacts values that must not appear in an error.
	sensitive *redactor
	// policy replaces the client's policy if set.
	policy *retryPolicy
	// writes is set if a conflict or a missing endpoint may be transient.
	writes bool
	// metadata is set for a list of metadata. Such lists find the objects of many kinds, and the
	// operator of one of the kinds may have been removed: the list is retried only briefly if a
	// conversion webhook does not answer.
	metadata bool
	// undecided, if set, becomes true after a try that may have taken effect without a
	// confirmation.
	undecided *bool
}

type response struct {
	body   []byte
	header http.Header
}

// do sends a request until it succeeds, fails permanently, or ctx ends. AwaitWebhooks sets how long
// webhooks are retried.
func (c *Client) do(ctx context.Context, r request) (*response, error) {
	if err := urlpath.Check(r.path); err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.doing, r.object, err)
	}
	policy := c.retry
	if r.policy != nil {
		policy = *r.policy
	}
	start := time.Now()
	var last error
	for tries := 1; ; tries++ {
		res, err := c.once(ctx, r, policy.attemptTimeout)
		if err == nil {
			noteWarnings(ctx, &r, res.header)
			return res, nil
		}
		if r.undecided != nil && isUndecided(err) {
			*r.undecided = true
		}
		if ctx.Err() != nil {
			return nil, interrupted(r, ctx.Err(), last)
		}
		last = err
		delay, again := policy.next(err, tries, time.Since(start), c.answered.Load())
		if r.metadata && isUnconverted(err) {
			again = again && time.Since(start)+delay <= policy.propagationWindow
		}
		if awaits(ctx, r, err) {
			delay, again = policy.backoff(tries), true
		}
		if !again {
			return nil, c.failure(r, err)
		}
		if poll.Sleep(ctx, delay) != nil {
			return nil, interrupted(r, ctx.Err(), last)
		}
	}
}

// interrupted adds the last answer of the server to the error of the context.
func interrupted(r request, ctxErr, last error) error {
	if last == nil {
		return fmt.Errorf("%s %s: %w", r.doing, r.object, ctxErr)
	}
	return fmt.Errorf("%s %s: %w; the last answer was: %w", r.doing, r.object, ctxErr, last)
}

// once sends a request and reads the whole answer.
func (c *Client) once(ctx context.Context, r request, timeout time.Duration) (*response, error) {
	// The timeout excludes the program that prints the credentials, which may take longer than the
	// server.
	who, err := c.identity(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	res, err := c.sendOrRenew(ctx, r, who)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if err != nil {
		return nil, &transportError{err: err}
	}
	if len(body) > maxBody {
		return nil, &transportError{err: errors.New("the answer is larger than 256 MiB"), permanent: true}
	}
	return &response{body: body, header: res.Header}, nil
}

// send opens a request; the caller closes the body. Anything but success is an error.
func (c *Client) send(ctx context.Context, r request) (*http.Response, error) {
	who, err := c.identity(ctx)
	if err != nil {
		return nil, err
	}
	return c.sendOrRenew(ctx, r, who)
}

// sendOrRenew is sendAs, repeated once with new credentials if the server rejects who and the
// source has others.
func (c *Client) sendOrRenew(ctx context.Context, r request, who *identity) (*http.Response, error) {
	res, err := c.sendAs(ctx, r, who)
	if who == nil || !isUnauthorized(err) {
		return res, err
	}
	other, renewing := c.renewedIdentity(ctx, who)
	if renewing != nil {
		return nil, renewing
	}
	if other == nil {
		return nil, err
	}
	return c.sendAs(ctx, r, other)
}

func isUnauthorized(err error) bool {
	var server *serverError
	return errors.As(err, &server) && server.code == http.StatusUnauthorized
}

// sendAs opens a request with an identity; nil if the transport authenticates.
func (c *Client) sendAs(ctx context.Context, r request, who *identity) (*http.Response, error) {
	u := *c.endpoint
	u.RawPath = ""
	u.Path = ""
	target := u.String() + c.endpoint.EscapedPath() + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, bytes.NewReader(r.body))
	if err != nil {
		return nil, &transportError{err: err, permanent: true}
	}
	if len(r.body) == 0 {
		req.Body, req.GetBody, req.ContentLength = http.NoBody, nil, 0
	} else {
		req.Header.Set("Content-Type", r.contentType)
	}
	accept := cmp.Or(r.accept, jsonType)
	req.Header.Set("Accept", accept)
	if who != nil {
		who.authorize(req)
	}
	sent := time.Now()
	res, err := c.http.Do(req)
	if err != nil {
		return nil, &transportError{err: err}
	}
	c.answered.Store(true)
	c.noteClock(res.Header, sent)
	if res.StatusCode >= 200 && res.StatusCode < 300 {
		return res, nil
	}
	defer func() { _ = res.Body.Close() }()
	// The status code is worth reporting even if the body breaks off.
	body, _ := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	return nil, newServerError(res, body, r)
}

// noteClock stores the difference of the server's clock from ours. The Date header has whole
// seconds, so half a second is added.
func (c *Client) noteClock(h http.Header, sent time.Time) {
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return
	}
	now := time.Now()
	middle := sent.Add(now.Sub(sent) / 2)
	c.clockOffset.Store(int64(date.Add(500 * time.Millisecond).Sub(middle)))
}

// serverNow returns the time of the server's clock.
func (c *Client) serverNow() time.Time {
	return time.Now().Add(time.Duration(c.clockOffset.Load()))
}
