package kube

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/util/yaml"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	kyaml "sigs.k8s.io/yaml"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// ReadKubeconfig returns what the current context of a kubeconfig says. Everything
// must be in the text itself.
func ReadKubeconfig(text string) (*vnfm.Kubeconfig, error) {
	a, err := parseKubeconfig(text, "")
	if err != nil {
		return nil, err
	}
	k := &vnfm.Kubeconfig{
		Raw: vnfm.Secret(text), Host: a.endpoint, CACertificate: string(a.ca),
		ClientCertificate: string(a.certificate), ClientKey: vnfm.Secret(a.key), Token: vnfm.Secret(a.token),
	}
	if block, _ := pem.Decode(a.certificate); block != nil {
		if cert, err := x509.ParseCertificate(block.Bytes); err == nil {
			k.NotAfter = cert.NotAfter
		}
	}
	return k, nil
}

// KubeconfigFor writes the kubeconfig of another user, who has a client certificate, for
// the cluster of the current context of one: whatever that says of the way there stays.
func KubeconfigFor(text, user string, certificate, key []byte) (string, error) {
	if _, err := ReadKubeconfig(text); err != nil {
		return "", err
	}
	var kc clientcmdv1.Config
	if err := yaml.Unmarshal([]byte(text), &kc); err != nil {
		return "", errors.New("it is not a kubeconfig in YAML or JSON")
	}
	kctx, err := pickContext(kc.Contexts, kc.CurrentContext)
	if err != nil {
		return "", err
	}
	name := user + "@" + kctx.Cluster
	kctx.AuthInfo = user
	kc.Clusters = slices.DeleteFunc(kc.Clusters, func(c clientcmdv1.NamedCluster) bool { return c.Name != kctx.Cluster })
	kc.AuthInfos = []clientcmdv1.NamedAuthInfo{{Name: user, AuthInfo: clientcmdv1.AuthInfo{ClientCertificateData: certificate, ClientKeyData: key}}}
	kc.Contexts, kc.CurrentContext = []clientcmdv1.NamedContext{{Name: name, Context: kctx}}, name
	kc.APIVersion, kc.Kind = "v1", "Config"
	out, err := kyaml.Marshal(kc)
	return string(out), err
}

// parseKubeconfig resolves one context of a kubeconfig, the current one when none
// is named. Everything must be in the text itself: whatever would make the
// provider read a file or run a program is refused.
func parseKubeconfig(text, contextName string) (access, error) {
	var kc clientcmdv1.Config
	if err := yaml.Unmarshal([]byte(text), &kc); err != nil {
		// The parser's own message quotes the text, which holds secrets.
		return access{}, errors.New("it is not a kubeconfig in YAML or JSON")
	}
	if len(kc.Clusters) == 0 {
		return access{}, errors.New("it names no cluster")
	}
	if contextName == "" {
		contextName = kc.CurrentContext
	}
	kctx, err := pickContext(kc.Contexts, contextName)
	if err != nil {
		return access{}, err
	}
	for what, names := range map[string][]string{
		"clusters": namesOf(kc.Clusters, func(c clientcmdv1.NamedCluster) string { return c.Name }),
		"users":    namesOf(kc.AuthInfos, func(u clientcmdv1.NamedAuthInfo) string { return u.Name }),
		"contexts": namesOf(kc.Contexts, func(c clientcmdv1.NamedContext) string { return c.Name }),
	} {
		if slices.Sort(names); len(slices.Compact(slices.Clone(names))) < len(names) {
			// Of two servers a reader may see one, and the credentials go to the other.
			return access{}, fmt.Errorf("it has several %s of one name", what)
		}
	}
	cluster, ok := find(kc.Clusters, kctx.Cluster, func(c clientcmdv1.NamedCluster) string { return c.Name })
	if !ok {
		return access{}, fmt.Errorf("context %q names the cluster %q, which is not in the kubeconfig", contextName, kctx.Cluster)
	}
	user, ok := find(kc.AuthInfos, kctx.AuthInfo, func(u clientcmdv1.NamedAuthInfo) string { return u.Name })
	if !ok {
		return access{}, fmt.Errorf("context %q names the user %q, which is not in the kubeconfig", contextName, kctx.AuthInfo)
	}
	if err := refuseOutside(cluster, user); err != nil {
		return access{}, err
	}
	a := access{
		endpoint:      cluster.Cluster.Server,
		ca:            cluster.Cluster.CertificateAuthorityData,
		insecure:      cluster.Cluster.InsecureSkipTLSVerify,
		tlsServerName: cluster.Cluster.TLSServerName,
		proxyURL:      cluster.Cluster.ProxyURL,
		token:         user.AuthInfo.Token,
		username:      user.AuthInfo.Username,
		password:      user.AuthInfo.Password,
		certificate:   user.AuthInfo.ClientCertificateData,
		key:           user.AuthInfo.ClientKeyData,
	}
	return a, checkUser(user.Name, &a)
}

func pickContext(contexts []clientcmdv1.NamedContext, name string) (clientcmdv1.Context, error) {
	known := make([]string, 0, len(contexts))
	for _, c := range contexts {
		if c.Name == name {
			return c.Context, nil
		}
		known = append(known, c.Name)
	}
	sort.Strings(known)
	switch {
	case len(known) == 0:
		return clientcmdv1.Context{}, errors.New("it has no context")
	case name == "":
		return clientcmdv1.Context{}, fmt.Errorf("it has no current-context; set kubeconfig_context to one of %s", strings.Join(known, ", "))
	default:
		return clientcmdv1.Context{}, fmt.Errorf("it has no context %q; it has %s", name, strings.Join(known, ", "))
	}
}

func namesOf[T any](items []T, nameOf func(T) string) []string {
	out := make([]string, 0, len(items))
	for _, item := range items {
		out = append(out, nameOf(item))
	}
	return out
}

func find[T any](items []T, name string, nameOf func(T) string) (T, bool) {
	for _, item := range items {
		if nameOf(item) == name {
			return item, true
		}
	}
	var zero T
	return zero, false
}

// refuseOutside names the first entry that points outside the text.
func refuseOutside(cluster clientcmdv1.NamedCluster, user clientcmdv1.NamedAuthInfo) error {
	c, u := cluster.Cluster, user.AuthInfo
	switch {
	case u.Exec != nil:
		return fmt.Errorf("user %q runs the program %q to log in (exec), and the provider runs none; make a service account token and use bearer_token", user.Name, u.Exec.Command)
	case u.AuthProvider != nil:
		return fmt.Errorf("user %q uses the authentication plugin %q (auth-provider), and the provider runs none; make a service account token and use bearer_token", user.Name, u.AuthProvider.Name)
	}
	for _, f := range []struct{ owner, key, path string }{
		{"cluster " + cluster.Name, "certificate-authority", c.CertificateAuthority},
		{"user " + user.Name, "client-certificate", u.ClientCertificate},
		{"user " + user.Name, "client-key", u.ClientKey},
		{"user " + user.Name, "tokenFile", u.TokenFile},
	} {
		if f.path != "" {
			return fmt.Errorf("%s refers to the file %q (%s), and the provider reads none; kubectl config view --raw --flatten writes a kubeconfig that contains its files", f.owner, f.path, f.key)
		}
	}
	if u.Impersonate != "" || u.ImpersonateUID != "" || len(u.ImpersonateGroups) > 0 || len(u.ImpersonateUserExtra) > 0 {
		return fmt.Errorf("user %q impersonates %q, which is not supported; use the credentials of that user", user.Name, u.Impersonate)
	}
	return nil
}

// checkUser leaves exactly one way of authentication in a.
func checkUser(name string, a *access) error {
	ways := 0
	for _, set := range []bool{a.token != "", a.username != "" || a.password != "", len(a.certificate) > 0 || len(a.key) > 0} {
		if set {
			ways++
		}
	}
	switch {
	case ways == 0:
		return fmt.Errorf("user %q has no credentials", name)
	case ways > 1:
		return fmt.Errorf("user %q has several ways of authentication; keep one", name)
	case (a.username == "") != (a.password == ""):
		return fmt.Errorf("user %q has a user name without password or the reverse", name)
	}
	return nil
}
