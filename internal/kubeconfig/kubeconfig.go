// Package kubeconfig reads the text of a kubeconfig. It is pure: it opens no file,
// runs no plugin and reaches no network, and its errors repeat nothing of the text
// but the names of contexts, clusters, users and plugins.
package kubeconfig

import (
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Config is what one context of a kubeconfig says. Certificates and keys are PEM.
type Config struct {
	// Context is the name of the context, Namespace its default namespace, empty for none.
	Context   string
	Namespace string
	// Cluster and User are the names of the cluster and of the user of the context.
	Cluster string
	User    string
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
	// Plugin is the kind of the plugin that the user logs in with, "exec" or "auth-provider",
	// and PluginName its program or name; empty for none.
	Plugin     string
	PluginName string
	// PluginArgs and PluginVersion are the arguments of the program and the version of its output.
	PluginArgs    []string
	PluginVersion string
	// Files are what the text names instead of containing it, and Exec is the program of the
	// plugin "exec": both for ReadFile alone.
	Files Files
	Exec  *Exec
	// Impersonate tells that the user acts as another one.
	Impersonate bool
	// Repeated says which of "clusters", "users" and "contexts" have one name several times; empty for none.
	Repeated string
}

// Files are paths of files in a kubeconfig, as they are written there; empty for none.
type Files struct {
	ClusterCACertificate, ClientCertificate, ClientKey, Token string
}

// Exec is a program that prints credentials.
type Exec struct {
	vnfm.ExecPlugin
	// ProvideClusterInfo says that the program is told about the cluster.
	ProvideClusterInfo bool
}

// CheckLogin returns an error when the provider cannot log in with the context: it runs no programs, impersonates
// nobody, and needs exactly one way of authentication.
func (c *Config) CheckLogin() error {
	const instead = "give the token of a service account as bearer_token instead"
	switch {
	case c.Plugin == "exec" && c.Exec == nil:
		return fmt.Errorf("context %q logs in with a plugin (exec), which runs the program %q, and the provider runs no program that a kubeconfig names; "+
			"give endpoint and ca_certificate instead of the kubeconfig, and %s", c.Context, c.PluginName, c.execArgument())
	case c.Plugin == "auth-provider":
		return fmt.Errorf("context %q logs in with the plugin %q (auth-provider), and the provider runs none; give a token as bearer_token, or the path of a file that has it as token_file", c.Context, c.PluginName)
	case c.Plugin != "" && c.Exec == nil:
		return fmt.Errorf("context %q logs in with the plugin %q (%s), and the provider runs none; %s", c.Context, c.PluginName, c.Plugin, instead)
	case c.Impersonate:
		return fmt.Errorf("context %q impersonates another user, which is not supported; give the credentials of that user", c.Context)
	case c.Repeated != "":
		// Of two servers a reader may see one, and the credentials go to the other.
		return fmt.Errorf("it has several %s of one name", c.Repeated)
	}
	switch ways := c.ways(); {
	case len(ways) == 0:
		return fmt.Errorf("context %q holds no credentials", c.Context)
	case len(ways) > 1 && !slices.Equal(ways, []string{"token", "client certificate"}):
		return fmt.Errorf("the user of context %q has several ways of authentication: %s; keep one", c.Context, strings.Join(ways, ", "))
	case (c.Username == "") != (c.Password == ""):
		return fmt.Errorf("the user of context %q has a user name without password, or the reverse", c.Context)
	}
	return nil
}

// execArgument is the argument with which a configuration has the provider run the program of the plugin.
func (c *Config) execArgument() string {
	quote := func(text string) string { return strings.ReplaceAll(strconv.Quote(text), "${", "$${") }
	args := make([]string, len(c.PluginArgs))
	for i, arg := range c.PluginArgs {
		args[i] = quote(vnfm.HideNamed(arg))
	}
	out := "exec = { command = " + quote(c.PluginName)
	if len(args) > 0 {
		out += ", args = [" + strings.Join(args, ", ") + "]"
	}
	if c.PluginVersion != "" {
		out += ", api_version = " + quote(c.PluginVersion)
	}
	return out + " }"
}

// ways returns the ways of authentication that the kubeconfig has.
func (c *Config) ways() []string {
	var ways []string
	if c.Token != "" || c.Files.Token != "" {
		ways = append(ways, "token")
	}
	if c.Username != "" || c.Password != "" {
		ways = append(ways, "username and password")
	}
	if c.ClientCertificate != "" || c.Files.ClientCertificate != "" {
		ways = append(ways, "client certificate")
	}
	if c.Exec != nil {
		ways = append(ways, "exec")
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
	Exec            *execUser `yaml:"exec"`
	AuthProvider    *struct {
		Name string `yaml:"name"`
	} `yaml:"auth-provider"`
	Impersonate       string         `yaml:"as"`
	ImpersonateUID    string         `yaml:"as-uid"`
	ImpersonateGroups []string       `yaml:"as-groups"`
	ImpersonateExtra  map[string]any `yaml:"as-user-extra"`
}

type execUser struct {
	APIVersion string   `yaml:"apiVersion"`
	Command    string   `yaml:"command"`
	Args       []string `yaml:"args"`
	Env        []struct {
		Name  string `yaml:"name"`
		Value string `yaml:"value"`
	} `yaml:"env"`
	ProvideClusterInfo bool `yaml:"provideClusterInfo"`
}

func (e *execUser) plugin() *Exec {
	out := &Exec{ExecPlugin: vnfm.ExecPlugin{Command: e.Command, Args: e.Args, APIVersion: e.APIVersion}, ProvideClusterInfo: e.ProvideClusterInfo}
	for _, v := range e.Env {
		if out.Env == nil {
			out.Env = map[string]string{}
		}
		out.Env[v.Name] = v.Value
	}
	return out
}

func (u *user) impersonates() bool {
	return u.Impersonate != "" || u.ImpersonateUID != "" || len(u.ImpersonateGroups) > 0 || len(u.ImpersonateExtra) > 0
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
		// Undecodable data is rejected elsewhere.
		if key, err := decode("client-key-data", u.User.KeyData); err == nil && isPEM(key) {
			secrets = append(secrets, key)
		}
	}
	return secrets
}

const flattenHint = `the kubeconfig must contain all data itself; "kubectl config view --raw --flatten" writes such a kubeconfig`

// kindName is how kinds are named. Anything else is not quoted: it may be a secret.
var kindName = lazyregexp.New(`^[A-Z][A-Za-z0-9]{0,62}$`)

// Parse is Read of a kubeconfig whose server must be a URL and whose certificates and keys must be PEM.
func Parse(text, context string) (*Config, error) {
	c, err := Read(text, context)
	if err != nil {
		return nil, err
	}
	if c.Host == "" {
		return nil, fmt.Errorf("cluster %q: server is missing", c.Cluster)
	}
	if u, err := url.Parse(c.Host); err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return nil, fmt.Errorf("cluster %q: server is not an http or https URL", c.Cluster)
	}
	for _, f := range []struct{ owner, key, text string }{
		{"cluster " + strconv.Quote(c.Cluster), "certificate-authority-data", c.ClusterCACertificate},
		{"user " + strconv.Quote(c.User), "client-certificate-data", c.ClientCertificate},
		{"user " + strconv.Quote(c.User), "client-key-data", c.ClientKey},
	} {
		if f.text != "" && !isPEM(f.text) {
			return nil, fmt.Errorf("%s: %s does not hold PEM", f.owner, f.key)
		}
	}
	return c, nil
}

// Read reads one context of a kubeconfig: the named one, or the current one when
// context is empty. Everything must be in the text itself.
func Read(text, context string) (*Config, error) { return read(text, context, false) }

// ReadFile is Read of a kubeconfig that is a file of the user, and may name others and a program.
func ReadFile(text, context string) (*Config, error) { return read(text, context, true) }

func read(text, context string, local bool) (*Config, error) {
	var f file
	if isEncoded(text) {
		return nil, errors.New("the text is base64 of a kubeconfig, not the kubeconfig itself: decode it, for example with base64decode()")
	}
	if err := yaml.Unmarshal([]byte(text), &f); err != nil {
		return nil, syntaxError(text, err)
	}
	if f.Kind != "" && f.Kind != "Config" {
		if !kindName.MatchString(f.Kind) {
			return nil, errors.New("the text is not a kubeconfig (kind Config)")
		}
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
	c := &Config{Context: name, Namespace: ctx.Context.Namespace, Cluster: cl.Name, User: ctx.Context.User, Repeated: f.repeated()}
	if err := c.setCluster(cl, local); err != nil {
		return nil, fmt.Errorf("cluster %q: %w", cl.Name, err)
	}
	if ctx.Context.User == "" {
		return c, nil
	}
	u, err := find(f.Users, "user", ctx.Context.User, func(u namedUser) string { return u.Name })
	if err != nil {
		return nil, fmt.Errorf("context %q: %w", name, err)
	}
	if err := c.setUser(u.User, local); err != nil {
		return nil, fmt.Errorf("user %q: %w", u.Name, err)
	}
	return c, nil
}

// repeated names a list with two entries of one name.
func (f *file) repeated() string {
	switch {
	case repeats(f.Clusters, func(c namedCluster) string { return c.Name }):
		return "clusters"
	case repeats(f.Users, func(u namedUser) string { return u.Name }):
		return "users"
	case repeats(f.Contexts, func(c namedContext) string { return c.Name }):
		return "contexts"
	default:
		return ""
	}
}

func repeats[T any](all []T, nameOf func(T) string) bool {
	seen := map[string]bool{}
	for _, item := range all {
		seen[nameOf(item)] = true
	}
	return len(seen) < len(all)
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
	if len(f.Contexts) == 0 {
		return "", errors.New("the kubeconfig has no context")
	}
	names := make([]string, 0, len(f.Contexts))
	for i := range f.Contexts {
		names = append(names, strconv.Quote(f.Contexts[i].Name))
	}
	slices.Sort(names)
	return "", fmt.Errorf("the kubeconfig has no current-context; name the context to use, one of %s", strings.Join(names, ", "))
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

func (c *Config) setCluster(n *namedCluster, local bool) error {
	cl := n.Cluster
	if cl.CAFile != "" && !local {
		return errors.New("certificate-authority names a file, which is not read: " + flattenHint)
	}
	ca, err := decode("certificate-authority-data", cl.CAData)
	if err != nil {
		return err
	}
	c.Host, c.ClusterCACertificate, c.Insecure = cl.Server, ca, cl.Insecure
	if ca == "" {
		c.Files.ClusterCACertificate = cl.CAFile
	}
	c.TLSServerName, c.ProxyURL = cl.TLSServerName, cl.ProxyURL
	return nil
}

// setUser takes over a user. Inline data wins over files, as it does for kubectl; the
// file of a token wins over a token.
func (c *Config) setUser(u user, local bool) error {
	for _, ref := range []struct{ key, path string }{
		{"client-certificate", u.CertificateFile},
		{"client-key", u.KeyFile},
		{"tokenFile", u.TokenFile},
	} {
		if ref.path != "" && !local {
			return fmt.Errorf("%s names a file, which is not read: %s", ref.key, flattenHint)
		}
	}
	var err error
	if c.ClientCertificate, err = decode("client-certificate-data", u.CertificateData); err != nil {
		return err
	}
	if c.ClientKey, err = decode("client-key-data", u.KeyData); err != nil {
		return err
	}
	if c.ClientCertificate == "" {
		c.Files.ClientCertificate = u.CertificateFile
	}
	if c.ClientKey == "" {
		c.Files.ClientKey = u.KeyFile
	}
	if (c.ClientCertificate+c.Files.ClientCertificate == "") != (c.ClientKey+c.Files.ClientKey == "") {
		return errors.New("a client certificate needs its key: client-certificate-data and client-key-data belong together")
	}
	c.Token, c.Username, c.Password = u.Token, u.Username, u.Password
	if c.Files.Token = u.TokenFile; u.TokenFile != "" {
		c.Token = ""
	}
	c.Impersonate = u.impersonates()
	switch {
	case u.Exec != nil:
		c.Plugin, c.PluginName, c.PluginArgs, c.PluginVersion = "exec", u.Exec.Command, u.Exec.Args, u.Exec.APIVersion
		if local {
			c.Exec = u.Exec.plugin()
		}
	case u.AuthProvider != nil:
		c.Plugin, c.PluginName = "auth-provider", u.AuthProvider.Name
	}
	return nil
}

// isEncoded reports whether a text is base64 of a kubeconfig, as Secrets have it.
func isEncoded(text string) bool {
	decoded, err := decode("", text)
	return err == nil && strings.Contains(decoded, "clusters:") && strings.Contains(decoded, "contexts:")
}

func decode(key, data string) (string, error) {
	// Base64 may be wrapped over several lines.
	decoded, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(data), ""))
	if err != nil {
		return "", fmt.Errorf("%s is not valid base64", key)
	}
	return string(decoded), nil
}

func isPEM(text string) bool {
	block, _ := pem.Decode([]byte(text))
	return block != nil
}

// syntaxError keeps the line number alone: the decoder's own text repeats values.
func syntaxError(text string, err error) error {
	if line, _ := vnfm.YAMLError([]byte(text), err); line > 0 {
		return fmt.Errorf("the kubeconfig is not valid YAML or has a value of the wrong type on line %d", line)
	}
	return errors.New("the kubeconfig is not valid YAML")
}
