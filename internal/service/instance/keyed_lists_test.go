package instance_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// keyed are objects with lists whose elements are identified by key fields: a
// workload whose ports have a protocol as part of their key, and a custom resource
// with a list of its own. GROUP is to be replaced.
const keyed = `apiVersion: apps/v1
kind: StatefulSet
metadata: { name: register }
spec:
  serviceName: register
  selector: { matchLabels: { app: register } }
  template:
    metadata: { labels: { app: register } }
    spec:
      containers:
        - name: register
          image: registry.example.com/hello/register:1.0.0
          env: [{ name: ROLE, value: primary }, { name: ZONE, value: north }]
          ports: [{ name: sip, containerPort: 5060 }]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: meshes.GROUP }
spec:
  group: GROUP
  scope: Namespaced
  names: { kind: Mesh, plural: meshes, singular: mesh, listKind: MeshList }
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                neighbours:
                  type: array
                  x-kubernetes-list-type: map
                  x-kubernetes-list-map-keys: [id]
                  items:
                    type: object
                    required: [id]
                    properties: { id: { type: integer }, address: { type: string } }
---
apiVersion: GROUP/v1
kind: Mesh
metadata: { name: ring }
spec: { neighbours: [{ id: 1, address: north }, { id: 2, address: south }] }
`

// TestAccInstance_keyedLists has somebody change the keys of list elements, which
// makes other elements of them, and add elements of their own. The repair puts back
// the former and leaves the latter.
func TestAccInstance_keyedLists(t *testing.T) {
	env := newEnv(t)
	mesh := "meshes." + env.group()
	source := hello(t, with(strings.ReplaceAll(keyed, "GROUP", env.group())))
	patch := func(object, operations string) { env.kubectl("patch", object, "--type=json", "-p", operations) }
	const container = "/spec/template/spec/containers/0"
	env.run(t,
		resource.TestStep{Config: env.configFor(source)},
		resource.TestStep{
			PreConfig: func() {
				patch("service/web", `[{"op":"replace","path":"/spec/ports/0/port","value":81},
					{"op":"add","path":"/spec/ports/-","value":{"name":"metrics","port":9090}}]`)
				patch("deployment/web", `[{"op":"replace","path":"`+container+`/ports/0/containerPort","value":9090},
					{"op":"replace","path":"`+container+`/volumeMounts/0/mountPath","value":"/moved"},
					{"op":"add","path":"/spec/template/spec/containers/-","value":{"name":"proxy","image":"registry.example.com/proxy:1","ports":[{"name":"proxy","containerPort":15001}]}},
					{"op":"add","path":"`+container+`/ports/-","value":{"name":"debug","containerPort":6060}}]`)
				patch("statefulset/register", `[{"op":"replace","path":"`+container+`/ports/0/protocol","value":"UDP"},
					{"op":"replace","path":"`+container+`/env/1/name","value":"REGION"},
					{"op":"add","path":"`+container+`/env/-","value":{"name":"INJECTED","value":"yes"}}]`)
				patch(mesh+"/ring", `[{"op":"replace","path":"/spec/neighbours/0/id","value":7},
					{"op":"add","path":"/spec/neighbours/-","value":{"id":9,"address":"west"}}]`)
			},
			Config: env.configFor(source),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
				expectPrior{"v1/Service web", "spec.ports[name=http].port"},
				expectPrior{"apps/v1/Deployment web", "spec.template.spec.containers[name=web].ports[name=http].containerPort, spec.template.spec.containers[name=web].volumeMounts[name=content].mountPath"},
				expectPrior{"apps/v1/StatefulSet register", "spec.template.spec.containers[name=register].env[name=ZONE], spec.template.spec.containers[name=register].ports[name=sip].protocol"},
				expectPrior{env.group() + "/v1/Mesh ring", "spec.neighbours[id=1]"},
			}},
			Check: allChecks(
				env.expectKubectl("metrics=9090 http=80", "get", "service/web", "-o", `jsonpath={range .spec.ports[*]}{.name}={.port} {end}`),
				env.expectKubectl("debug=6060/TCP http=8080/TCP /srv proxy", "get", "deployment/web", "-o", `jsonpath={range .spec.template.spec.containers[?(@.name=="web")].ports[*]}{.name}={.containerPort}/{.protocol} {end}{.spec.template.spec.containers[?(@.name=="web")].volumeMounts[*].mountPath} {.spec.template.spec.containers[?(@.name=="proxy")].name}`),
				env.expectKubectl("sip=5060/TCP ROLE=primary INJECTED=yes ZONE=north", "get", "statefulset/register", "-o", `jsonpath={range .spec.template.spec.containers[0].ports[*]}{.name}={.containerPort}/{.protocol} {end}{range .spec.template.spec.containers[0].env[*]}{.name}={.value} {end}`),
				env.expectKubectl("1=north 2=south 9=west", "get", mesh+"/ring", "-o", `jsonpath={range .spec.neighbours[*]}{.id}={.address} {end}`),
				env.checkBackend(),
			),
		},
	)
}

// TestAccInstance_keyedListOfAnother has somebody change the key of a list element
// that the next version of the package changes as well: that is a conflict, and
// force_conflicts resolves it.
func TestAccInstance_keyedListOfAnother(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	port := "name: http, port: 80,"
	next := hello(t, manifests(port, "name: http, port: 8000,"))
	env.run(t,
		resource.TestStep{Config: env.configFor(hello(t))},
		resource.TestStep{
			PreConfig: func() {
				env.kubectl("patch", "service/web", "--type=json", "-p", `[{"op":"replace","path":"/spec/ports/0/port","value":81}]`)
			},
			Config:      env.configFor(next),
			ExpectError: sentence(`Service ` + env.namespace + `/web: other managers own fields that the manifest sets: .spec.ports[port=81,protocol=TCP] (owned by "kubectl-patch"); remove the fields from the manifest, or take them over with force_conflicts`),
		},
		resource.TestStep{
			Config: env.configFor(next, "force_conflicts = true"),
			Check:  env.expectKubectl("http=8000", "get", "service/web", "-o", `jsonpath={range .spec.ports[*]}{.name}={.port} {end}`),
		},
	)
}
