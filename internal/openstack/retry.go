package openstack

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
)

// retryPolicy says how often a request is sent again, and after which pause the first
// time; the pause doubles.
type retryPolicy struct {
	tries uint
	pause time.Duration
}

func defaultRetry() retryPolicy { return retryPolicy{tries: 3, pause: 500 * time.Millisecond} }

// again decides on a request that failed: nil sends it again. Only what changes nothing
// is sent twice, and a token that is asked for: whatever else was accepted before its
// answer was lost would be made twice.
func (c *Client) again(ctx context.Context, method, target string, _ *gophercloud.RequestOpts, err error, failures uint) error {
	harmless := method == http.MethodGet || method == http.MethodDelete || method == http.MethodHead || isTokens(target)
	if !harmless || failures >= c.retry.tries || ctx.Err() != nil || !passes(method, err) {
		return err
	}
	if poll.Sleep(ctx, c.retry.pause<<(failures-1)) != nil {
		return err
	}
	return nil
}

// passes reports whether the failure of a request may pass by itself. The API of Heat answers a read with 500 when the engine
// that it asked was restarted.
func passes(method string, err error) bool {
	var answer gophercloud.ErrUnexpectedResponseCode
	if errors.As(err, &answer) {
		switch answer.Actual {
		case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		case http.StatusInternalServerError:
			return method == http.MethodGet
		default:
			return false
		}
	}
	return !isPermanentTransport(err)
}

// maxPause bounds the pause that a service may ask for.
const maxPause = 30 * time.Second

// backOff waits as a service that is overrun asks for (429).
func (c *Client) backOff(ctx context.Context, answer *gophercloud.ErrUnexpectedResponseCode, _ error, failures uint) error {
	if failures > c.retry.tries {
		return *answer
	}
	pause := c.retry.pause << (failures - 1)
	if seconds, err := strconv.Atoi(answer.ResponseHeader.Get("Retry-After")); err == nil && seconds > 0 {
		pause = min(time.Duration(seconds)*time.Second, maxPause)
	}
	if err := poll.Sleep(ctx, pause); err != nil {
		return *answer
	}
	return nil
}
