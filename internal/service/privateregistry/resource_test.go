package privateregistry_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/compare"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

const registryName = "vnf_private_registry.test"

// on is a private registry on a host.
func on(host string, arguments ...string) string {
	return fmt.Sprintf(`
resource "vnf_private_registry" "test" {
  host = %q
  %s
}
`, host, strings.Join(arguments, "\n  "))
}

// found are the data sources that find the registry and list those of the store.
const found = `
data "vnf_private_registry" "test" {
  host       = vnf_private_registry.test.host
  name       = vnf_private_registry.test.name
  depends_on = [vnf_private_registry.test]
}
data "vnf_private_registries" "test" {
  name       = vnf_private_registry.test.name
  depends_on = [vnf_private_registry.test]
}
`

// mirrored is the image of a registry in another registry of the same host, from which Docker pulls over HTTP.
const mirrored = "127.0.0.1:5000/mirror/registry:3"

const login = `ssh = { username = "ubuntu", password_wo = "ubuntu", password_wo_version = 1 }`

// answers checks what the registry of the state answers.
func answers(user, password string, want int) resource.TestCheckFunc {
	return resource.TestCheckResourceAttrWith(registryName, "url", func(url string) error {
		got, err := labtest.RegistryStatus(context.Background(), url, user, password)
		if err == nil && got != want {
			err = fmt.Errorf("%s answers %d, not %d", url, got, want)
		}
		return err
	})
}

// certificate makes one for an address.
func certificate(t *testing.T, address string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: address}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.ParseIP(address)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	pkcs, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	encode := func(kind string, bytes []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}))
	}
	return encode("CERTIFICATE", der), encode("PRIVATE KEY", pkcs)
}

// nothingLeft checks that an installation that has failed left nothing on the host.
func nothingLeft(t *testing.T, host *labtest.Shell) {
	t.Helper()
	if out := host.Root(t, "docker ps -aq; docker images -q; ls -A /var/tmp /etc/private-registry /var/lib/private_registry 2>/dev/null | grep -i registry || true"); out != "" {
		t.Errorf("a failed installation has left %q", out)
	}
}

// A registry is installed on a host, whose disks are too small first, serves, is changed in
// place, repaired, imported, also into a store that does not know it, and removed.
func TestAccPrivateRegistry_host(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	lab := labtest.OpenStackSystems(t, labtest.OpenStackDocker)
	host := lab.NewServer(t, "registry", labtest.OpenStackDockerImage, "net0")
	store, other := acctest.NewStore(t), acctest.NewStore(t)
	var running string
	image := fmt.Sprintf("image_path = %q", lab.RegistryArchive)
	cert, key := certificate(t, host.Address)
	pulled := fmt.Sprintf("container_image = %q", mirrored)
	secured := fmt.Sprintf("port = 5001\n  users_wo = { planter = \"planted-password\" }\n  users_wo_version = 1\n  tls = {\n    certificate = <<-EOT\n%s\nEOT\n    key_wo = <<-EOT\n%s\nEOT\n    key_wo_version = 1\n  }", cert, key)
	empty := resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
	updated := resource.ConfigPlanChecks{
		PreApply:             []plancheck.PlanCheck{plancheck.ExpectResourceAction(registryName, plancheck.ResourceActionUpdate)},
		PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
	}
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_11_0)},
		CheckDestroy: func(*terraform.State) error {
			out, err := host.Try(t.Context(), "docker ps -aq; ls /var/lib/private_registry; ls /etc/private-registry/private_registry 2>/dev/null; true")
			if err == nil && !strings.HasPrefix(out, "docker\n") {
				err = fmt.Errorf("the host has %q", out)
			}
			return err
		},
		Steps: []resource.TestStep{
			{
				// There is no room for the archive of the image.
				PreConfig:   func() { host.Root(t, "mount -t tmpfs -o size=1m none /var/tmp") },
				Config:      store.Config(on(host.Address, login, image)),
				ExpectError: acctest.Says(`the disk of \S+@` + host.Address + ` is too full for the image registry:latest: /var/tmp has 1 MiB free, but \S+registry.tar has 22 MiB`),
			},
			{
				// There is room for the archive, and then none for what Docker unpacks of it.
				PreConfig: func() {
					nothingLeft(t, host)
					host.Root(t, "umount /var/tmp")
					host.Root(t, "systemctl stop docker.socket docker && mount -t tmpfs -o size=30m none /var/lib/docker && systemctl start docker")
				},
				Config: store.Config(on(host.Address, login, image)),
				// The first installation had begun.
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(registryName, plancheck.ResourceActionReplace)}},
				ExpectError:      acctest.Says(`(?s)the disk of \S+@` + host.Address + ` is full: /var/lib/docker has \d+ [KM]iB free now: .*no space left on device`),
			},
			{
				PreConfig: func() {
					nothingLeft(t, host)
					host.Root(t, "systemctl stop docker.socket docker && umount /var/lib/docker && systemctl start docker")
				},
				Config: store.Config(on(host.Address, login, image), found),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue("data.vnf_private_registry.test", tfjsonpath.New("status"), knownvalue.StringExact("READY")),
					statecheck.CompareValuePairs("data.vnf_private_registry.test", tfjsonpath.New("id"), registryName, tfjsonpath.New("id"), compare.ValuesSame()),
					statecheck.ExpectKnownValue("data.vnf_private_registries.test", tfjsonpath.New("private_registries"), knownvalue.ListExact([]knownvalue.Check{
						knownvalue.ObjectPartial(map[string]knownvalue.Check{"server": knownvalue.StringExact(host.Address + ":5000"), "instance_id": knownvalue.Null()}),
					})),
					statecheck.ExpectKnownValue(registryName, tfjsonpath.New("status"), knownvalue.StringExact("READY")),
					statecheck.ExpectKnownValue(registryName, tfjsonpath.New("server"), knownvalue.StringExact(host.Address+":5000")),
				},
				Check:            answers("", "", http.StatusOK),
				ConfigPlanChecks: empty,
			},
			{
				// Without a file the image is pulled, from a registry that was installed before: this one.
				PreConfig: func() {
					host.Root(t, "docker tag registry:latest %[1]s && docker push -q %[1]s && docker rmi %[1]s", mirrored)
				},
				Config: store.Config(on(host.Address, login, pulled, secured)),
				Check: resource.ComposeTestCheckFunc(answers("", "", http.StatusUnauthorized), answers("planter", "planted-password", http.StatusOK), func(*terraform.State) error {
					if images := host.Root(t, "docker images --format '{{.Repository}}:{{.Tag}}'"); !strings.Contains(images, mirrored) {
						return fmt.Errorf("the host has the images %q", images)
					}
					return nil
				}),
				ConfigPlanChecks: updated,
			},
			{
				// Its users are others. It has images.
				PreConfig: func() {
					host.Root(t, "echo 'other:x' > /etc/private-registry/private_registry/htpasswd; mkdir -p /var/lib/private_registry/docker")
				},
				Config:           store.Config(on(host.Address, login, pulled, secured)),
				Check:            answers("planter", "planted-password", http.StatusOK),
				ConfigPlanChecks: updated,
			},
			{
				// The store has lost it.
				PreConfig:        func() { store.Clear(t) },
				Config:           store.Config(on(host.Address, login, pulled, secured)),
				Check:            answers("planter", "planted-password", http.StatusOK),
				ConfigPlanChecks: updated,
			},
			{
				ResourceName: registryName, ImportState: true, ImportStateVerify: true,
				ImportStateVerifyIgnore: []string{"ssh", "tls", "users_wo_version", "instance_generation", "operations"},
			},
			{
				Config:      store.Config(on(host.Address, `ssh = { username = "ubuntu", password_wo = "wrong-password", password_wo_version = 2 }`, pulled, secured)),
				ExpectError: acctest.Says("(?s)Update Private Registry.*ubuntu@" + host.Address),
			},
			{
				// Back to HTTP.
				Config:           store.Config(on(host.Address, strings.Replace(login, "version = 1", "version = 3", 1), image)),
				Check:            answers("", "", http.StatusOK),
				ConfigPlanChecks: updated,
			},
			{Config: store.Provider() + "removed {\n  from = " + registryName + "\n  lifecycle { destroy = false }\n}\n"},
			{
				// Neither the state nor this store knows it. An import has no login: the next apply finds it on its host.
				PreConfig:    func() { running = host.Root(t, "docker ps -q --no-trunc") },
				Config:       other.Config(on(host.Address, login, image)),
				ResourceName: registryName, ImportState: true, ImportStateId: host.Address + "/private_registry", ImportStatePersist: true,
			},
			{
				Config:           other.Config(on(host.Address, login, image)),
				ConfigPlanChecks: updated,
				Check: resource.ComposeTestCheckFunc(answers("", "", http.StatusOK), func(*terraform.State) error {
					if now := host.Root(t, "docker ps -q --no-trunc"); now != running || now == "" {
						return fmt.Errorf("the container was %q and is %q", running, now)
					}
					return nil
				}),
			},
		},
	})
}

// The plan reports errors at their attribute.
func TestAccPrivateRegistry_badInput(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	cert, _ := certificate(t, "192.0.2.1")
	_, key := certificate(t, "192.0.2.1")
	store := acctest.NewStore(t)
	type refused struct{ config, want string }
	checked := map[string]refused{
		"nowhere":     {`resource "vnf_private_registry" "test" { ssh = { username = "root", use_agent = true } }`, "(?s)Invalid Attribute Combination.*No attribute specified"},
		"runtime":     {on("192.0.2.1", login, `runtime = "rkt"`), "(?s)runtime value must be one of"},
		"unreachable": {on("192.0.2.1", login, `on_unreachable = "ignore"`), `(?s)Attribute on_unreachable value must be one of: \["fail" "forget"\], got: "ignore"`},
		"pinned_keys": {on("192.0.2.1", login, `pinned_host_keys = {}`), `(?s)Invalid Configuration for Read-Only Attribute.*Cannot set value for this attribute`},
		"no_image":    {on("192.0.2.1", login, `package_id = "one"`), `(?s)Attribute "image_path" must be specified when "package_id" is specified`},
	}
	planned := map[string]refused{
		"port_of_ssh":  {on("192.0.2.1", login, "port = 22"), "Port 22 is that of SSH"},
		"no_login":     {on("192.0.2.1", `ssh = { username = "root" }`), "(?s)neither a password nor a private key"},
		"bad_key":      {on("192.0.2.1", `ssh = { username = "root", private_key_wo = "planted-key" }`), "(?s)private key"},
		"no_file":      {on("192.0.2.1", login, `image_path = "/nowhere/registry.tar"`), "(?s)image_path.*/nowhere/registry.tar"},
		"no_package":   {on("192.0.2.1", login, `image_path = "Files/registry.tar"`), "(?s)image_path Files/registry.tar is relative"},
		"other_key":    {on("192.0.2.1", login, fmt.Sprintf("tls = {\n certificate = <<-EOT\n%s\nEOT\n key_wo = <<-EOT\n%s\nEOT\n}", cert, key)), "(?s)key"},
		"storage_path": {on("192.0.2.1", login, `storage_path = "/etc"`), "(?s)belongs to the system of the host"},
		"host_key":     {on("192.0.2.1", `ssh = { username = "root", use_agent = true, host_keys = ["ssh-ed25519"] }`), `(?s)"ssh-ed25519" is not a host key: a host key is one line such as "ssh-ed25519 AAAA`},
		"image_as_url": {on("192.0.2.1", login, `container_image = "https://registry.example.com/registry:3"`), `(?s)The image cannot be used.*is a URL`},
		"no_password":  {on("192.0.2.1", login, `users = { reader = "" }`), `(?s)User "reader" has no password`},
		"proxy":        {on("192.0.2.1", login, `proxy = { http_proxy = "http://user1:planted-password@host1:port1" }`), `(?s)The proxy is not a valid URL.*with the port as a number`},
	}
	var steps []resource.TestStep
	var wants []map[string][]string
	for _, cases := range []map[string]refused{checked, planned} {
		config, want := store.Provider(), map[string][]string{}
		for name, c := range cases {
			config += strings.Replace(c.config, `"vnf_private_registry" "test"`, fmt.Sprintf(`"vnf_private_registry" %q`, name), 1)
			want[name] = []string{c.want}
		}
		steps, wants = append(steps, resource.TestStep{Config: config, PlanOnly: true}), append(wants, want)
	}
	// Terraform plans nothing while the schema refuses something.
	for i, err := range acctest.Errors(t, acctest.Factories(), steps...) {
		acctest.ExpectErrors(t, err, "vnf_private_registry", wants[i])
	}
}
