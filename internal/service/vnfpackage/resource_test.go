package vnfpackage_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/compare"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

const address = "vnf_package.test"

// packageConfig is a vnf_package named "hello" with further arguments.
func packageConfig(source, more string) string {
	return fmt.Sprintf(`
resource "vnf_package" "test" {
  name   = "hello"
  source = %q
  %s
}
`, source, more)
}

func emptyPlan() resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
}

func expect(name string, check knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, tfjsonpath.New(name), check)
}

// gone checks that destroying left no package in the store.
func gone(t *testing.T, s acctest.Store) resource.TestCheckFunc { return holds(t, s, 0) }

// holds checks how many packages the store has.
func holds(t *testing.T, s acctest.Store, want int) resource.TestCheckFunc {
	return func(*terraform.State) error {
		records, err := s.Records(t).List(context.WithoutCancel(t.Context()), store.Query{Kind: store.KindPackage})
		if err != nil {
			return err
		}
		if len(records) != want {
			return fmt.Errorf("%d packages are in the store, expected %d", len(records), want)
		}
		return nil
	}
}

func TestPackageLife(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	s := acctest.NewStore(t)
	dir := acctest.CopyPackage(t, "hello")
	zip := acctest.Zip(t, dir)
	digest := statecheck.CompareValue(compare.ValuesSame())
	id := regexp.MustCompile(`^hello@sha256:[0-9a-f]{64}$`)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		CheckDestroy:             gone(t, s),
		Steps: []resource.TestStep{
			{
				Config: s.Config(packageConfig(dir, "")),
				ConfigPlanChecks: resource.ConfigPlanChecks{
					// Everything is known before anything is onboarded.
					PreApply: []plancheck.PlanCheck{
						plancheck.ExpectKnownValue(address, tfjsonpath.New("id"), knownvalue.StringRegexp(id)),
						plancheck.ExpectKnownValue(address, tfjsonpath.New("status"), knownvalue.StringExact("ONBOARDED")),
						plancheck.ExpectKnownValue(address, tfjsonpath.New("default_flavour_id"), knownvalue.StringExact("default")),
					},
					PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
				},
				ConfigStateChecks: []statecheck.StateCheck{
					expect("id", knownvalue.StringRegexp(id)),
					expect("vnfd_id", knownvalue.StringExact("0d2f8a4c-7f8e-4b2c-9a51-3f6d2c1e7a01")),
					expect("vnfd_version", knownvalue.StringExact("1.0")),
					expect("vnf_provider", knownvalue.StringExact("Example Networks")),
					expect("product_name", knownvalue.StringExact("hello")),
					expect("software_version", knownvalue.StringExact("1.0.0")),
					expect("vnfm_info", knownvalue.SetExact([]knownvalue.Check{knownvalue.StringExact("terraform-provider-vnf")})),
					expect("default_flavour_id", knownvalue.StringExact("default")),
					expect("integrity", knownvalue.StringExact("enforce")),
					expect("signature", knownvalue.StringExact("verify_if_present")),
					expect("checksum", knownvalue.Null()),
					expect("security_option", knownvalue.Null()),
					expect("signer", knownvalue.Null()),
					digest.AddStateValue(address, tfjsonpath.New("digest")),
				},
			},
			{
				// The same content from a zip is the same package.
				Config: s.Config(packageConfig(zip, "")),
				ConfigPlanChecks: resource.ConfigPlanChecks{
					PreApply:             []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate)},
					PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
				},
				ConfigStateChecks: []statecheck.StateCheck{digest.AddStateValue(address, tfjsonpath.New("digest"))},
			},
			{
				Config:           s.Config(packageConfig(zip, fmt.Sprintf("checksum = %q\n integrity = \"warn\"\n signature = \"ignore\"\n timeouts = { create = \"3m\", update = \"4m\", delete = \"2m\" }", checksum(t, zip)))),
				ConfigPlanChecks: updateInPlace(),
				ConfigStateChecks: []statecheck.StateCheck{
					expect("integrity", knownvalue.StringExact("warn")),
					expect("signature", knownvalue.StringExact("ignore")),
					digest.AddStateValue(address, tfjsonpath.New("digest")),
				},
			},
			{
				Config:           s.Config(packageConfig(zip, "")),
				ConfigPlanChecks: updateInPlace(),
			},
			{
				ResourceName: address, ImportState: true, ImportStateId: "hello", ImportStateVerify: true,
			},
			{
				Config: s.Config(packageConfig(zip, ""), `
data "vnf_package" "by_name" { name = vnf_package.test.name }
data "vnf_package" "by_id" { id = vnf_package.test.id }
data "vnf_packages" "test" {
  name    = vnf_package.test.name
  vnfd_id = vnf_package.test.vnfd_id
}
data "vnf_packages" "none" { name = "other" }
`),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue("data.vnf_package.by_name", tfjsonpath.New("flavours"), knownvalue.MapExact(map[string]knownvalue.Check{"default": knownvalue.ObjectPartial(map[string]knownvalue.Check{
						"description":          knownvalue.StringExact("one web server"),
						"instantiation_levels": knownvalue.MapSizeExact(0),
						"vdus": knownvalue.MapExact(map[string]knownvalue.Check{"web": knownvalue.ObjectExact(map[string]knownvalue.Check{
							"name":              knownvalue.StringExact("web"),
							"description":       knownvalue.StringExact("web server"),
							"type":              knownvalue.StringExact("tosca.nodes.nfv.Vdu.Compute"),
							"min_instances":     knownvalue.Int64Exact(1),
							"max_instances":     knownvalue.Int64Exact(4),
							"initial_instances": knownvalue.Int64Exact(1),
						})}),
					})})),
					statecheck.ExpectKnownValue("data.vnf_package.by_id", tfjsonpath.New("artifacts"), knownvalue.MapPartial(map[string]knownvalue.Check{
						"Files/kubernetes/web.yaml": knownvalue.StringExact("sha256:0755a49c59ff18160859a05fcc3c248773a61d7426a50404d95d95715ccd3fdb"),
					})),
					statecheck.CompareValuePairs("data.vnf_package.by_name", tfjsonpath.New("id"), address, tfjsonpath.New("id"), compare.ValuesSame()),
					statecheck.ExpectKnownValue("data.vnf_package.by_id", tfjsonpath.New("onboarded_at"), knownvalue.NotNull()),
					statecheck.ExpectKnownValue("data.vnf_packages.test", tfjsonpath.New("packages"), knownvalue.ListSizeExact(1)),
					statecheck.CompareValuePairs("data.vnf_packages.test", tfjsonpath.New("packages").AtSliceIndex(0).AtMapKey("id"), address, tfjsonpath.New("id"), compare.ValuesSame()),
					statecheck.CompareValuePairs("data.vnf_packages.test", tfjsonpath.New("packages").AtSliceIndex(0).AtMapKey("flavours"), "data.vnf_package.by_id", tfjsonpath.New("flavours"), compare.ValuesSame()),
					statecheck.ExpectKnownValue("data.vnf_packages.none", tfjsonpath.New("packages"), knownvalue.ListSizeExact(0)),
				},
			},
			{
				// Another name is another package.
				Config: s.Config(fmt.Sprintf("resource \"vnf_package\" \"test\" {\n name = \"other\"\n source = %q\n}", zip)),
				ConfigPlanChecks: resource.ConfigPlanChecks{
					PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, plancheck.ResourceActionDestroyBeforeCreate)},
				},
			},
		},
	})
}

func updateInPlace() resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{
		PreApply:             []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate)},
		PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
	}
}

func checksum(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path) //nolint:gosec // a path of the test
	require.NoError(t, err)
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// TestPackageChanges leads one package on: its source is known at apply only at first. A changed content is a change in place without any
// argument that says so, and the old version goes. An onboarded package outlives its source, and nothing new can be read from a source
// that is not there. A lost store is filled again: by the refresh from the source, or, when that has gone, by the next apply that has one.
func TestPackageChanges(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	s := acctest.NewStore(t)
	dir := acctest.CopyPackage(t, "hello")
	moved := filepath.Join(t.TempDir(), "moved")
	changed, same := statecheck.CompareValue(compare.ValuesDiffer()), statecheck.CompareValue(compare.ValuesSame())
	id := tfjsonpath.New("id")
	kept := func() []statecheck.StateCheck {
		return []statecheck.StateCheck{same.AddStateValue(address, id), expect("status", knownvalue.StringExact("ONBOARDED"))}
	}
	nothing := resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
	rename := func(from, to string) func() {
		return func() { require.NoError(t, os.Rename(from, to)) }
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		CheckDestroy:             gone(t, s),
		Steps: []resource.TestStep{
			{
				Config: s.Config(fmt.Sprintf("resource \"terraform_data\" \"path\" { input = %q }", dir),
					strings.Replace(packageConfig(dir, ""), fmt.Sprintf("%q", dir), "terraform_data.path.output", 1)),
				ConfigPlanChecks: resource.ConfigPlanChecks{
					PreApply:             []plancheck.PlanCheck{plancheck.ExpectUnknownValue(address, id)},
					PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
				},
				ConfigStateChecks: []statecheck.StateCheck{changed.AddStateValue(address, id)},
			},
			{
				PreConfig: func() {
					acctest.Edit(t, dir, "hello.yaml", "max_scale_level: 3", "max_scale_level: 2")
					acctest.Edit(t, dir, "hello.yaml", "max_number_of_instances: 4", "max_number_of_instances: 3")
					acctest.Hash(t, dir)
				},
				Config:            s.Config(packageConfig(dir, "")),
				ConfigPlanChecks:  updateInPlace(),
				ConfigStateChecks: []statecheck.StateCheck{changed.AddStateValue(address, id), same.AddStateValue(address, id)},
				Check:             holds(t, s, 1),
			},
			{PreConfig: rename(dir, dir+".away"), Config: s.Config(packageConfig(dir, "")), ConfigPlanChecks: nothing},
			{Config: s.Config(packageConfig(dir, "timeouts = { delete = \"2m\" }")), ConfigPlanChecks: updateInPlace()},
			{
				Config:      s.Config(packageConfig(dir+".elsewhere", "")),
				PlanOnly:    true,
				ExpectError: acctest.Says(`(?s)Unable to Read VNF package "hello".*no such file`),
			},
			{PreConfig: rename(dir+".away", dir), Config: s.Config(packageConfig(dir, ""))},
			{
				PreConfig:         func() { s.Clear(t) },
				Config:            s.Config(packageConfig(dir, "")),
				ConfigPlanChecks:  nothing,
				ConfigStateChecks: kept(),
				Check:             holds(t, s, 1),
			},
			{
				PreConfig:         func() { s.Clear(t); rename(dir, moved)() },
				Config:            s.Config(packageConfig(moved, "")),
				ConfigPlanChecks:  updateInPlace(),
				ConfigStateChecks: kept(),
			},
		},
	})
}

// TestPackageDownload reads a package over http: unchanged content is not loaded
// twice, a changed one shows, and the content stays when the server goes.
func TestPackageDownload(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	s := acctest.NewStore(t)
	dir := acctest.CopyPackage(t, "hello")
	var file atomic.Value
	file.Store(acctest.Zip(t, dir))
	var status atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("PRIVATE-TOKEN") != "planted" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if code := int(status.Load()); code != 0 {
			w.WriteHeader(code)
			return
		}
		path, ok := file.Load().(string)
		if !ok {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		http.ServeFile(w, r, path)
	}))
	t.Cleanup(server.Close)
	url := server.URL + "/hello.csar"
	const token = `headers_wo = { PRIVATE-TOKEN = "planted" }`
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		CheckDestroy:             gone(t, s),
		Steps: []resource.TestStep{
			{
				Config:            s.Config(packageConfig(url, token)),
				ConfigPlanChecks:  emptyPlan(),
				ConfigStateChecks: []statecheck.StateCheck{expect("headers_wo", knownvalue.Null()), expect("headers_wo_version", knownvalue.Null())},
			},
			{
				PreConfig: func() {
					acctest.Edit(t, dir, "hello.yaml", "description: web server", "description: a web server")
					acctest.Hash(t, dir)
					file.Store(acctest.Zip(t, dir))
				},
				Config:           s.Config(packageConfig(url, token)),
				ConfigPlanChecks: updateInPlace(),
			},
			{
				PreConfig:        func() { status.Store(http.StatusNotFound) },
				Config:           s.Config(packageConfig(url, token)),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			},
			{
				PreConfig:   func() { status.Store(0) },
				Config:      s.Config(packageConfig(server.URL+"/private.csar", "")),
				PlanOnly:    true,
				ExpectError: acctest.Says(`(?s)Unable to Read VNF package "hello".*answered 401`),
			},
			{
				PreConfig:   func() { status.Store(http.StatusNotFound) },
				Config:      s.Config(packageConfig(server.URL+"/other.csar", token)),
				PlanOnly:    true,
				ExpectError: acctest.Says(`(?s)Unable to Read VNF package "hello".*answered 404`),
			},
		},
	})
}

// TestPackageBadInput shows that bad input is refused when the plan is made, with
// the place of the fault, and leaves nothing.
func TestPackageBadInput(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	good := acctest.ExamplePackage(t, "hello")
	zip := acctest.Zip(t, acctest.CopyPackage(t, "hello"))
	edited := func(file, from, to string, hash bool) string {
		dir := acctest.CopyPackage(t, "hello")
		acctest.Edit(t, dir, file, from, to)
		if hash {
			acctest.Hash(t, dir)
		}
		return dir
	}
	empty := t.TempDir()
	text := filepath.Join(empty, "text.csar")
	acctest.Write(t, empty, "text.csar", "no archive")
	noFile := acctest.CopyPackage(t, "hello")
	require.NoError(t, os.Remove(filepath.Join(noFile, "Files", "kubernetes", "web.yaml")))
	type refused struct {
		source, more string
		want         []string
	}
	checked := map[string]refused{
		"empty_source":        {"", "", []string{`Attribute source string length must be at least 1`}},
		"file_scheme":         {"file:///etc/hello.csar", "", []string{`Invalid URL[\s\S]*begins with https:// or http:// or oci://`}},
		"no_host":             {"https:///hello.csar", "", []string{`Invalid URL[\s\S]*The URL has no host`}},
		"credentials_in_url":  {"https://user:geheim@example.com/hello.csar", "", []string{`Invalid URL[\s\S]*The URL holds credentials`}},
		"checksum_form":       {good, `checksum = "md5:1234"`, []string{`must be "sha256:" and\s+64 lower-case\s+hexadecimal digits`}},
		"integrity_value":     {good, `integrity = "off"`, []string{`Attribute integrity value must be one of`}},
		"signature_value":     {good, `signature = "always"`, []string{`Attribute signature value must be one of`}},
		"require_no_roots":    {good, `signature = "require"`, []string{`Missing Trust Roots`}},
		"roots_no_pem":        {good, `trust = { roots = "no certificate" }`, []string{`Invalid PEM[\s\S]*A certificate as PEM is expected`}},
		"lists_no_pem":        {good, `trust = { roots = "no certificate", crls = "no list" }`, []string{`Invalid PEM[\s\S]*A revocation list as PEM is expected`, `A certificate as PEM is expected`}},
		"trust_without_roots": {good, `trust = { subjects = ["CN=a"] }`, []string{`attribute "roots" is required`}},
		"key_digest":          {good, `trust = { roots = "x", public_keys = ["sha256:00"] }`, []string{`must be "sha256:" and\s+64 lower-case\s+hexadecimal digits`, `A certificate as PEM is expected`}},
		"usage":               {good, `trust = { roots = "x", extended_key_usages = ["codeSigning"] }`, []string{`must\s+be\s+one\s+of\s+code_signing`, `A certificate as PEM is expected`}},
		"no_subject":          {good, `trust = { roots = "x", subjects = [] }`, []string{`set must contain at least 1 elements`, `A certificate as PEM is expected`}},
		"timeouts":            {good, `timeouts = { create = "soon" }`, []string{`Invalid Attribute Value Time Duration[\s\S]*"soon"`}},
		"name":                {good, "", []string{`must hold neither "@" nor white space`}},
	}
	planned := map[string]refused{
		"no_directory":        {good + "-not-there", "", []string{`Unable to Read VNF package "no_directory"[\s\S]*no such file or directory`}},
		"checksum_directory":  {good, `checksum = "sha256:0000000000000000000000000000000000000000000000000000000000000000"`, []string{`is a directory: a[\s\S]*checksum can be given for a file or a\s+URL only`}},
		"checksum_mismatch":   {zip, `checksum = "sha256:0000000000000000000000000000000000000000000000000000000000000000"`, []string{`expected[\s\S]*sha256:0000`}},
		"no_archive":          {text, "", []string{`The file is not a readable zip archive[\s\S]*At text.csar\.`}},
		"empty_directory":     {t.TempDir(), "", []string{`The package is empty[\s\S]*A package holds at least a VNFD`}},
		"digest_mismatch":     {edited("Files/kubernetes/web.yaml", "kind: Deployment", "kind: StatefulSet", false), "", []string{`SHA-256 of "Files/kubernetes/web.yaml" is not the one declared[\s\S]*At hello.mf:17:7[\s\S]*integrity = "warn" goes on\s+without it`}},
		"listed_file_missing": {noFile, "", []string{`"Files/kubernetes/web.yaml" is not in the package[\s\S]*At hello.mf:15:9\.`}},
		"algorithm":           {edited("hello.mf", "SHA-256", "MD5", false), "", []string{`(?i)digest algorithm "MD5" is not supported[\s\S]*hello.mf:12`, `(?i)digest algorithm "MD5" is not supported[\s\S]*hello.mf:16`}},
		"no_descriptor_id":    {edited("hello.yaml", "        descriptor_id: 0d2f8a4c-7f8e-4b2c-9a51-3f6d2c1e7a01\n", "", true), "", []string{`The VNF node VNF has no descriptor_id[\s\S]*At hello.yaml:11:5\.`}},
		"broken_yaml":         {edited("hello.yaml", "topology_template:", "topology_template: [", false), `integrity = "warn"`, []string{`The file is not valid YAML[\s\S]*At hello.yaml:9\.`}},
		"unknown_vdu":         {edited("hello.yaml", "targets: [web]", "targets: [db]", true), "", []string{`targets "db", which is not a VDU of the flavour; its VDUs are "web"[\s\S]*At hello.yaml:46:19\.`, `scaling aspect web targets "db", which is not a VDU[\s\S]*At hello.yaml:53:19\.`}},
	}
	s := acctest.NewStore(t)
	var steps []resource.TestStep
	var wants []map[string][]string
	for _, cases := range []map[string]refused{checked, planned} {
		config, want := "", map[string][]string{}
		for label, c := range cases {
			name := label
			if label == "name" {
				name = "a@b"
			}
			config += fmt.Sprintf("resource \"vnf_package\" %q {\n name = %q\n source = %q\n %s\n}\n", label, name, c.source, c.more)
			want[label] = c.want
		}
		steps, wants = append(steps, resource.TestStep{Config: s.Config(config), PlanOnly: true}), append(wants, want)
	}
	// Terraform plans nothing while the schema refuses something.
	for i, err := range acctest.Errors(t, acctest.Factories(), steps...) {
		acctest.ExpectErrors(t, err, "vnf_package", wants[i])
	}
	if _, err := os.Stat(s.Path); err == nil {
		t.Error("a refused plan left a store behind")
	}
}
