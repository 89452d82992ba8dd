package kube

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"k8s.io/client-go/rest"

	"github.com/nfv-iac/terraform-provider-vnf/internal/endpoint"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Config says how to reach one API server.
type Config struct {
	// Connection and Credentials are those of the VIM. Nothing else is read: no
	// KUBECONFIG, no file in the home directory, no service account of a pod.
	Connection  vnfm.KubernetesConnection
	Credentials vnfm.Credentials
	// UserAgent is sent with every request, "terraform-provider-vnf/<version>".
	UserAgent string
	// VIM is the name of the VIM, for errors.
	VIM string
}

// dialTimeout bounds the wait for an address that swallows packets.
const dialTimeout = 10 * time.Second

// access is a Config after a kubeconfig was resolved: one server and exactly one
// way of authentication.
type access struct {
	endpoint      string
	ca            []byte
	insecure      bool
	tlsServerName string
	proxyURL      string
	token         string
	username      string
	password      string
	certificate   []byte
	key           []byte
}

// restConfig checks cfg and turns it into the configuration of a transport. It
// returns a *vnfm.InvalidError that names every wrong argument.
func restConfig(cfg Config) (*rest.Config, *url.URL, error) {
	var problems vnfm.Problems
	a := resolveAccess(cfg, &problems)
	if problems.HasErrors() {
		return nil, nil, problems.Err()
	}
	server := checkEndpoint(a.endpoint, &problems)
	checkTLS(a, &problems)
	proxy := checkProxy(a.proxyURL, &problems)
	a.token = checkToken(a.token, &problems)
	if problems.HasErrors() {
		return nil, nil, problems.Err()
	}
	rc := &rest.Config{
		Host:        server.String(),
		BearerToken: a.token,
		Username:    a.username,
		Password:    a.password,
		UserAgent:   cfg.UserAgent,
		// The server's own priority and fairness rules limit the rate.
		QPS:   -1,
		Proxy: proxy,
		Dial:  (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig: rest.TLSClientConfig{
			Insecure:   a.insecure,
			ServerName: a.tlsServerName,
			CAData:     a.ca,
			CertData:   a.certificate,
			KeyData:    a.key,
		},
		DisableCompression: endpoint.IsLoopback(server.Hostname()),
	}
	return rc, server, nil
}

// resolveAccess merges the connection over the kubeconfig, if there is one, and
// refuses anything but one way of authentication.
func resolveAccess(cfg Config, problems *vnfm.Problems) access {
	conn, creds := cfg.Connection, cfg.Credentials
	var ways []string
	for _, name := range []string{vnfm.CredentialBearerToken, vnfm.CredentialPassword, vnfm.CredentialClientKey, vnfm.CredentialKubeconfig} {
		if creds[name].Reveal() != "" {
			ways = append(ways, name)
		}
	}
	switch {
	case len(ways) == 0:
		problems.Invalid(vnfm.CredentialBearerToken, "no credentials are given",
			"set exactly one of bearer_token, username with password, client_certificate with client_key, or kubeconfig")
		return access{}
	case len(ways) > 1:
		problems.Invalid(ways[1], "several ways of authentication are given: "+strings.Join(ways, ", "), "keep one of them")
		return access{}
	}
	var a access
	if ways[0] == vnfm.CredentialKubeconfig {
		var err error
		a, err = parseKubeconfig(creds[vnfm.CredentialKubeconfig].Reveal(), conn.KubeconfigContext)
		if err != nil {
			problems.Invalid(vnfm.CredentialKubeconfig, "the kubeconfig cannot be used", err.Error())
			return access{}
		}
	} else if conn.KubeconfigContext != "" {
		problems.Invalid("kubeconfig_context", "a context is given without a kubeconfig", "give the kubeconfig or remove the context")
	}
	checkPairs(conn, ways[0], problems)
	override(&a.endpoint, conn.Endpoint)
	override(&a.tlsServerName, conn.TLSServerName)
	override(&a.proxyURL, conn.ProxyURL)
	if conn.CACertificate != "" {
		a.ca, a.insecure = []byte(conn.CACertificate), false
	}
	if conn.InsecureSkipTLSVerify {
		if conn.CACertificate != "" {
			problems.Invalid("insecure_skip_tls_verify", "a CA certificate is given although nothing is verified", "remove one of ca_certificate and insecure_skip_tls_verify")
		}
		a.ca, a.insecure = nil, true
	}
	if a.insecure && !conn.InsecureSkipTLSVerify {
		problems.Invalid("insecure_skip_tls_verify", "the kubeconfig leaves the certificate of the API server unverified (insecure-skip-tls-verify)",
			"give the CA as ca_certificate, or set insecure_skip_tls_verify = true where the network is trusted")
	}
	switch ways[0] {
	case vnfm.CredentialBearerToken:
		a.token = creds[vnfm.CredentialBearerToken].Reveal()
	case vnfm.CredentialPassword:
		a.username, a.password = conn.Username, creds[vnfm.CredentialPassword].Reveal()
	case vnfm.CredentialClientKey:
		a.certificate, a.key = []byte(conn.ClientCertificate), []byte(creds[vnfm.CredentialClientKey].Reveal())
	}
	return a
}

// checkPairs refuses halves: a user name without password, a certificate without key.
func checkPairs(conn vnfm.KubernetesConnection, way string, problems *vnfm.Problems) {
	if way == vnfm.CredentialPassword && conn.Username == "" {
		problems.Invalid("username", "a password is given without a user name", "set username")
	}
	if way != vnfm.CredentialPassword && conn.Username != "" {
		problems.Invalid("username", "a user name is given without a password", "set password, or remove username")
	}
	if way == vnfm.CredentialClientKey && conn.ClientCertificate == "" {
		problems.Invalid("client_certificate", "a client key is given without its certificate", "set client_certificate")
	}
	if way != vnfm.CredentialClientKey && conn.ClientCertificate != "" {
		problems.Invalid("client_certificate", "a client certificate is given without its key", "set client_key, or remove client_certificate")
	}
}

func override(dst *string, src string) {
	if src != "" {
		*dst = src
	}
}

func checkEndpoint(text string, problems *vnfm.Problems) *url.URL {
	u := endpoint.Check("endpoint", text, "give the URL of the API server, for example https://10.0.0.10:6443", problems)
	if u != nil {
		u.Path = strings.TrimRight(u.Path, "/")
	}
	return u
}

func checkTLS(a access, problems *vnfm.Problems) {
	if len(a.ca) > 0 && !x509.NewCertPool().AppendCertsFromPEM(a.ca) {
		problems.Invalid("ca_certificate", "the CA certificate holds no certificate in PEM form", "it begins with -----BEGIN CERTIFICATE-----")
	}
	if len(a.certificate) > 0 || len(a.key) > 0 {
		if _, err := tls.X509KeyPair(a.certificate, a.key); err != nil {
			problems.Invalid("client_certificate", "the client certificate and its key cannot be used", err.Error())
		}
	}
}

func checkProxy(text string, problems *vnfm.Problems) func(*http.Request) (*url.URL, error) {
	if text == "" {
		return http.ProxyFromEnvironment
	}
	u, err := url.Parse(text)
	if err != nil {
		problems.Invalid("proxy_url", "the proxy URL is not a URL", endpoint.WithoutURL(err).Error())
		return nil
	}
	switch u.Scheme {
	case "http", "https", "socks5", "socks5h":
	default:
		problems.Invalid("proxy_url", "the proxy URL has no known scheme", "use http, https or socks5")
		return nil
	}
	if u.Host == "" {
		problems.Invalid("proxy_url", "the proxy URL has no host", "for example http://proxy.example:3128")
		return nil
	}
	return http.ProxyURL(u)
}

func checkToken(token string, problems *vnfm.Problems) string {
	token = strings.TrimSpace(token)
	if strings.ContainsFunc(token, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		problems.Invalid(vnfm.CredentialBearerToken, "the bearer token contains white space", "give the token alone, in one line")
	}
	return token
}
