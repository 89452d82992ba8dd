package vnfpackage_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/csar"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// newSigner returns a certificate that signs for itself, and its key.
func newSigner(t *testing.T, name string) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
}

// TestPackageSigned verifies a signed package against its root, and refuses it
// against another one.
func TestPackageSigned(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	s := acctest.NewStore(t)
	certificate, key := newSigner(t, "Example Networks Signing")
	other, _ := newSigner(t, "Somebody Else")
	dir := acctest.CopyPackage(t, "hello")
	manifest, err := os.ReadFile(filepath.Join(dir, "hello.mf")) //nolint:gosec // a path of the test
	require.NoError(t, err)
	signed, err := csar.SignOption1(manifest, certificate, key)
	require.NoError(t, err)
	acctest.Write(t, dir, "hello.mf", string(signed))
	arguments := func(roots []byte) string {
		return fmt.Sprintf("signature = \"require\"\n trust = { roots = %q }", roots)
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		CheckDestroy:             gone(t, s),
		Steps: []resource.TestStep{
			{
				Config:      s.Config(packageConfig(acctest.ExamplePackage(t, "hello"), arguments(certificate))),
				ExpectError: acctest.Says(`(?i)signature|signed`),
			},
			{
				Config:           s.Config(packageConfig(dir, arguments(certificate))),
				ConfigPlanChecks: emptyPlan(),
				ConfigStateChecks: []statecheck.StateCheck{
					expect("security_option", knownvalue.StringExact("OPTION_1")),
					expect("signer", knownvalue.StringRegexp(regexp.MustCompile("Example Networks Signing"))),
				},
			},
			{
				Config:      s.Config(packageConfig(dir, arguments(other))),
				PlanOnly:    true,
				ExpectError: acctest.Says(`(?i)trust`),
			},
			{
				Config:      s.Config(packageConfig(dir, fmt.Sprintf("signature = \"require\"\n trust = { roots = %q, subjects = [\"CN=Other\"] }", certificate))),
				PlanOnly:    true,
				ExpectError: acctest.Says(`Is Not a\s+Pinned\s+Certificate|not a\s+pinned\s+certificate`),
			},
			{
				// A pin that holds is verified again in place.
				Config:            s.Config(packageConfig(dir, fmt.Sprintf("signature = \"require\"\n trust = { roots = %q, subjects = [\"CN=Example Networks Signing\"] }", certificate))),
				ConfigPlanChecks:  updateInPlace(),
				ConfigStateChecks: []statecheck.StateCheck{expect("signer", knownvalue.StringExact("CN=Example Networks Signing"))},
			},
			{
				// The roots are given up: the same content, no longer verified.
				Config:            s.Config(packageConfig(dir, "signature = \"ignore\"")),
				ConfigPlanChecks:  updateInPlace(),
				ConfigStateChecks: []statecheck.StateCheck{expect("signer", knownvalue.Null())},
			},
		},
	})
}

// TestPackageInUse shows that a VIM that an instance uses cannot be destroyed, and that the error says who uses it. A package is
// given up, and its content stays until the instance has left it.
func TestPackageInUse(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	lab := labtest.Kubernetes(t)
	s := acctest.NewStore(t)
	base := acctest.VIM(t, lab, "edge") + packageConfig(acctest.ExamplePackage(t, "hello"), "")
	instance := fmt.Sprintf("resource \"vnf_instance\" \"test\" {\n name = \"web\"\n vim_id = %%s\n package_id = %%s\n namespace = %q\n}\n", lab.Namespace(t))
	// The instance finds both by name, so that nothing but the store keeps them.
	apart := "data \"vnf_vim\" \"test\" { name = \"edge\" }\ndata \"vnf_package\" \"test\" { name = \"hello\" }\n" +
		fmt.Sprintf(instance, "data.vnf_vim.test.id", "data.vnf_package.test.id")
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		CheckDestroy:             gone(t, s),
		Steps: []resource.TestStep{
			{Config: s.Config(base, fmt.Sprintf(instance, "vnf_vim.test.id", "vnf_package.test.id"))},
			{
				Config:      s.Config(packageConfig(acctest.ExamplePackage(t, "hello"), ""), apart),
				ExpectError: acctest.Says(`(?s)Unable to Deregister VIM "edge".*in use by VNF\s+instance\s+"web".*Destroy what uses it first`),
			},
			{
				Config: s.Config(acctest.VIM(t, lab, "edge"), apart),
				Check:  holds(t, s, 1),
			},
			{
				Config: s.Config(acctest.VIM(t, lab, "edge"), "data \"vnf_vim\" \"test\" { name = \"edge\" }\n"),
				Check:  holds(t, s, 0),
			},
		},
	})
}
