package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
)

// silentWebhook is a webhook that the API server could not call. The webhook of a starting operator
// is called long before it answers.
type silentWebhook struct {
	// name is the name of an admission webhook, or the kind of a conversion webhook.
	name  string
	cause string
	// conversion is set for a conversion webhook.
	conversion bool
}

func (w *silentWebhook) String() string { return fmt.Sprintf("webhook %s: %s", w.name, w.cause) }

var (
	failedAdmission  = lazyregexp.New(`failed calling webhook "([^"]+)"`)
	failedConversion = lazyregexp.New(`conversion webhook for (\S+, Kind=\w+) failed`)
	deniedAdmission  = lazyregexp.New(`admission webhook "[^"]+" denied the request`)
	// silence matches the reasons of a missing answer: no pod, no listener, no certificate yet.
	// Other failures of a webhook do not pass by waiting.
	silence = lazyregexp.New(`no endpoints available for service "[^"]*"|service "[^"]*" not found|connection refused|connection reset by peer|no such host|no route to host|i/o timeout|context deadline exceeded|x509: certificate signed by unknown authority|EOF$`)
)

// webhookIn finds the webhook that did not answer in the message of a failure.
func webhookIn(code int, message string) *silentWebhook {
	if code < http.StatusInternalServerError {
		return nil
	}
	cause := silence.FindString(message)
	if cause == "" {
		return nil
	}
	if m := failedAdmission.FindStringSubmatch(message); m != nil {
		return &silentWebhook{name: m[1], cause: cause}
	}
	if m := failedConversion.FindStringSubmatch(message); m != nil {
		return &silentWebhook{conversion: true, name: "for the conversion of " + strings.Replace(m[1], ", Kind=", " ", 1), cause: cause}
	}
	return nil
}

type webhookKey struct{}

// AwaitWebhooks returns a context under which writes wait, until it ends, for webhooks that do not
// answer yet. report gets the webhook and the cause. Without this context such failures are retried
// only briefly.
func AwaitWebhooks(ctx context.Context, report func(waitingFor string)) context.Context {
	return context.WithValue(ctx, webhookKey{}, report)
}

// awaits reports whether a failed request is sent again because a webhook did not answer. If so, it
// reports the webhook to the context.
func awaits(ctx context.Context, r request, err error) bool {
	report, ok := ctx.Value(webhookKey{}).(func(string))
	var server *serverError
	if !ok || r.method == http.MethodGet || !errors.As(err, &server) || server.webhook == nil {
		return false
	}
	report(server.webhook.String())
	return true
}

// isUnconverted reports whether a request failed because a conversion webhook did not answer.
func isUnconverted(err error) bool {
	var server *serverError
	return errors.As(err, &server) && server.webhook != nil && server.webhook.conversion
}
