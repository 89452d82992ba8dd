package fetch

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// addressError is an address that a download must not lead to.
type addressError struct{ text string }

func (e *addressError) Error() string { return e.text }

// dialTimeout bounds one connection.
const dialTimeout = 30 * time.Second

// refuseLocal has a client connect to no address of this machine or of its link, where metadata services of clouds are: not by name
// either, nor after a redirect. Behind a proxy, which resolves names itself, literal addresses alone are judged.
func refuseLocal(client *retryablehttp.Client, target *url.URL) error {
	if err := checkHost(target); err != nil {
		return err
	}
	follow := client.HTTPClient.CheckRedirect
	client.HTTPClient.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if err := checkHost(req.URL); err != nil {
			return err
		}
		return follow(req, via)
	}
	wrap := func(rt http.RoundTripper) (http.RoundTripper, error) {
		plain, ok := rt.(*http.Transport)
		if !ok {
			return nil, errors.New("there is no usable HTTP transport")
		}
		direct := plain.Clone()
		proxied := plain.Clone()
		direct.Proxy = nil
		direct.DialContext = (&net.Dialer{Timeout: dialTimeout, Control: controlLocal}).DialContext
		return &byProxy{direct: direct, proxied: proxied}, nil
	}
	var err error
	if both, ok := client.HTTPClient.Transport.(*byOrigin); ok {
		if both.trusting, err = wrap(both.trusting); err == nil {
			both.plain, err = wrap(both.plain)
		}
		return err
	}
	client.HTTPClient.Transport, err = wrap(client.HTTPClient.Transport)
	return err
}

// byProxy sends requests directly, unless there is a proxy for them.
type byProxy struct{ direct, proxied *http.Transport }

// RoundTrip implements http.RoundTripper.
func (t *byProxy) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.proxied.Proxy != nil {
		if proxy, err := t.proxied.Proxy(req); proxy != nil || err != nil {
			return t.proxied.RoundTrip(req)
		}
	}
	return t.direct.RoundTrip(req)
}

// CloseIdleConnections closes those of both.
func (t *byProxy) CloseIdleConnections() {
	t.direct.CloseIdleConnections()
	t.proxied.CloseIdleConnections()
}

// controlLocal is net.Dialer.Control.
func controlLocal(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return &addressError{"it leads to the address " + address + ", which cannot be judged"}
	}
	return checkAddress(at.Addr())
}

// checkHost judges the host of a URL as far as that is an address, or names this machine.
func checkHost(u *url.URL) error {
	host := u.Hostname()
	if host == "localhost" {
		return &addressError{"it leads to this machine (localhost)"}
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return checkAddress(addr)
	}
	return nil
}

func checkAddress(addr netip.Addr) error {
	addr = addr.Unmap().WithZone("")
	switch {
	case addr.IsLoopback() || addr.IsUnspecified():
		return &addressError{fmt.Sprintf("it leads to this machine (%s)", addr)}
	case addr.IsLinkLocalUnicast() || addr.IsMulticast():
		return &addressError{fmt.Sprintf("it leads to the link-local address %s", addr)}
	}
	return nil
}
