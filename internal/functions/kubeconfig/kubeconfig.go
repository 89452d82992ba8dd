// Package kubeconfig reads the text of a kubeconfig. It is pure: it opens no file,
// runs no plugin and reaches no network, and its errors repeat nothing of the text
// but the names of contexts, clusters and users.
package kubeconfig

import (
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Config is what one context of a kubeconfig says. Certificates and keys are PEM.
type Config struct {
	// Context is the name of the context, Namespace its default namespace, empty for none.
	Context   string
	Namespace string
	// Host is the URL of the API server.
	Host                 string
	ClusterCACertificate string
	Insecure             bool
	TLSServerName        string
	ProxyURL             string
	ClientCertificate    string
	ClientKey            string
	Token                string
	Username             string
	Password             string
	// Plugin is the plugin that the user logs in with, "exec" or "auth-provider";
	// empty for none.
	Plugin string
	// Impersonate tells that the user acts as another one.
	Impersonate bool
}

// Ways returns the ways of authentication that the text itself holds.
func (c *Config) Ways() []string {
	var ways []string
	if c.Token != "" {
		ways = append(ways, "token")
	}
	if c.Username != "" || c.Password != "" {
		ways = append(ways, "username and password")
	}
	if c.ClientCertificate != "" {
		ways = append(ways, "client certificate")
	}
	return ways
}

type file struct {
	Kind           string         `yaml:"kind"`
	CurrentContext string         `yaml:"current-context"`
	Clusters       []namedCluster `yaml:"clusters"`
	Users          []namedUser    `yaml:"users"`
	Contexts       []namedContext `yaml:"contexts"`
}

type namedCluster struct {
	Name    string  `yaml:"name"`
	Cluster cluster `yaml:"cluster"`
}

type cluster struct {
	Server        string `yaml:"server"`
	CAData        string `yaml:"certificate-authority-data"`
	CAFile        string `yaml:"certificate-authority"`
	Insecure      bool   `yaml:"insecure-skip-tls-verify"`
	TLSServerName string `yaml:"tls-server-name"`
	ProxyURL      string `yaml:"proxy-url"`
}

type namedUser struct {
	Name string `yaml:"name"`
	User user   `yaml:"user"`
}

type user struct {
	CertificateData string    `yaml:"client-certificate-data"`
	CertificateFile string    `yaml:"client-certificate"`
	KeyData         string    `yaml:"client-key-data"`
	KeyFile         string    `yaml:"client-key"`
	Token           string    `yaml:"token"`
	TokenFile       string    `yaml:"tokenFile"`
	Username        string    `yaml:"username"`
	Password        string    `yaml:"password"`
	Exec            yaml.Node `yaml:"exec"`
	AuthProvider    yaml.Node `yaml:"auth-provider"`
	Impersonate     string    `yaml:"as"`
}

type namedContext struct {
	Name    string     `yaml:"name"`
	Context contextRef `yaml:"context"`
}

type contextRef struct {
	Cluster   string `yaml:"cluster"`
	User      string `yaml:"user"`
	Namespace string `yaml:"namespace"`
}

// Secrets returns the secret texts of all users of a kubeconfig, as they are
// written and decoded. A text that cannot be read has none.
func Secrets(text string) []string {
	var f file
	if err := yaml.Unmarshal([]byte(text), &f); err != nil {
		return nil
	}
	var secrets []string
	for _, u := range f.Users {
		for _, s := range []string{u.User.Token, u.User.Password, u.User.KeyData} {
			if s != "" {
				secrets = append(secrets, s)
			}
		}
		// What does not decode is refused elsewhere.
		if key, err := decodePEM("client-key-data", u.User.KeyData); err == nil && key != "" {
			secrets = append(secrets, key)
		}
	}
	return secrets
}

const flattenHint = `the text must hold everything itself; "kubectl config view --raw --flatten" writes such a one`

// Parse reads one context of a kubeconfig: the named one, or the current one when
// context is empty.
func Parse(text, context string) (*Config, error) {
	var f file
	if err := yaml.Unmarshal([]byte(text), &f); err != nil {
		return nil, syntaxError(err)
	}
	if f.Kind != "" && f.Kind != "Config" {
		return nil, fmt.Errorf("the text is of kind %q, not a kubeconfig (kind Config)", f.Kind)
	}
	if len(f.Contexts) == 0 && len(f.Clusters) == 0 {
		return nil, errors.New("the text is not a kubeconfig: it has neither contexts nor clusters")
	}
	name, err := f.contextName(context)
	if err != nil {
		return nil, err
	}
	ctx, err := find(f.Contexts, "context", name, func(c namedContext) string { return c.Name })
	if err != nil {
		return nil, err
	}
	cl, err := find(f.Clusters, "cluster", ctx.Context.Cluster, func(c namedCluster) string { return c.Name })
	if err != nil {
		return nil, fmt.Errorf("context %q: %w", name, err)
	}
	c := &Config{Context: name, Namespace: ctx.Context.Namespace}
	if err := c.setCluster(cl); err != nil {
		return nil, fmt.Errorf("cluster %q: %w", cl.Name, err)
	}
	if ctx.Context.User == "" {
		return c, nil
	}
	u, err := find(f.Users, "user", ctx.Context.User, func(u namedUser) string { return u.Name })
	if err != nil {
		return nil, fmt.Errorf("context %q: %w", name, err)
	}
	if err := c.setUser(u.User); err != nil {
		return nil, fmt.Errorf("user %q: %w", u.Name, err)
	}
	return c, nil
}

func (f *file) contextName(wanted string) (string, error) {
	switch {
	case wanted != "":
		return wanted, nil
	case f.CurrentContext != "":
		return f.CurrentContext, nil
	case len(f.Contexts) == 1:
		return f.Contexts[0].Name, nil
	}
	return "", errors.New("the kubeconfig has no current-context; name the context to use")
}

func find[T any](all []T, kind, name string, nameOf func(T) string) (*T, error) {
	var names []string
	for i := range all {
		if nameOf(all[i]) == name {
			return &all[i], nil
		}
		names = append(names, fmt.Sprintf("%q", nameOf(all[i])))
	}
	slices.Sort(names)
	if len(names) == 0 {
		return nil, fmt.Errorf("%s %q is not in the kubeconfig, which has none", kind, name)
	}
	return nil, fmt.Errorf("%s %q is not in the kubeconfig; it has %s", kind, name, strings.Join(names, ", "))
}

func (c *Config) setCluster(n *namedCluster) error {
	cl := n.Cluster
	if cl.Server == "" {
		return errors.New("server is missing")
	}
	if u, err := url.Parse(cl.Server); err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return errors.New("server is not an http or https URL")
	}
	if cl.CAFile != "" {
		return errors.New("certificate-authority names a file, which is not read: " + flattenHint)
	}
	ca, err := decodePEM("certificate-authority-data", cl.CAData)
	if err != nil {
		return err
	}
	c.Host, c.ClusterCACertificate, c.Insecure = cl.Server, ca, cl.Insecure
	c.TLSServerName, c.ProxyURL = cl.TLSServerName, cl.ProxyURL
	return nil
}

func (c *Config) setUser(u user) error {
	for _, ref := range []struct{ key, path string }{
		{"client-certificate", u.CertificateFile},
		{"client-key", u.KeyFile},
		{"tokenFile", u.TokenFile},
	} {
		if ref.path != "" {
			return fmt.Errorf("%s names a file, which is not read: %s", ref.key, flattenHint)
		}
	}
	var err error
	if c.ClientCertificate, err = decodePEM("client-certificate-data", u.CertificateData); err != nil {
		return err
	}
	if c.ClientKey, err = decodePEM("client-key-data", u.KeyData); err != nil {
		return err
	}
	if (c.ClientCertificate == "") != (c.ClientKey == "") {
		return errors.New("a client certificate needs its key: client-certificate-data and client-key-data belong together")
	}
	c.Token, c.Username, c.Password = u.Token, u.Username, u.Password
	c.Impersonate = u.Impersonate != ""
	switch {
	case !u.Exec.IsZero():
		c.Plugin = "exec"
	case !u.AuthProvider.IsZero():
		c.Plugin = "auth-provider"
	}
	return nil
}

func decodePEM(key, data string) (string, error) {
	if data == "" {
		return "", nil
	}
	// Base64 may be wrapped over several lines.
	decoded, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(data), ""))
	if err != nil {
		return "", fmt.Errorf("%s is not valid base64", key)
	}
	if block, _ := pem.Decode(decoded); block == nil {
		return "", fmt.Errorf("%s does not hold PEM", key)
	}
	return string(decoded), nil
}

// syntaxError keeps the line number alone: the decoder's own text repeats values.
func syntaxError(err error) error {
	if line, _ := vnfm.YAMLError(err); line > 0 {
		return fmt.Errorf("the kubeconfig is not valid YAML or has a value of the wrong type on line %d", line)
	}
	return errors.New("the kubeconfig is not valid YAML")
}
