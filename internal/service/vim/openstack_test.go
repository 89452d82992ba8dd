package vim_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/compare"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/cloudtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// cloudConfig is a vnf_vim "test" with these arguments of the connection to an OpenStack.
func cloudConfig(more string, connection ...string) string {
	return fmt.Sprintf("resource \"vnf_vim\" \"test\" {\n name = \"cloud\"\n %s\n openstack = {\n  %s\n }\n}\n", more, strings.Join(connection, "\n  "))
}

func user(cloud *cloudtest.Cloud) []string {
	return []string{arg("auth_url", cloud.URL), arg("username", "nfv_user"), arg("project_name", cloudtest.Project), arg("region", cloudtest.Region)}
}

// TestVIMOpenStack registers an OpenStack and moves it through ways of authentication, in
// place and under the same id.
func TestVIMOpenStack(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	cloud := cloudtest.New(t)
	s := acctest.NewStore(t)
	client, err := openstack.New(openstack.Config{
		Connection:  vnfm.OpenStackConnection{AuthURL: cloud.URL, Username: "nfv_user", ProjectName: cloudtest.Project},
		Credentials: vnfm.Credentials{vnfm.CredentialPassword: "devstack"},
	})
	if err != nil {
		t.Fatal(err)
	}
	made, err := client.CreateApplicationCredential(t.Context(), openstack.NewApplicationCredential{Name: "tf"})
	if err != nil {
		t.Fatal(err)
	}
	id := statecheck.CompareValue(compare.ValuesSame())
	same := func() statecheck.StateCheck { return id.AddStateValue(address, tfjsonpath.New("id")) }
	service := func(name string, check knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue(address, tfjsonpath.New("services").AtMapKey(name).AtMapKey("version"), check)
	}
	byPassword := s.Config(cloudConfig("", append(user(cloud), arg("password", "devstack"))...))
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_11_0)},
		CheckDestroy:             gone(t, s),
		Steps: []resource.TestStep{
			{
				Config: byPassword,
				ConfigPlanChecks: resource.ConfigPlanChecks{
					PreApply: []plancheck.PlanCheck{
						plancheck.ExpectUnknownValue(address, tfjsonpath.New("services")), plancheck.ExpectKnownValue(address, tfjsonpath.New("api_groups"), knownvalue.SetSizeExact(0)),
					},
					PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
				},
				ConfigStateChecks: []statecheck.StateCheck{
					same(),
					expect("type", knownvalue.StringExact("openstack")),
					expect("status", knownvalue.StringExact("REACHABLE")),
					expect("endpoint", knownvalue.StringExact(cloud.URL)),
					expect("project_id", knownvalue.StringExact(cloudtest.ProjectID)),
					expect("project_name", knownvalue.StringExact(cloudtest.Project)),
					expect("user_id", knownvalue.StringExact(cloud.User("nfv_user").ID)),
					expect("region", knownvalue.StringExact(cloudtest.Region)),
					expect("kubernetes", knownvalue.Null()),
					service("compute", knownvalue.StringExact("2.1")),
					service("network", knownvalue.StringExact("2.0")),
					service("image", knownvalue.Null()),
					statecheck.ExpectSensitiveValue(address, tfjsonpath.New("openstack").AtMapKey("password")),
				},
			},
			{
				Config: s.Config(cloudConfig("description = \"x\"", arg("auth_url", cloud.URL+"/v3"), arg("application_credential_id", made.ID),
					arg("application_credential_secret_wo", made.Secret.Reveal()), "application_credential_secret_wo_version = 1")),
				ConfigPlanChecks: updateInPlace(),
				ConfigStateChecks: []statecheck.StateCheck{
					same(), expect("region", knownvalue.StringExact(cloudtest.Region)), noSecret{[]string{made.Secret.Reveal(), "devstack"}},
				},
			},
			{Config: byPassword, ConfigPlanChecks: updateInPlace(), ConfigStateChecks: []statecheck.StateCheck{same()}},
			{ResourceName: address, ImportState: true, ImportStateId: "cloud", ImportStateVerify: true, ImportStateVerifyIgnore: []string{"openstack.password"}},
			{
				Config: byPassword + "\ndata \"vnf_vim\" \"other\" { id = vnf_vim.test.id }\n",
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.CompareValuePairs("data.vnf_vim.other", tfjsonpath.New("services"), address, tfjsonpath.New("services"), compare.ValuesSame()),
					statecheck.ExpectKnownValue("data.vnf_vim.other", tfjsonpath.New("openstack").AtMapKey("username"), knownvalue.StringExact("nfv_user")),
				},
			},
			{
				// The user is disabled behind Terraform's back: that stops no plan, and is seen.
				PreConfig:         func() { cloud.Disable("nfv_user", true) },
				Config:            byPassword,
				ConfigPlanChecks:  resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
				ConfigStateChecks: []statecheck.StateCheck{expect("status", knownvalue.StringExact("UNREACHABLE")), expect("project_name", knownvalue.StringExact(cloudtest.Project))},
			},
			{
				PreConfig:         func() { cloud.Disable("nfv_user", false) },
				Config:            byPassword,
				ConfigStateChecks: []statecheck.StateCheck{expect("status", knownvalue.StringExact("REACHABLE"))},
			},
			{
				// The store is lost: the refresh registers the VIM again under its id.
				PreConfig:         func() { s.Clear(t) },
				Config:            byPassword,
				ConfigPlanChecks:  resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
				ConfigStateChecks: []statecheck.StateCheck{same(), service("compute", knownvalue.StringExact("2.1"))},
			},
			{
				// A VIM that becomes one of another type is replaced.
				Config: s.Config(acctest.VIM(t, labtest.Kubernetes(t), "edge")),
				ConfigPlanChecks: resource.ConfigPlanChecks{
					PreApply:             []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, plancheck.ResourceActionReplace)},
					PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
				},
				ConfigStateChecks: []statecheck.StateCheck{expect("type", knownvalue.StringExact("kubernetes")), expect("services", knownvalue.MapSizeExact(0)), expect("project_id", knownvalue.Null())},
			},
		},
	})
}

// TestVIMOpenStackRefused shows what a user reads at plan and at apply, never with the secret.
func TestVIMOpenStackRefused(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	cloud := cloudtest.New(t)
	const secret = "geheimes-wort-4711"
	s := acctest.NewStore(t)
	type refused struct {
		connection []string
		want       []string
	}
	applied := map[string]refused{
		"password":  {append(user(cloud), arg("password", secret)), []string{`(?s)Unable to Register VIM "password".*401 Unauthorized`}},
		"dead_port": {[]string{arg("auth_url", "https://127.0.0.1:1"), arg("token", secret)}, []string{`(?s)Unable to Register VIM "dead_port".*connection refused.*Check the endpoint`}},
		"region":    {[]string{arg("auth_url", cloud.URL), arg("username", "nfv_user"), arg("project_name", "nfv"), arg("region", "Mars"), arg("password", "devstack")}, []string{`no service for region "Mars" with the interface "public"(?s).*Its regions are RegionOne`}},
	}
	planned := map[string]refused{
		"no_credentials": {[]string{arg("auth_url", cloud.URL)}, []string{`openstack.password: no credentials are given`}},
		"two_ways":       {append(user(cloud), arg("password", secret), arg("token", secret)), []string{`several ways of authentication are given: password, token`}},
		"two_forms":      {append(user(cloud), arg("password", secret), arg("password_wo", secret)), []string{`password cannot be set together with "password_wo": they are two forms of one secret`, `password_wo cannot be set together with "password": they are two forms of one secret`}},
		"old_keystone":   {[]string{arg("auth_url", "https://k:5000/v2.0"), arg("token", secret)}, []string{`The auth_url is that of version 2 of Keystone`}},
		"clouds_yaml":    {[]string{arg("clouds_yaml", "clouds: {a: {auth: {password: "+secret+"}}, b: {}}")}, []string{`several clouds, but cloud names none of them: a, b`}},
		"both":           {append(user(cloud), arg("password", secret), "}\n kubernetes = {\n"+arg("endpoint", "https://h")), []string{`(?s)kubernetes.*openstack`}},
	}
	var steps []resource.TestStep
	var wants []map[string][]string
	for _, cases := range []map[string]refused{applied, planned} {
		config, want := "", map[string][]string{}
		for name, c := range cases {
			vim := strings.Replace(cloudConfig("", c.connection...), `"vnf_vim" "test"`, fmt.Sprintf(`"vnf_vim" %q`, name), 1)
			config += strings.Replace(vim, `"cloud"`, fmt.Sprintf("%q", name), 1)
			want[name] = c.want
		}
		steps, wants = append(steps, resource.TestStep{Config: s.Config(config)}), append(wants, want)
	}
	for i, err := range acctest.Errors(t, acctest.Factories(), steps...) {
		acctest.ExpectErrors(t, err, "vnf_vim", wants[i])
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error holds a secret:\n%v", err)
		}
	}
}

// TestVIMRealOpenStack registers the laboratory's OpenStack, and follows what happens to
// its user.
func TestVIMRealOpenStack(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	env := labtest.OpenStack(t)
	user := env.NewUser(t, "member")
	s := acctest.NewStore(t)
	config := func(password string, version int) string {
		return s.Config(cloudConfig("", arg("auth_url", env.AuthURL), arg("region", env.Region), arg("username", user.Name), arg("user_domain_name", env.Domain),
			arg("project_name", user.Project), arg("project_domain_name", env.Domain), arg("password_wo", password), fmt.Sprintf("password_wo_version = %d", version)))
	}
	service := func(name string) statecheck.StateCheck {
		return statecheck.ExpectKnownValue(address, tfjsonpath.New("services").AtMapKey(name).AtMapKey("version"), knownvalue.StringRegexp(regexp.MustCompile(`^[0-9.]+$`)))
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_11_0)},
		CheckDestroy:             gone(t, s),
		Steps: []resource.TestStep{
			{Config: config("wrong", 1), ExpectError: acctest.Says(`(?s)Unable to Register VIM "cloud".*401 Unauthorized: The request you have made requires authentication`)},
			{
				Config:           config(user.Password, 1),
				ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
				ConfigStateChecks: []statecheck.StateCheck{
					expect("user_id", knownvalue.StringExact(user.ID)), expect("project_name", knownvalue.StringExact(user.Project)),
					service("identity"), service("image"), noSecret{[]string{user.Password}},
				},
			},
			{
				PreConfig: func() { env.SetPassword(t, user, "rotated-0815") },
				Config:    config("rotated-0815", 2), ConfigPlanChecks: updateInPlace(),
				ConfigStateChecks: []statecheck.StateCheck{expect("status", knownvalue.StringExact("REACHABLE")), noSecret{[]string{"rotated-0815"}}},
			},
			{
				PreConfig:         func() { env.DisableUser(t, user) },
				Config:            config("rotated-0815", 2),
				ConfigStateChecks: []statecheck.StateCheck{expect("status", knownvalue.StringExact("UNREACHABLE"))},
			},
		},
	})
}
