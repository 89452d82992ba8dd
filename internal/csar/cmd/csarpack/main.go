// Command csarpack prepares VNF packages: it writes the digests of a package into its
// manifest, packs a directory as CSAR, signs it and checks the result.
//
//	csarpack hash DIR
//	csarpack zip DIR OUT.csar
//	csarpack sign --cert CERT.pem --key KEY.pem [--option 1|2] DIR OUT
//	csarpack check [--integrity enforce|warn] [--signature require|verify_if_present|ignore] [--roots ROOTS.pem] PACKAGE
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

const usage = `usage:
  csarpack hash DIR                 write the digests of all files into the manifest of DIR
  csarpack zip DIR OUT.csar         pack DIR
  csarpack sign --cert CERT --key KEY [--option 1|2] DIR OUT
                                    pack DIR signed: 1 signs the manifest inside OUT.csar,
                                    2 writes OUT.zip with the package and its signature
  csarpack check [--integrity enforce|warn] [--signature require|verify_if_present|ignore]
                 [--roots ROOTS] PACKAGE
                                    read PACKAGE and print its problems and its content
`

// errUsage marks an error that is cured by reading the usage.
var errUsage = errors.New("wrong usage")

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "csarpack:", err)
		if errors.Is(err, errUsage) {
			fmt.Fprint(os.Stderr, usage)
		}
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) == 0 {
		return fmt.Errorf("%w: there is no command", errUsage)
	}
	command, args := args[0], args[1:]
	flags := flag.NewFlagSet(command, flag.ContinueOnError)
	flags.Usage = func() {}
	flags.SetOutput(io.Discard)
	var c commandLine
	count := 2
	switch command {
	case "hash":
		count = 1
	case "zip":
	case "sign":
		flags.StringVar(&c.certificate, "cert", "", "")
		flags.StringVar(&c.key, "key", "", "")
		flags.IntVar(&c.option, "option", 1, "")
	case "check":
		flags.StringVar(&c.integrity, "integrity", "enforce", "")
		flags.StringVar(&c.signature, "signature", "verify_if_present", "")
		flags.StringVar(&c.roots, "roots", "", "")
		count = 1
	default:
		return fmt.Errorf("%w: unknown command %q", errUsage, command)
	}
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("%w: %s: %w", errUsage, command, err)
	}
	if flags.NArg() != count {
		return fmt.Errorf("%w: %s takes %d arguments, not %d", errUsage, command, count, flags.NArg())
	}
	switch command {
	case "hash":
		return c.hash(flags.Arg(0), out)
	case "zip":
		return c.zip(flags.Arg(0), flags.Arg(1), out)
	case "sign":
		return c.sign(flags.Arg(0), flags.Arg(1), out)
	default:
		return c.check(flags.Arg(0), out)
	}
}
