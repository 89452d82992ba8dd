package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/csar"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

type commandLine struct {
	certificate, key            string
	option                      int
	integrity, signature, roots string
}

func (c commandLine) hash(dir string, out io.Writer) error {
	manifest, err := csar.Hash(dir)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, filepath.Join(dir, manifest))
	return err
}

func (c commandLine) zip(dir, target string, out io.Writer) (err error) {
	a, err := csar.OpenDirectory(dir, csar.Limits{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return write(a, target, out)
}

// write packs an archive into memory first, so that a failure leaves no half file.
func write(a csar.Archive, target string, out io.Writer) error {
	var buf bytes.Buffer
	if err := csar.WriteZip(a, &buf); err != nil {
		return err
	}
	if err := os.WriteFile(target, buf.Bytes(), 0o644); err != nil { //nolint:gosec // a package is public
		return err
	}
	_, err := fmt.Fprintln(out, target, csar.ContentDigest(a))
	return err
}

func (c commandLine) sign(dir, target string, out io.Writer) (err error) {
	certificate, err := os.ReadFile(filepath.Clean(c.certificate))
	if err != nil {
		return fmt.Errorf("reading the certificate: %w", err)
	}
	key, err := os.ReadFile(filepath.Clean(c.key))
	if err != nil {
		return fmt.Errorf("reading the key: %w", err)
	}
	a, err := csar.OpenDirectory(dir, csar.Limits{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	p, problems := csar.Read(a, csar.Options{Signature: csar.SignatureIgnore})
	if err := problems.Err(); err != nil {
		return fmt.Errorf("reading the package %q (run \"csarpack hash\" after changes): %w", dir, err)
	}
	switch c.option {
	case 1:
		return signManifest(a, p, certificate, key, target, out)
	case 2:
		return signArchive(a, certificate, key, target, out)
	}
	return fmt.Errorf("option %d does not exist; SOL 004 has 1 and 2", c.option)
}

func signManifest(a csar.Archive, p *csar.Package, certificate, key []byte, target string, out io.Writer) error {
	if p.Manifest == nil {
		return errors.New("the package has no manifest to sign; use option 2")
	}
	files := map[string][]byte{}
	for _, f := range a.Files() {
		data, err := a.ReadFile(f.Path)
		if err != nil {
			return err
		}
		files[f.Path] = data
	}
	manifest, err := csar.SignOption1(files[p.ManifestFile], certificate, key)
	if err != nil {
		return err
	}
	files[p.ManifestFile] = manifest
	return write(csar.FromFiles(files), target, out)
}

func signArchive(a csar.Archive, certificate, key []byte, target string, out io.Writer) error {
	var inner bytes.Buffer
	if err := csar.WriteZip(a, &inner); err != nil {
		return err
	}
	cms, err := csar.SignOption2(inner.Bytes(), certificate, key)
	if err != nil {
		return err
	}
	base := strings.TrimSuffix(filepath.Base(target), filepath.Ext(target))
	return write(csar.FromFiles(map[string][]byte{base + ".csar": inner.Bytes(), base + ".cms": cms}), target, out)
}

func (c commandLine) check(path string, out io.Writer) (err error) {
	b := budget.New(context.Background(), budget.Limits{})
	o := csar.Options{Integrity: csar.Integrity(c.integrity), Signature: csar.SignaturePolicy(c.signature), Budget: b}
	if c.roots != "" {
		if o.Trust.Roots, err = os.ReadFile(filepath.Clean(c.roots)); err != nil {
			return fmt.Errorf("reading the trust roots: %w", err)
		}
	}
	a, p, problems, err := csar.Open(path, o, csar.Limits{})
	if err != nil {
		return err
	}
	var kubernetes []string
	if a != nil {
		var more vnfm.Problems
		kubernetes, more = p.KubernetesFiles(b, a)
		problems = append(problems, more...)
	}
	var text strings.Builder
	for _, problem := range problems {
		word := "error"
		if problem.Severity == vnfm.SeverityWarning {
			word = "warning"
		}
		fmt.Fprintf(&text, "%s: %s\n", word, problem)
	}
	if a != nil {
		defer func() { err = errors.Join(err, a.Close()) }()
		fmt.Fprintf(&text, "entry: %s\nmanifest: %s\ndigest: %s\nfiles: %d, listed: %d\nkubernetes: %s\n",
			p.Entry, p.ManifestFile, p.Digest, len(a.Files()), len(p.Artifacts), strings.Join(kubernetes, " "))
		fmt.Fprintf(&text, "security: %s signer=%q verified=%t\n", p.Security.Option, p.Security.Signer, p.Security.Verified)
	}
	if _, err := io.WriteString(out, text.String()); err != nil {
		return err
	}
	if problems.HasErrors() {
		return errors.New("the package has errors")
	}
	return nil
}
