package capi

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// clockSkew is how long ago a minted certificate begins: clocks differ.
const clockSkew = 5 * time.Minute

// mint signs a client certificate with the CA of the cluster and returns the
// kubeconfig with it in the place of the administrator's.
func (c *cluster) mint(ctx context.Context, admin *vnfm.Kubeconfig, spec *vnfm.MintSpec) (*vnfm.Kubeconfig, error) {
	secret, err := c.secret(ctx, purposeCA)
	if err != nil {
		return nil, fmt.Errorf("reading the CA of %s: %w", c, err)
	}
	cert, err := value(secret, "tls.crt")
	if err != nil {
		return nil, err
	}
	key, err := value(secret, "tls.key")
	if err != nil {
		return nil, fmt.Errorf("%w: the CA of %s signs elsewhere, so that no certificate can be minted", err, c)
	}
	certificate, clientKey, notAfter, err := sign([]byte(cert), []byte(key), spec)
	if err != nil {
		return nil, fmt.Errorf("minting a client certificate for %s: %w", c, err)
	}
	out := *admin
	out.ClientCertificate, out.ClientKey, out.Token, out.NotAfter = certificate, vnfm.Secret(clientKey), "", notAfter
	raw, err := c.compose(&out, spec.CommonName)
	if err != nil {
		return nil, err
	}
	out.Raw = vnfm.Secret(raw)
	return &out, nil
}

func sign(caCert, caKey []byte, spec *vnfm.MintSpec) (certificate, key string, notAfter time.Time, err error) {
	pair, err := tls.X509KeyPair(caCert, caKey)
	if err != nil {
		// The error of a key that does not fit quotes neither.
		return "", "", notAfter, errors.New("the CA's certificate and key do not fit together")
	}
	ca, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return "", "", notAfter, fmt.Errorf("the CA's certificate cannot be read: %w", err)
	}
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", notAfter, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return "", "", notAfter, err
	}
	now := time.Now().UTC().Truncate(time.Second)
	notAfter = now.Add(spec.TTL)
	if notAfter.After(ca.NotAfter) {
		notAfter = ca.NotAfter
	}
	request := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: spec.CommonName, Organization: spec.Organizations},
		NotBefore: now.Add(-clockSkew), NotAfter: notAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, request, ca, own.Public(), pair.PrivateKey)
	if err != nil {
		return "", "", notAfter, err
	}
	encoded, err := x509.MarshalECPrivateKey(own)
	if err != nil {
		return "", "", notAfter, err
	}
	certificate = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}))
	key = string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: encoded}))
	return certificate, key, notAfter, nil
}

// compose writes a kubeconfig for a user of the cluster.
func (c *cluster) compose(k *vnfm.Kubeconfig, user string) (string, error) {
	context := user + "@" + c.name
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": context,
		"clusters": []any{map[string]any{"name": c.name, "cluster": map[string]any{
			"server": k.Host, "certificate-authority-data": []byte(k.CACertificate),
		}}},
		"users": []any{map[string]any{"name": user, "user": map[string]any{
			"client-certificate-data": []byte(k.ClientCertificate), "client-key-data": []byte(k.ClientKey.Reveal()),
		}}},
		"contexts": []any{map[string]any{"name": context, "context": map[string]any{"cluster": c.name, "user": user}}},
	})
	if err != nil {
		return "", fmt.Errorf("writing a kubeconfig for %s: %w", c, err)
	}
	if _, err := kube.ReadKubeconfig(string(text)); err != nil {
		return "", fmt.Errorf("writing a kubeconfig for %s: %w", c, err)
	}
	return string(text), nil
}
