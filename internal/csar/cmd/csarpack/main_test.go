package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writeIdentity writes a self-signed certificate and its key.
func writeIdentity(t *testing.T, dir string) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Acme"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	write := func(name, kind string, data []byte) {
		if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(certificate, "CERTIFICATE", der)
	write(key, "EC PRIVATE KEY", keyDER)
	return certificate, key
}

// TestLifeOfAPackage goes from a directory to packages signed in both ways.
func TestLifeOfAPackage(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	certificate, key := writeIdentity(t, out)
	for name, text := range map[string]string{
		"s.yaml":      "metadata: {template_name: a, template_version: \"1\", template_author: b}\n",
		"deploy.json": `{"apiVersion": "v1", "kind": "Pod"}`,
		"s.mf":        "metadata:\n  vnf_provider_id: a\n  vnf_product_name: b\n  vnf_release_date_time: 2026-01-01T00:00:00Z\n  vnf_package_version: 1\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	call := func(args ...string) string {
		t.Helper()
		var buf bytes.Buffer
		if err := run(args, &buf); err != nil {
			t.Fatalf("csarpack %s: %v\n%s", strings.Join(args, " "), err, buf.String())
		}
		return buf.String()
	}
	zip, one, two := filepath.Join(out, "p.csar"), filepath.Join(out, "one.csar"), filepath.Join(out, "two.zip")
	call("hash", dir)
	call("zip", dir, zip)
	call("sign", "--cert", certificate, "--key", key, dir, one)
	call("sign", "--cert", certificate, "--key", key, "--option", "2", dir, two)
	for path, want := range map[string]string{dir: "security:  ", zip: "security:  ", one: `security: OPTION_1 signer="CN=Acme" verified=true`, two: `security: OPTION_2 signer="CN=Acme" verified=true`} {
		got := call("check", "--roots", certificate, path)
		if !strings.Contains(got, want) || !strings.Contains(got, "kubernetes: deploy.json\n") || strings.Contains(got, "warning") {
			t.Errorf("check %s:\n%s\nwant %q", path, got, want)
		}
	}
	var buf bytes.Buffer
	if err := run([]string{"check", "--signature", "require", "--roots", certificate, zip}, &buf); err == nil || !strings.Contains(buf.String(), "error: s.mf: the package is not signed") {
		t.Errorf("an unsigned package passed: %v\n%s", err, buf.String())
	}
}

func TestUsageErrors(t *testing.T) {
	for _, args := range [][]string{nil, {"fly"}, {"hash"}, {"zip", "a"}, {"check", "--what", "a"}, {"sign", t.TempDir(), "x"}} {
		if err := run(args, &bytes.Buffer{}); err == nil {
			t.Errorf("csarpack %q: no error", args)
		}
	}
}
