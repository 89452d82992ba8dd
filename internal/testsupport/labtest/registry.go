package labtest

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

const (
	// registryPatience bounds the wait for an answer, registryAttempt one request: a machine that is busy answers late, and a
	// connection that was opened at a bad moment never.
	registryPatience = 5 * time.Minute
	registryAttempt  = 20 * time.Second
)

// RegistryStatus is the status that a container registry answers to GET <url>/v2/, as a user unless that is empty. The certificate is
// not verified. A registry that does not answer is asked again for five minutes; the error then says how far the last request came.
func RegistryStatus(ctx context.Context, url, user, password string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, registryPatience)
	defer cancel()
	for {
		status, reached, err := registryStatus(ctx, url, user, password)
		if err == nil {
			return status, nil
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("%w (reached: %s)", err, reached)
		case <-time.After(time.Second):
		}
	}
}

func registryStatus(ctx context.Context, url, user, password string) (status int, reached string, err error) {
	ctx, cancel := context.WithTimeout(ctx, registryAttempt)
	defer cancel()
	// A dial that nobody waits for any more still reports.
	var last atomic.Value
	last.Store("nothing")
	trace := &httptrace.ClientTrace{
		ConnectDone: func(_, _ string, err error) {
			if err == nil {
				last.Store("the address")
			}
		},
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			if err == nil {
				last.Store("the end of the TLS handshake")
			}
		},
		WroteRequest: func(httptrace.WroteRequestInfo) { last.Store("the end of the request") },
	}
	request, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, trace), http.MethodGet, url+"/v2/", nil)
	if err == nil && user != "" {
		request.SetBasicAuth(user, password)
	}
	var response *http.Response
	if err == nil {
		client := &http.Client{Transport: &http.Transport{
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // the certificates are made by the tests
			DisableKeepAlives: true,
		}}
		response, err = client.Do(request)
	}
	if err != nil {
		reached, _ = last.Load().(string)
		return 0, reached, err
	}
	return response.StatusCode, "", response.Body.Close()
}
