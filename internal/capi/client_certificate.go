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

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/cloud"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// clockSkew backdates issued certificates, because clocks differ.
const clockSkew = 5 * time.Minute

// withoutCA is the advice when the Secret of the CA is missing.
const withoutCA = "the CA of the cluster is kept elsewhere; leave certificate_request out, and the administrator's kubeconfig of the cluster is read, or issue the certificate where the CA is"

// issueClientCertificate signs a client certificate with the CA of the cluster. It returns
// the kubeconfig with this certificate instead of the administrator's.
func (c *cluster) issueClientCertificate(ctx context.Context, admin *vnfm.Kubeconfig, spec *vnfm.ClientCertificateSpec) (*vnfm.Kubeconfig, error) {
	secret, err := c.secret(ctx, purposeCA)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("reading the CA of %s: %w: %s", c, err, withoutCA)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the CA of %s: %w", c, err)
	}
	cert, err := cloud.SecretValue(secret, "tls.crt")
	if err != nil {
		return nil, err
	}
	key, err := cloud.SecretValue(secret, "tls.key")
	if err != nil {
		return nil, fmt.Errorf("%w: the CA of %s signs elsewhere, so that no certificate can be issued; leave certificate_request out", err, c)
	}
	certificate, clientKey, err := sign([]byte(cert), []byte(key), spec)
	if err != nil {
		return nil, fmt.Errorf("issuing a client certificate for %s: %w", c, err)
	}
	raw, err := kube.KubeconfigFor(admin.Raw.Reveal(), spec.CommonName, []byte(certificate), []byte(clientKey))
	if err != nil {
		return nil, fmt.Errorf("writing a kubeconfig for %s: %w", c, err)
	}
	out, err := kube.ReadKubeconfig(raw)
	if err != nil {
		return nil, fmt.Errorf("writing a kubeconfig for %s: %w", c, err)
	}
	out.ID = admin.ID
	return out, nil
}

func sign(caCert, caKey []byte, spec *vnfm.ClientCertificateSpec) (certificate, key string, err error) {
	pair, err := tls.X509KeyPair(caCert, caKey)
	if err != nil {
		// The cause is dropped: an error must not quote a key.
		return "", "", errors.New("the CA's certificate and key do not fit together")
	}
	ca, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return "", "", fmt.Errorf("the CA's certificate cannot be read: %w", err)
	}
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return "", "", err
	}
	now := time.Now().UTC().Truncate(time.Second)
	notAfter := now.Add(spec.TTL)
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
		return "", "", err
	}
	encoded, err := x509.MarshalECPrivateKey(own)
	if err != nil {
		return "", "", err
	}
	certificate = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}))
	key = string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: encoded}))
	return certificate, key, nil
}
