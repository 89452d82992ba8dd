// Package packages has the commands for VNF packages. They need neither Terraform nor a VIM, and call the functions by which the
// resources read and render packages.
package packages

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/csar"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/provider"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Command is the group of the commands about packages. The version is that of the provider.
func Command(version string) *cobra.Command {
	return cli.Group("package", "Look at, check, pack and sign VNF packages",
		"A package is a directory, a .zip or .csar file, an http or https URL, or an artifact in a registry (oci://REGISTRY/PATH:TAG).\n"+
			"The commands read it as the resource vnf_package does. They write only the files that their arguments name.",
		inspectCommand(version), lintCommand(version), diffCommand(version), renderCommand(version), hashCommand(), packCommand(version), signCommand(), verifyCommand(version))
}

var (
	integrities = []string{string(csar.IntegrityEnforce), string(csar.IntegrityWarn), string(csar.IntegrityIgnore)}
	signatures  = []string{string(csar.SignatureRequire), string(csar.SignatureVerifyIfPresent), string(csar.SignatureIgnore)}
)

// reading are the flags that say how a package is read.
type reading struct {
	integrity, signature string
	roots                string
	// named says that warnings name the package, since the command reads two.
	named    bool
	subjects []string
}

// flags adds the flags to a command.
func (r *reading) flags(cmd *cobra.Command, signature string) {
	cmd.Flags().StringVar(&r.integrity, "integrity", integrities[0], "`MODE` for digests that are wrong or missing: "+strings.Join(integrities, ", "))
	cmd.Flags().StringVar(&r.signature, "signature", signature, "`MODE` for signatures: "+strings.Join(signatures, ", "))
	cmd.Flags().StringVar(&r.roots, "roots", "", "`FILE` with the trust roots, PEM: a signer's chain must end at one of them")
	cmd.Flags().StringSliceVar(&r.subjects, "subject", nil, "`NAME` that the signer's certificate must have, RFC 2253; may be repeated")
}

// spec is the specification of a package.
func (r *reading) spec(source string) (vnfm.PackageSpec, error) {
	for _, flag := range []struct {
		name, value string
		allowed     []string
	}{
		{"integrity", r.integrity, integrities},
		{"signature", r.signature, signatures},
	} {
		if err := cli.OneOf(flag.name, flag.value, flag.allowed...); err != nil {
			return vnfm.PackageSpec{}, err
		}
	}
	spec := vnfm.PackageSpec{
		Name: "package", Source: source, Integrity: r.integrity, Signature: r.signature,
		Trust: vnfm.PackageTrust{Subjects: r.subjects},
	}
	if r.roots != "" {
		roots, err := os.ReadFile(filepath.Clean(r.roots))
		if err != nil {
			return vnfm.PackageSpec{}, cli.Usagef("reading the trust roots: %w", err)
		}
		if !x509.NewCertPool().AppendCertsFromPEM(roots) {
			return vnfm.PackageSpec{}, cli.Usagef("the trust roots %s have no certificate that can be read; give certificates as PEM", r.roots)
		}
		spec.Trust.Roots = string(roots)
	}
	return spec, nil
}

// withEngine does work with a VNF manager whose store does not outlive it.
func withEngine(version string, work func(e *lcm.Engine) error) (err error) {
	dir, err := os.MkdirTemp("", "vnf-package-")
	if err != nil {
		return fmt.Errorf("making a directory for temporary files, below the one that TMPDIR names: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	keys, err := seal.New(seal.Source{DefaultKeyFile: filepath.Join(dir, "key.txt")})
	if err != nil {
		return err
	}
	e := provider.NewEngine(version, lcm.Config{
		OpenStore: func(ctx context.Context) (store.Store, error) {
			return sqlite.Open(ctx, filepath.Join(dir, "store.db"), version)
		},
		Keyring: keys,
	})
	defer func() { err = errors.Join(err, e.Close()) }()
	return work(e)
}

// read reads a package. Its problems are written where they are warnings, and are the error where one is an error.
func (r *reading) read(ctx context.Context, cmd *cobra.Command, e *lcm.Engine, source string) (*vnfm.Package, error) {
	spec, err := r.spec(source)
	if err != nil {
		return nil, err
	}
	p, problems, err := e.ReadPackage(ctx, spec)
	if err != nil {
		return nil, cli.Usage(err)
	}
	if !r.named {
		source = ""
	}
	warn(cmd, source, problems)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return p, nil
}

// warn writes the warnings among problems to stderr, where they do not mix with the output. A package is named where it is given.
func warn(cmd *cobra.Command, of string, problems vnfm.Problems) {
	if of != "" {
		of += ": "
	}
	for _, p := range problems {
		if p.Severity == vnfm.SeverityWarning {
			cmd.PrintErrf("Warning: %s%s\n", of, p)
		}
	}
}
