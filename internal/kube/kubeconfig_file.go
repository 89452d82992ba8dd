package kube

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kubeconfig"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// openKubeconfig reads one context of a kubeconfig file of the user. The file may name other files
// and a program, relative to its folder as for kubectl.
func openKubeconfig(path, name string) (access, error) {
	f := &kubeconfigFile{path: path, context: name}
	c, err := f.read()
	if err != nil {
		return access{}, err
	}
	f.server = c.Host
	a := access{
		endpoint: c.Host, ca: bytesOf(c.ClusterCACertificate), insecure: c.Insecure, tlsServerName: c.TLSServerName, proxyURL: c.ProxyURL, source: f,
	}
	if ca := c.Files.ClusterCACertificate; ca != "" {
		a.caFile = f.beside(ca)
		if _, err := readLocal(a.caFile); err != nil {
			return access{}, fmt.Errorf("the CA file %q: %w", a.caFile, err)
		}
	}
	return a, nil
}

// kubeconfigFile reads credentials from a kubeconfig file. If they are rejected, and their own
// source has no others, the file is read again.
type kubeconfigFile struct {
	path, context string
	// server is the address in the file, to which the credentials belong.
	server string

	mu sync.Mutex
	// text is the content of the file at the last read, user the source of its credentials.
	text []byte
	user identitySource
}

// String implements identitySource.
func (f *kubeconfigFile) String() string { return fmt.Sprintf("the kubeconfig %q", f.path) }

// read reads the file and the source of its credentials. Another server than at the first read is
// an error, because the credentials belong to that server.
func (f *kubeconfigFile) read() (*kubeconfig.Config, error) {
	text, err := readLocal(f.path)
	if err != nil {
		return nil, err
	}
	c, err := kubeconfig.ReadFile(string(text), f.context)
	if err != nil {
		return nil, err
	}
	if err := c.CheckLogin(); err != nil {
		return nil, err
	}
	if f.server != "" && c.Host != f.server {
		return nil, errors.New("it names another server now: apply again")
	}
	user, err := f.userOf(c)
	if err != nil {
		return nil, err
	}
	f.text, f.user = text, user
	return c, nil
}

// userOf returns the source of the credentials of a context, which has one way of authentication.
func (f *kubeconfigFile) userOf(c *kubeconfig.Config) (identitySource, error) {
	switch {
	case c.Exec != nil:
		return f.program(c)
	case c.Files.Token != "":
		return &tokenFile{path: f.beside(c.Files.Token)}, nil
	case c.ClientCertificate == "" && c.Files.ClientCertificate == "":
		token, err := cleanToken(c.Token)
		if c.Token != "" && err != nil {
			return nil, fmt.Errorf("the token of user %q %w", c.User, err)
		}
		return fixedIdentity{&identity{token: token, username: c.Username, password: c.Password}}, nil
	}
	certificate, key := []byte(c.ClientCertificate), []byte(c.ClientKey)
	for _, part := range []struct {
		path string
		text *[]byte
	}{{c.Files.ClientCertificate, &certificate}, {c.Files.ClientKey, &key}} {
		if part.path == "" {
			continue
		}
		var err error
		if *part.text, err = readLocal(f.beside(part.path)); err != nil {
			return nil, fmt.Errorf("the file %q of user %q: %w", f.beside(part.path), c.User, err)
		}
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("the client certificate and the key of user %q cannot be used: %w", c.User, err)
	}
	return fixedIdentity{&identity{certificate: &pair, key: string(key)}}, nil
}

// program returns the credential program (exec) of a context's user.
func (f *kubeconfigFile) program(c *kubeconfig.Config) (identitySource, error) {
	plugin := c.Exec.ExecPlugin
	var problems vnfm.Problems
	checkExec(&plugin, &problems)
	if problems.HasErrors() {
		return nil, fmt.Errorf("the program (exec) of user %q: %w", c.User, problems.Err())
	}
	if strings.ContainsRune(plugin.Command, filepath.Separator) {
		plugin.Command = f.beside(plugin.Command)
	}
	var cluster *execCluster
	if c.Exec.ProvideClusterInfo {
		cluster = &execCluster{Server: c.Host, TLSServerName: c.TLSServerName, Insecure: c.Insecure, CA: bytesOf(c.ClusterCACertificate), ProxyURL: c.ProxyURL}
		if ca := c.Files.ClusterCACertificate; ca != "" {
			var err error
			if cluster.CA, err = readLocal(f.beside(ca)); err != nil {
				return nil, fmt.Errorf("the CA file %q: %w", f.beside(ca), err)
			}
		}
	}
	return newExecPlugin(plugin, cluster), nil
}

// beside resolves a path in the file, relative to the folder of the file.
func (f *kubeconfigFile) beside(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(f.path), path)
}

func (f *kubeconfigFile) current(ctx context.Context) (*identity, error) {
	f.mu.Lock()
	user := f.user
	f.mu.Unlock()
	return user.current(ctx)
}

func (f *kubeconfigFile) renewed(ctx context.Context, refused *identity) (*identity, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if who, err := f.user.renewed(ctx, refused); who != nil || err != nil {
		return who, err
	}
	// Fixed credentials may come from other files, so they are read again even if this file is
	// unchanged.
	_, fixed := f.user.(fixedIdentity)
	if text, err := readLocal(f.path); err == nil && !fixed && bytes.Equal(text, f.text) {
		return nil, nil
	}
	if _, err := f.read(); err != nil {
		return nil, err
	}
	who, err := f.user.current(ctx)
	if err != nil || who.same(refused) {
		return nil, err
	}
	return who, nil
}
