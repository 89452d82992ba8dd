package rendering_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/compare"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/rendering"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

const address = "data.vnf_rendering.test"

// config renders a package, with further arguments.
func config(source string, arguments ...string) string {
	return fmt.Sprintf(`
resource "vnf_package" "test" {
  name   = "test"
  source = %q
}

data "vnf_rendering" "test" {
  package_id = vnf_package.test.id
  %s
}
`, source, strings.Join(arguments, "\n  "))
}

// TestHeldByServer renders packages, with and without manifests, and expects every
// rendered field in what the server holds of an instance.
func TestHeldByServer(t *testing.T) {
	for _, tt := range []struct{ name, scale string }{
		{"gateway", "{ proxy = 1 }"},
		{"hello", "{ web = 2 }"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			acctest.PreCheck(t)
			lab, s := labtest.Kubernetes(t), acctest.NewStore(t)
			namespace := lab.Namespace(t)
			instance := fmt.Sprintf(`
resource "vnf_instance" "test" {
  name            = "test"
  vim_id          = vnf_vim.test.id
  package_id      = vnf_package.test.id
  namespace       = %q
  scale_levels    = %s
  deletion_policy = { volumes = "delete" }
}

data "vnf_instance" "test" { id = vnf_instance.test.id }
`, namespace, tt.scale)
			scale := "scale_levels = " + tt.scale
			resource.Test(t, resource.TestCase{
				ProtoV6ProviderFactories: acctest.Factories(),
				Steps: []resource.TestStep{{
					Config: s.Config(acctest.VIM(t, lab, "test"), config(acctest.ExamplePackage(t, tt.name), scale), instance),
					Check:  func(state *terraform.State) error { return held(t, lab, namespace, state) },
				}},
			})
		})
	}
}

// held compares each rendered object with the object of the server.
func held(t *testing.T, lab labtest.Env, namespace string, state *terraform.State) error {
	rendered := state.RootModule().Resources[address].Primary.Attributes
	instance := state.RootModule().Resources["data.vnf_instance.test"].Primary.Attributes
	objects := map[string]bool{}
	for name, value := range instance {
		objects[value] = objects[value] || strings.HasPrefix(name, "objects.")
	}
	found := 0
	for name, text := range rendered {
		key, ok := strings.CutPrefix(name, "object_manifests.")
		if !ok || key == "%" {
			continue
		}
		found++
		if !objects[key] {
			return fmt.Errorf("the instance has no %s", key)
		}
		var want, have map[string]any
		if err := yaml.Unmarshal([]byte(text), &want); err != nil {
			return fmt.Errorf("%s is no YAML: %w\n%s", key, err, text)
		}
		_, object, _ := strings.Cut(key, " ")
		out := lab.Kubectl(t, "-n", namespace, "get", fmt.Sprint(want["kind"]), object, "-o", "json")
		if err := json.Unmarshal([]byte(out), &have); err != nil {
			return err
		}
		if path, ok := within(want, have); !ok {
			return fmt.Errorf("%s is rendered otherwise than the server holds it at %s:\n%s\n%s", key, path, text, out)
		}
	}
	if n := instance["objects.#"]; n != fmt.Sprint(found) {
		return fmt.Errorf("%d objects are rendered, and the instance has %s", found, n)
	}
	return nil
}

// within reports whether everything of want is in have; else path is what is not.
func within(want, have any) (path string, ok bool) {
	switch w := want.(type) {
	case map[string]any:
		h, isMap := have.(map[string]any)
		if !isMap {
			return "", false
		}
		for key, value := range w {
			if path, ok := within(value, h[key]); !ok {
				return "." + key + path, false
			}
		}
		return "", true
	case []any:
		h, isList := have.([]any)
		if !isList || len(h) < len(w) {
			return "", false
		}
		for i, value := range w {
			if path, ok := within(value, h[i]); !ok {
				return fmt.Sprintf("[%d]%s", i, path), false
			}
		}
		return "", true
	default:
		return "", fmt.Sprint(want) == fmt.Sprint(have)
	}
}

// TestOffline renders without a VIM, and shows counts and no secret.
func TestOffline(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	secret := acctest.CopyPackage(t, "hello")
	acctest.Write(t, secret, "Files/kubernetes/secret.yaml",
		"apiVersion: v1\nkind: Secret\nmetadata: { name: key }\nstringData: { token: planted-in-the-test }\n")
	acctest.Edit(t, secret, "hello.mf", "Source: Files/kubernetes/web.yaml", "Source: Files/kubernetes/secret.yaml\nAlgorithm: SHA-256\nHash: 0\n\nSource: Files/kubernetes/web.yaml")
	acctest.Hash(t, secret)
	object := func(key string, check knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue(address, tfjsonpath.New("object_manifests").AtMapKey(key), check)
	}
	replicas := func(vdu string, check knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue(address, tfjsonpath.New("vdus").AtMapKey(vdu).AtMapKey("replicas"), check)
	}
	s := acctest.NewStore(t)
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: s.Config(config(acctest.ExamplePackage(t, "gateway"), "scale_levels = { proxy = 2 }")),
				ConfigStateChecks: []statecheck.StateCheck{
					replicas("proxy", knownvalue.Int64Exact(3)),
					replicas("api", knownvalue.Null()),
					object("apps/v1/Deployment proxy", knownvalue.StringRegexp(regexp.MustCompile(`(?m)^  replicas: 3$`))),
					object("v1/Service gateway", knownvalue.StringExact(`apiVersion: v1
kind: Service
metadata:
  labels:
    app.kubernetes.io/name: proxy
  name: gateway
spec:
  ports:
    - name: https
      port: 443
      protocol: TCP
      targetPort: https
    - name: metrics
      port: 9100
      protocol: TCP
      targetPort: metrics
  selector:
    app.kubernetes.io/name: proxy
`)),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("flavour_id"), knownvalue.StringExact("default")),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("instantiation_level_id"), knownvalue.Null()),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("scale_status"), knownvalue.MapExact(map[string]knownvalue.Check{"proxy": knownvalue.Int64Exact(2)})),
				},
			},
			{
				Config: s.Config(config(secret)),
				ConfigStateChecks: []statecheck.StateCheck{
					object("v1/Secret key", knownvalue.StringExact("apiVersion: v1\ndata:\n  token: (sensitive)\nkind: Secret\nmetadata:\n  name: key\n")),
				},
			},
		},
	})
}

// TestSource renders a directory, a file and a URL before anything is applied, alike,
// and leaves no record of any of them. A package that is onboarded is shown alike.
func TestSource(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	dir := acctest.ExamplePackage(t, "gateway")
	archive := acctest.Zip(t, dir)
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(archive))))
	t.Cleanup(server.Close)
	s := acctest.NewStore(t)
	var parts []string
	for name, source := range map[string]string{"directory": dir, "file": archive, "url": server.URL + "/" + filepath.Base(archive)} {
		parts = append(parts, fmt.Sprintf(`
data "vnf_rendering" %[1]q {
  source       = %[2]q
  scale_levels = { proxy = 2 }
}

output %[1]q {
  value = sha256(jsonencode(data.vnf_rendering.%[1]s.object_manifests))
}
`, name, source))
	}
	same := statecheck.CompareValue(compare.ValuesSame())
	known := func(name string) plancheck.PlanCheck {
		return plancheck.ExpectKnownOutputValue(name, knownvalue.NotNull())
	}
	onboarded := config(dir, "scale_levels = { proxy = 2 }")
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config:           s.Config(parts...),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{known("directory"), known("file"), known("url")}},
				ConfigStateChecks: []statecheck.StateCheck{
					same.AddStateValue("data.vnf_rendering.directory", tfjsonpath.New("object_manifests")),
					same.AddStateValue("data.vnf_rendering.file", tfjsonpath.New("object_manifests")),
					same.AddStateValue("data.vnf_rendering.url", tfjsonpath.New("object_manifests")),
					statecheck.ExpectKnownValue("data.vnf_rendering.directory", tfjsonpath.New("vdus").AtMapKey("proxy").AtMapKey("replicas"), knownvalue.Int64Exact(3)),
					statecheck.ExpectKnownValue("data.vnf_rendering.directory", tfjsonpath.New("object_manifests"), knownvalue.MapSizeExact(9)),
				},
				Check: func(*terraform.State) error {
					left, err := s.Records(t).List(t.Context(), store.Query{Kind: store.KindPackage})
					if err != nil || len(left) > 0 {
						return fmt.Errorf("the store has %d packages, %w", len(left), err)
					}
					return nil
				},
			},
			{
				Config:            s.Config(append(parts, onboarded)...),
				ConfigStateChecks: []statecheck.StateCheck{same.AddStateValue(address, tfjsonpath.New("object_manifests"))},
			},
		},
	})
}

// TestBadSource: an error of a source has its place.
func TestBadSource(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	s := acctest.NewStore(t)
	broken := acctest.CopyPackage(t, "gateway")
	acctest.Edit(t, broken, "gateway.yaml", "tosca.nodes.nfv.VNF\n", "tosca.nodes.nfv.Nonsense\n")
	var steps []resource.TestStep
	for arguments, want := range map[string]string{
		``: `No attribute specified when one \(and only one\) of \[source\] is required`,
		`source = "a"` + "\n" + `package_id = "b"`: `Invalid Attribute Combination`,
		`source = ""`:                          `string length must be at least 1`,
		`source = "ftp://example.com/a.csar"`:  `Invalid URL.*A URL that begins with https:// or http:// or oci:// is expected`,
		`source = "https://a:b@example.com/a"`: `The URL holds credentials`,
		`source = "no-such-package"`:           `Unable to Read VNF Package.*no-such-package.*no such file or directory`,
		fmt.Sprintf(`source = %q`, broken):     `gateway.yaml`,
		fmt.Sprintf("source = %q\nflavour_id = \"large\"", acctest.ExamplePackage(t, "gateway")): `has no deployment flavour "large"`,
	} {
		steps = append(steps, resource.TestStep{
			Config: s.Config("data \"vnf_rendering\" \"test\" {\n" + arguments + "\n}\n"), ExpectError: acctest.Says(`(?is)` + want),
		})
	}
	resource.Test(t, resource.TestCase{ProtoV6ProviderFactories: acctest.Factories(), Steps: steps})
}

// TestBadArguments: an error has the place of its argument.
func TestBadArguments(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	s := acctest.NewStore(t)
	var steps []resource.TestStep
	for argument, want := range map[string]string{
		`flavour_id = "large"`:                       `VNFD "5b1f6a1e-2f3c-4d59-8a77-0c9a4be2d310" has no deployment flavour "large"`,
		`instantiation_level_id = "big"`:             `deployment flavour "default" has no instantiation level "big"`,
		`scale_levels = { proxy = 7 }`:               `the scale level 7 of the aspect "proxy" is out of range`,
		`scale_levels = { proxy = -1 }`:              `must be at least 0`,
		`additional_params = "x"`:                    `additional_params must be an object`,
		`additional_params = { helm_chart = "x" }`:   `additional parameter "helm_chart" is not known`,
		`additional_params = { namespace = "Core" }`: `additional parameter "namespace" must be the name of a namespace`,
	} {
		steps = append(steps, resource.TestStep{
			Config: s.Config(config(acctest.ExamplePackage(t, "gateway"), argument)), ExpectError: acctest.Says(`(?i)` + regexp.QuoteMeta(want)),
		})
	}
	steps = append(steps, resource.TestStep{
		Config:      s.Config("data \"vnf_rendering\" \"test\" {\n  package_id = \"none@sha256:0\"\n}\n"),
		ExpectError: acctest.Says(`No VNF package in the store of this provider configuration has the id "none@sha256:0"`),
	})
	resource.Test(t, resource.TestCase{ProtoV6ProviderFactories: acctest.Factories(), Steps: steps})
}

// TestExample runs the example of the documentation.
func TestExample(t *testing.T) {
	t.Parallel()
	acctest.PreCheck(t)
	path := filepath.Join(labtest.Root(t), "examples", "data-sources", rendering.DataSourceType, "data-source.tf")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	// The provider under test has no source.
	_, example, _ := strings.Cut(string(text), "\n}\n")
	example = strings.ReplaceAll(example, "${path.module}/../../packages", filepath.Join(labtest.Root(t), "examples", "packages"))
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{{
			Config: acctest.NewStore(t).Config(example),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectKnownOutputValue("proxies", knownvalue.Int64Exact(3)),
			}},
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownOutputValue("deployment", knownvalue.StringRegexp(regexp.MustCompile(`(?m)^  replicas: 1$`))),
				statecheck.ExpectKnownOutputValue("proxies", knownvalue.Int64Exact(3)),
				statecheck.ExpectKnownOutputValue("objects", knownvalue.MapSizeExact(9)),
			},
		}},
	})
}
