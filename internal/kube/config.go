package kube

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"k8s.io/client-go/rest"

	"github.com/nfv-iac/terraform-provider-vnf/internal/endpoint"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Config says how to reach one API server.
type Config struct {
	// Connection and Credentials belong to the VIM. Nothing else is read: neither KUBECONFIG nor a
	// file in the home directory, and the service account of a pod only if Connection asks for it.
	Connection  vnfm.KubernetesConnection
	Credentials vnfm.Credentials
	// UserAgent is sent with every request, "terraform-provider-vnf/<version>".
	UserAgent string
	// VIM is the name of the VIM, for errors.
	VIM string
	// Peer describes a server that is not a VIM; zero for a VIM.
	Peer vnfm.Peer
	// serviceAccount is the folder of the pod's service account; tests set it.
	serviceAccount string
}

func (c Config) peer() vnfm.Peer { return cmp.Or(c.Peer, vnfm.VIMPeer(c.VIM, c.Connection.PerRun)) }

// dialTimeout bounds connecting to an address that drops packets.
const dialTimeout = 10 * time.Second

// access is a Config with its kubeconfig resolved: one server and exactly one way of
// authentication.
type access struct {
	endpoint string
	ca       []byte
	// caFile is set instead of ca for a file that is read again.
	caFile        string
	insecure      bool
	tlsServerName string
	proxyURL      string
	token         string
	username      string
	password      string
	certificate   []byte
	key           []byte
	// source, if set, provides the credentials instead of the fields above.
	source identitySource
	// incomplete is set if the endpoint is unknown for a reason that is already reported.
	incomplete bool
}

// resolved is a checked Config.
type resolved struct {
	rest   *rest.Config
	server *url.URL
	source identitySource
}

// CheckConfig checks the arguments of a connection and reads no files. It returns a
// *vnfm.InvalidError that names every invalid argument.
func CheckConfig(cfg Config) error {
	var problems vnfm.Problems
	checkAccess(resolveAccess(cfg, false, &problems), &problems)
	return problems.Err()
}

// resolve checks cfg and converts it to the configuration of a transport. It returns a
// *vnfm.InvalidError that names every invalid argument.
func resolve(cfg Config) (*resolved, error) {
	var problems vnfm.Problems
	a := resolveAccess(cfg, true, &problems)
	server, proxy := checkAccess(a, &problems)
	if problems.HasErrors() {
		return nil, problems.Err()
	}
	return &resolved{server: server, source: a.source, rest: &rest.Config{
		Host:        server.String(),
		BearerToken: strings.TrimSpace(a.token),
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
			CAFile:     a.caFile,
			CertData:   a.certificate,
			KeyData:    a.key,
		},
		DisableCompression: endpoint.IsLoopback(server.Hostname()),
	}}, nil
}

// checkAccess checks the address of a server, its TLS settings, the proxy and the token.
func checkAccess(a access, problems *vnfm.Problems) (*url.URL, func(*http.Request) (*url.URL, error)) {
	var server *url.URL
	if a.endpoint != "" || !a.incomplete {
		server = checkEndpoint(a.endpoint, problems)
	}
	checkTLS(a, problems)
	proxy := checkProxy(a.proxyURL, problems)
	if _, err := cleanToken(a.token); a.token != "" && err != nil {
		problems.Invalid(vnfm.CredentialBearerToken, "the bearer token "+err.Error(), "give the token alone, in one line")
	}
	return server, proxy
}

// resolveAccess overrides the kubeconfig or the pod's settings, if any, with the connection's
// arguments. It rejects anything but exactly one way of authentication, and reads files only if
// machine is set.
func resolveAccess(cfg Config, machine bool, problems *vnfm.Problems) access {
	conn := cfg.Connection
	ways := waysOf(cfg)
	checkWays(ways, problems)
	checkPairs(cfg, problems)
	checkExec(conn.Exec, problems)
	a := access{incomplete: len(ways) > 1}
	if len(ways) == 1 {
		a = authenticate(cfg, ways[0], machine, problems)
	}
	override(&a.endpoint, conn.Endpoint)
	override(&a.tlsServerName, conn.TLSServerName)
	override(&a.proxyURL, conn.ProxyURL)
	if conn.CACertificate != "" {
		a.ca, a.caFile, a.insecure = []byte(conn.CACertificate), "", false
	}
	if conn.InsecureSkipTLSVerify {
		if conn.CACertificate != "" {
			problems.Invalid("insecure_skip_tls_verify", "a CA certificate is given although nothing is verified", "remove one of ca_certificate and insecure_skip_tls_verify")
		}
		a.ca, a.caFile, a.insecure = nil, "", true
	}
	if a.insecure && !conn.InsecureSkipTLSVerify {
		problems.Invalid("insecure_skip_tls_verify", "the kubeconfig leaves the certificate of the API server unverified (insecure-skip-tls-verify)",
			"give the CA as ca_certificate, or set insecure_skip_tls_verify = true where the network is trusted")
	}
	return a
}

// waysOf returns the ways of authentication that are set, each by its argument.
func waysOf(cfg Config) []string {
	var ways []string
	for _, name := range []string{vnfm.CredentialBearerToken, vnfm.CredentialPassword, vnfm.CredentialClientKey, vnfm.CredentialKubeconfig} {
		if cfg.Credentials[name].Reveal() != "" {
			ways = append(ways, name)
		}
	}
	return append(ways, cfg.Connection.UsesMachine()...)
}

func checkWays(ways []string, problems *vnfm.Problems) {
	switch {
	case len(ways) == 0:
		problems.Invalid(vnfm.CredentialBearerToken, "no credentials are given",
			"set exactly one of bearer_token, token_file, exec, username with password, client_certificate with client_key, or kubeconfig")
	case len(ways) > 1:
		problems.Invalid(ways[1], "several ways of authentication are given: "+strings.Join(ways, ", "), "keep one of them")
	}
}

// authenticate returns the credentials of a way of authentication, or their source, and the server
// if a kubeconfig or a pod names it.
func authenticate(cfg Config, way string, machine bool, problems *vnfm.Problems) access {
	conn, creds := cfg.Connection, cfg.Credentials
	switch way {
	case vnfm.CredentialBearerToken:
		return access{token: creds[way].Reveal()}
	case vnfm.CredentialPassword:
		return access{username: conn.Username, password: creds[way].Reveal()}
	case vnfm.CredentialClientKey:
		return access{certificate: []byte(conn.ClientCertificate), key: []byte(creds[way].Reveal())}
	case vnfm.CredentialKubeconfig:
		a, err := parseKubeconfig(creds[way].Reveal(), conn.KubeconfigContext)
		if err != nil {
			problems.Invalid(way, "the kubeconfig cannot be used", err.Error())
			return access{incomplete: true}
		}
		if conn.Renew == nil {
			return a
		}
		if a, err = renewableAccess(a, conn); err != nil {
			problems.Invalid(way, "the kubeconfig cannot be used", err.Error())
			return access{incomplete: true}
		}
		return a
	case vnfm.ArgumentTokenFile:
		return access{source: &tokenFile{path: expandHome(conn.TokenFile)}}
	case vnfm.ArgumentExec:
		return access{source: newExecPlugin(*conn.Exec, nil)}
	}
	if !machine {
		return access{incomplete: true}
	}
	var a access
	var err error
	if way == vnfm.ArgumentInCluster {
		a, err = podAccess(cmp.Or(cfg.serviceAccount, serviceAccountFolder))
	} else {
		a, err = openKubeconfig(expandHome(conn.KubeconfigPath), conn.KubeconfigContext)
	}
	if err != nil {
		summary := "the kubeconfig cannot be used"
		if way == vnfm.ArgumentInCluster {
			summary = "there is no service account of a pod"
		}
		problems.Invalid(way, summary, err.Error())
		return access{incomplete: true}
	}
	return a
}

// checkPairs rejects halves: a user name without password, a certificate without key, a context
// without kubeconfig.
func checkPairs(cfg Config, problems *vnfm.Problems) {
	conn := cfg.Connection
	has := func(name string) bool { return cfg.Credentials[name].Reveal() != "" }
	password, key := has(vnfm.CredentialPassword), has(vnfm.CredentialClientKey)
	if password && conn.Username == "" {
		problems.Invalid("username", "a password is given without a user name", "set username")
	}
	if !password && conn.Username != "" {
		problems.Invalid("username", "a user name is given without a password", "set password, or remove username")
	}
	if key && conn.ClientCertificate == "" {
		problems.Invalid("client_certificate", "a client key is given without its certificate", "set client_certificate")
	}
	if !key && conn.ClientCertificate != "" {
		problems.Invalid("client_certificate", "a client certificate is given without its key", "set client_key, or remove client_certificate")
	}
	if conn.KubeconfigContext != "" && !has(vnfm.CredentialKubeconfig) && conn.KubeconfigPath == "" {
		problems.Invalid("kubeconfig_context", "a context is given without a kubeconfig", "give the kubeconfig or remove the context")
	}
}

// checkExec checks the arguments of the program that prints credentials. It does not look for the
// program.
func checkExec(plugin *vnfm.ExecPlugin, problems *vnfm.Problems) {
	if plugin == nil {
		return
	}
	if plugin.Command == "" {
		problems.Invalid("exec.command", "no program is given", "give its path, or its name on the PATH")
	}
	if versions := vnfm.ExecAPIVersions(); !slices.Contains(versions, plugin.APIVersion) {
		problems.Invalid("exec.api_version", fmt.Sprintf("the version %q of an ExecCredential is not supported", plugin.APIVersion), "use "+strings.Join(versions, " or "))
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
	if len(a.certificate) > 0 && len(a.key) > 0 {
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

// cleanToken trims white space around a token. It rejects an empty token and one with white space
// or control characters inside. The error does not repeat the token.
func cleanToken(text string) (string, error) {
	token := strings.TrimSpace(text)
	switch {
	case token == "":
		return "", errors.New("is empty")
	case strings.ContainsFunc(token, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
		return "", errors.New("contains white space")
	default:
		return token, nil
	}
}
