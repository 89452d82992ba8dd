package kube

import (
	"crypto/x509"
	"encoding/pem"

	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	kyaml "sigs.k8s.io/yaml"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kubeconfig"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// ReadKubeconfig returns the contents of the current context of a kubeconfig. The text must not
// refer to files.
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

// KubeconfigFor writes a kubeconfig for another user with a client certificate. Server, CA, TLS
// name, proxy and namespace come from the current context of text; extensions are dropped.
func KubeconfigFor(text, user string, certificate, key []byte) (string, error) {
	c, err := readContext(text, "")
	if err != nil {
		return "", err
	}
	name := user + "@" + c.Cluster
	out, err := kyaml.Marshal(clientcmdv1.Config{
		APIVersion: "v1", Kind: "Config", CurrentContext: name,
		Clusters: []clientcmdv1.NamedCluster{{Name: c.Cluster, Cluster: clientcmdv1.Cluster{
			Server: c.Host, CertificateAuthorityData: []byte(c.ClusterCACertificate), InsecureSkipTLSVerify: c.Insecure,
			TLSServerName: c.TLSServerName, ProxyURL: c.ProxyURL,
		}}},
		AuthInfos: []clientcmdv1.NamedAuthInfo{{Name: user, AuthInfo: clientcmdv1.AuthInfo{ClientCertificateData: certificate, ClientKeyData: key}}},
		Contexts:  []clientcmdv1.NamedContext{{Name: name, Context: clientcmdv1.Context{Cluster: c.Cluster, AuthInfo: user, Namespace: c.Namespace}}},
	})
	return string(out), err
}

// readContext reads one context of a kubeconfig, the current one if context is empty, and checks
// that the provider supports its login.
func readContext(text, context string) (*kubeconfig.Config, error) {
	c, err := kubeconfig.Read(text, context)
	if err != nil {
		return nil, err
	}
	return c, c.CheckLogin()
}

// parseKubeconfig reads the access to the API server from one context of a kubeconfig.
func parseKubeconfig(text, context string) (access, error) {
	c, err := readContext(text, context)
	if err != nil {
		return access{}, err
	}
	return access{
		endpoint: c.Host, ca: bytesOf(c.ClusterCACertificate), insecure: c.Insecure, tlsServerName: c.TLSServerName, proxyURL: c.ProxyURL,
		token: c.Token, username: c.Username, password: c.Password, certificate: bytesOf(c.ClientCertificate), key: bytesOf(c.ClientKey),
	}, nil
}

// bytesOf returns nil for an empty text.
func bytesOf(text string) []byte {
	if text == "" {
		return nil
	}
	return []byte(text)
}
