// Package endpoint checks the addresses of APIs and judges the errors of requests to them.
package endpoint

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Check parses the URL of an API that gets credentials, and adds what is wrong with it to the problems of an argument.
// advice says what to give instead. The result is nil when the URL cannot be used.
func Check(argument, text, advice string, problems *vnfm.Problems) *url.URL {
	if text == "" {
		problems.Invalid(argument, "no "+argument+" is given", advice)
		return nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		problems.Invalid(argument, "the "+argument+" is not a URL", WithoutURL(err).Error())
	case u.User != nil:
		problems.Invalid(argument, "the "+argument+" contains a user name or password", "use username and password")
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		problems.Invalid(argument, fmt.Sprintf("the %s %q is not an http or https URL with a host", argument, text), advice)
	case u.RawQuery != "" || u.Fragment != "":
		problems.Invalid(argument, "the "+argument+" has a query or a fragment", advice)
	case IsPlain(u):
		problems.Invalid(argument, fmt.Sprintf("the %s %q would carry the credentials unencrypted", argument, text), "use https")
	default:
		return u
	}
	return nil
}

// IsPlain reports whether requests to a URL are unencrypted and leave this machine.
func IsPlain(u *url.URL) bool { return u.Scheme == "http" && !IsLoopback(u.Hostname()) }

// IsLoopback reports whether a host name or an address is this machine's own.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// IsHTTP reports whether a source is to be downloaded: whether it begins with http:// or https://.
func IsHTTP(source string) bool {
	return strings.HasPrefix(source, "http://") || strings.HasPrefix(source, "https://")
}

// WithoutURL returns the error of a request, or of parsing a URL, without the URL that it repeats: it may hold a password.
func WithoutURL(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err
	}
	return err
}

// IsPermanent reports whether a request failed for a reason that a retry cannot change: a handshake of TLS that failed, or
// a certificate that is not trusted.
func IsPermanent(err error) bool {
	var (
		unknown  x509.UnknownAuthorityError
		hostname x509.HostnameError
		invalid  x509.CertificateInvalidError
		verify   *tls.CertificateVerificationError
		record   tls.RecordHeaderError
		alert    tls.AlertError
	)
	return errors.As(err, &unknown) || errors.As(err, &hostname) || errors.As(err, &invalid) ||
		errors.As(err, &verify) || errors.As(err, &record) || errors.As(err, &alert)
}
