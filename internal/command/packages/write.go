package packages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/csar"
)

func hashCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "hash DIRECTORY",
		Short: "Write the digests of all files into the manifest of a package",
		Long: `Writes Algorithm and Hash of each file into the manifest, adds files that are not listed, and
removes those that are gone and a signature, which would not hold any more. Other lines stay as
they are. Prints the manifest, and each file that it lists no longer.`,
		Example: `  terraform-provider-vnf package hash examples/packages/core5g`,
		Args:    cli.Arguments("DIRECTORY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			manifest, gone, err := csar.Hash(args[0])
			if err != nil {
				return err
			}
			cli.Say(cmd, "%s", filepath.Join(args[0], manifest))
			for _, path := range gone {
				cli.Say(cmd, "  not listed any more: %s", path)
			}
			return nil
		},
	}
}

func packCommand(version string) *cobra.Command {
	var r fromRelease
	var s fromStack
	cmd := &cobra.Command{
		Use:   "pack [DIRECTORY] FILE",
		Short: "Pack a directory as a package file, or make a package of what runs",
		Long: `Packs a directory as a .csar file. The file depends on the content alone: packed again, it is equal
to the byte. Digests that do not match are an error; "package hash" writes them. An existing
file is replaced.

With --from-release it makes a package of a Helm release that exists already: its
chart, and a VNFD with a VDU for each Deployment, StatefulSet and DaemonSet. FILE ends in .csar or
.zip, or is a directory that is not there yet. The values that the release was given are written
beside it, into files that only you can read: FILE.values.yaml, and FILE.secrets.yaml for values
that go by the name of a secret. The output is the configuration with which a vnf_instance adopts
the release. Nothing in the cluster is changed.

With --from-stack it does the same for a stack of OpenStack's Heat: its templates and files, and a
VNFD with a VDU for each server and each group of servers. Parameters of the stack are in the
configuration, but for those that go by the name of a secret, which are in FILE.secrets.yaml, and
those that Heat hides, which become variables.`,
		Example: `  terraform-provider-vnf package pack examples/packages/core5g core5g.csar
  terraform-provider-vnf package pack --from-release ims/test test.csar > test.tf
  terraform-provider-vnf package pack --from-stack firewall --os-cloud lab firewall.csar > firewall.tf`,
		Args: func(cmd *cobra.Command, args []string) error {
			if r.place != "" || s.name != "" {
				return cli.Arguments("FILE")(cmd, args)
			}
			return cli.Arguments("DIRECTORY", "FILE")(cmd, args)
		},
		RunE: cli.Interruptible(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			release := r.place != "" || r.chart != "" || r.cluster.Given()
			switch {
			case release && (s.name != "" || s.cloud.Given()):
				return cli.Usagef("a package is made of a release or of a stack, not of both; see %s --help", cmd.CommandPath())
			case r.place != "":
				return r.run(ctx, cmd, version, args[0])
			case s.name != "":
				return s.run(ctx, cmd, version, args[0])
			case release:
				return cli.Usagef("--chart, --kubeconfig and --context go with --from-release; see %s --help", cmd.CommandPath())
			case s.cloud.Given():
				return cli.Usagef("--os-cloud and --os-clouds go with --from-stack; see %s --help", cmd.CommandPath())
			}
			//nolint:contextcheck // a directory is read without one
			return withDirectory(args[0], func(a csar.Archive, _ *csar.Package) error { return write(cmd, a, args[1]) })
		}),
	}
	cmd.Flags().StringVar(&r.place, "from-release", "", "`NAMESPACE/NAME` of a Helm release to make a package of")
	cmd.Flags().StringVar(&r.chart, "chart", "", "`PATH` of the chart of the release, of which Helm records no sub-charts")
	r.cluster.Flags(cmd)
	cmd.Flags().StringVar(&s.name, "from-stack", "", "`NAME` of a Heat stack to make a package of")
	s.cloud.Flags(cmd)
	return cmd
}

func signCommand() *cobra.Command {
	var certificate, key string
	var option int
	cmd := &cobra.Command{
		Use:   "sign DIRECTORY FILE",
		Short: "Pack a directory as a signed package file",
		Long: `Packs a directory with a signature. Option 1 of SOL004 signs the manifest, and with it the digest of
each file; option 2 signs the packed archive and writes FILE as an archive of both. The key is
RSA or ECDSA, PEM, without a password. An existing file is replaced.`,
		Example: `  terraform-provider-vnf package sign --cert signer.pem --key signer.key examples/packages/core5g core5g.csar`,
		Args:    cli.Arguments("DIRECTORY", "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if certificate == "" || key == "" {
				return cli.Usagef("both --cert FILE and --key FILE are needed; see %s --help", cmd.CommandPath())
			}
			if option != 1 && option != 2 {
				return cli.Usagef("--option is %d; SOL004 has 1 and 2", option)
			}
			certificatePEM, err := os.ReadFile(filepath.Clean(certificate))
			if err != nil {
				return cli.Usagef("reading the certificate: %w", err)
			}
			keyPEM, err := os.ReadFile(filepath.Clean(key))
			if err != nil {
				return cli.Usagef("reading the key: %w", err)
			}
			return withDirectory(args[0], func(a csar.Archive, p *csar.Package) error {
				signed, err := signManifest(a, p, certificatePEM, keyPEM)
				if option == 2 {
					signed, err = signArchive(a, args[1], certificatePEM, keyPEM)
				}
				if err != nil {
					return fmt.Errorf("signing %s with the certificate %s and the key %s: %w", args[0], certificate, key, err)
				}
				return write(cmd, signed, args[1])
			})
		},
	}
	cmd.Flags().StringVar(&certificate, "cert", "", "`FILE` with the signer's certificate and any intermediate ones behind it, PEM")
	cmd.Flags().StringVar(&key, "key", "", "`FILE` with the signer's private key, PEM")
	cmd.Flags().IntVar(&option, "option", 1, "security option of SOL004: 1 or 2")
	return cmd
}

// withDirectory opens the directory of a package that can be packed.
func withDirectory(dir string, work func(a csar.Archive, p *csar.Package) error) (err error) {
	a, err := csar.OpenDirectory(dir, csar.DefaultLimits())
	if err != nil {
		return cli.Usage(err)
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	p, problems := csar.Read(a, csar.Options{Signature: csar.SignatureIgnore})
	if err := problems.Err(); err != nil {
		return fmt.Errorf("reading the package %s: %w; after a change of its files, run %q", dir, err, "package hash "+dir)
	}
	return work(a, p)
}

func signManifest(a csar.Archive, p *csar.Package, certificate, key []byte) (csar.Archive, error) {
	if p.Manifest == nil {
		return nil, errors.New("the package has no manifest to sign; write one, or use --option 2")
	}
	files := map[string][]byte{}
	for _, f := range a.Files() {
		data, err := a.ReadFile(f.Path)
		if err != nil {
			return nil, err
		}
		files[f.Path] = data
	}
	manifest, err := csar.SignOption1(files[p.ManifestFile], certificate, key)
	if err != nil {
		return nil, err
	}
	files[p.ManifestFile] = manifest
	return csar.FromFiles(files), nil
}

func signArchive(a csar.Archive, target string, certificate, key []byte) (csar.Archive, error) {
	var inner bytes.Buffer
	if err := csar.WriteZip(a, &inner); err != nil {
		return nil, err
	}
	cms, err := csar.SignOption2(inner.Bytes(), certificate, key)
	if err != nil {
		return nil, err
	}
	base := strings.TrimSuffix(filepath.Base(target), filepath.Ext(target))
	return csar.FromFiles(map[string][]byte{base + ".csar": inner.Bytes(), base + ".cms": cms}), nil
}

// replace writes the file of a package, which is public. What was there stays until the new file is whole.
func replace(target string, data []byte) error {
	failed := func(err error) error { return fmt.Errorf("writing the package: %w", err) }
	if behind, err := filepath.EvalSymlinks(target); err == nil {
		target = behind
	}
	if there, err := os.Stat(target); err == nil && !there.Mode().IsRegular() {
		// A pipe or a terminal; the error of a directory is clear.
		if err := os.WriteFile(target, data, 0o644); err != nil { //nolint:gosec // a package is public
			return failed(err)
		}
		return nil
	}
	partial := target + ".partial"
	err := os.WriteFile(partial, data, 0o644) //nolint:gosec // a package is public
	if err == nil {
		err = os.Rename(partial, target)
	}
	if err != nil {
		_ = os.Remove(partial)
		return failed(err)
	}
	return nil
}

// write packs an archive into memory first, so that a failure leaves no half file.
func write(cmd *cobra.Command, a csar.Archive, target string) error {
	var buf bytes.Buffer
	if err := csar.WriteZip(a, &buf); err != nil {
		return err
	}
	if err := replace(target, buf.Bytes()); err != nil {
		return err
	}
	cli.Say(cmd, "%s %s", target, csar.ContentDigest(a))
	return nil
}
