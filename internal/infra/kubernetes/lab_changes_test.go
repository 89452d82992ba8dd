package kubernetes

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestLabRefusedChanges makes changes that the API server refuses. An object that only keeps a default of the former value is changed
// in place. An object with an immutable field is replaced if no data is lost or the user names it. The error contains its name.
func TestLabRefusedChanges(t *testing.T) {
	t.Parallel()
	const workload = "  selector: {matchLabels: {a: b}}\n  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: example.org/c}]}}\n"
	deployment := func(strategy string) string {
		return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  strategy: " + strategy + "\n" + workload
	}
	set := func(kind, strategy string) string {
		return "apiVersion: apps/v1\nkind: " + kind + "\nmetadata: {name: web}\nspec:\n  updateStrategy: " + strategy + "\n" + workload
	}
	binding := func(role string) string {
		return "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: web}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: " + role +
			"}\nsubjects: [{kind: ServiceAccount, name: default}]\n"
	}
	class := func(value string) string {
		return "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: NAMESPACE}\nvalue: " + value + "\n"
	}
	service := func(ip string) string {
		return "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {" + ip + "selector: {a: b}, ports: [{port: 80}]}\n"
	}
	widget := func(size string) string {
		return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.NAMESPACE.example.org}\nspec:\n" +
			"  group: NAMESPACE.example.org\n  scope: Namespaced\n  names: {kind: Widget, plural: widgets}\n  versions:\n  - name: v1\n    served: true\n    storage: true\n" +
			"    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer, x-kubernetes-validations: [{rule: self == oldSelf}]}}}}}}\n" +
			"---\napiVersion: NAMESPACE.example.org/v1\nkind: Widget\nmetadata: {name: web}\nspec: {size: " + size + "}\n"
	}
	for name, tt := range map[string]struct {
		before, after, key string
		// path is a JSONPath with the value want at the end. refused is part of the error without replace_objects.
		path, want, refused string
	}{
		"Deployment to Recreate": {before: deployment("{}"), after: deployment("{type: Recreate}"), key: "deployment/web", path: "{.spec.strategy}", want: `{"type":"Recreate"}`},
		"Deployment to Recreate, own surge": {
			before: deployment("{rollingUpdate: {maxSurge: 2}}"), after: deployment("{type: Recreate}"), key: "deployment/web", path: "{.spec.strategy}", want: `{"type":"Recreate"}`,
		},
		"StatefulSet to OnDelete": {before: set("StatefulSet", "{}"), after: set("StatefulSet", "{type: OnDelete}"), key: "statefulset/web", path: "{.spec.updateStrategy}", want: `{"type":"OnDelete"}`},
		"selector of a StatefulSet": {
			before: set("StatefulSet", "{}"), after: strings.ReplaceAll(set("StatefulSet", "{}"), "a: b", "a: c"), key: "statefulset/web", path: "{.spec.selector.matchLabels} {.status.replicas}",
			want: `{"a":"c"} 1`, refused: `name it in replace_objects ("apps/v1/StatefulSet web")`,
		},
		"role of a binding": {before: binding("view"), after: binding("edit"), key: "rolebinding/web", path: "{.roleRef.name}", want: "edit"},
		"value of a class": {
			before: class("7"), after: class("8"), key: "priorityclass/NAMESPACE", path: "{.value}", want: "8", refused: `name it in replace_objects ("scheduling.k8s.io/v1/PriorityClass NAMESPACE")`,
		},
		"address of a Service": {
			before: service(""), after: service("clusterIP: None, "), key: "service/web", path: "{.spec.clusterIP}", want: "None", refused: `name it in replace_objects ("v1/Service web")`,
		},
		"rule of a definition": {
			before: widget("1"), after: widget("2"), key: "widget.NAMESPACE.example.org/web", path: "{.spec.size}", want: "2", refused: `name it in replace_objects ("NAMESPACE.example.org/v1/Widget web")`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil, nil)
			named := strings.NewReplacer("NAMESPACE", l.namespace).Replace
			l.setFiles("1", map[string]string{"a.yaml": named(tt.before)})
			l.apply()
			l.setFiles("2", map[string]string{"a.yaml": named(tt.after)})
			key := l.recorder.instance.Inventory[len(l.recorder.instance.Inventory)-1].Key
			tried := func() string {
				ps, err := l.driver.DryRun(l.ctx, l.target, []string{key})
				require.NoError(t, err)
				var text string
				for _, p := range ps {
					text += p.Summary + ": " + p.Detail
				}
				return text
			}
			if tt.refused != "" {
				assert.Contains(t, tried(), named(tt.refused), "dry run")
				require.ErrorContains(t, l.driver.Apply(l.ctx, l.target, l.recorder), named(tt.refused))
				l.target.ReplaceObjects = []string{key}
			}
			assert.Empty(t, tried(), "dry run")
			l.apply()
			l.inSync()
			assert.Equal(t, tt.want, l.kubectl("get", named(tt.key), "-o", "jsonpath="+tt.path))
			l.terminate(vnfm.TerminateSpec{Type: vnfm.Graceful})
		})
	}
}

// TestLabReplacedStatefulSet changes the volume templates of a StatefulSet that replace_objects names. Its pods keep running.
func TestLabReplacedStatefulSet(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, nil)
	class := "expands-" + l.namespace
	l.kubectl("create", "-f", l.file("apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: "+class+"}\nprovisioner: lab.vnf/volumes\nallowVolumeExpansion: true\n"))
	set := func(size, small string) map[string]string {
		return map[string]string{"db.yaml": strings.ReplaceAll(`apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  replicas: 2
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: db, image: example.org/db, volumeMounts: [{name: data, mountPath: /data}]}]}}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], storageClassName: CLASS, resources: {requests: {storage: `+size+`}}}}, {metadata: {name: log}, spec: {accessModes: [ReadWriteOnce], storageClassName: standard, resources: {requests: {storage: `+small+`}}}}]
`, "CLASS", class)}
	}
	l.setFiles("1", set("1Gi", "1Gi"))
	l.apply()
	pods := func() string { return l.kubectl("get", "pods", "-o", "jsonpath={.items[*].metadata.uid}") }
	before := pods()
	l.setFiles("2", set("2Gi", "1536Mi"))
	require.ErrorContains(t, l.driver.Apply(l.ctx, l.target, l.recorder), `name it in replace_objects ("apps/v1/StatefulSet db")`)
	l.target.ReplaceObjects = []string{"apps/v1/StatefulSet db"}
	var warned []string
	l.target.Warn = func(p vnfm.Problem) { warned = append(warned, p.Summary+": "+p.Detail) }
	l.apply()
	l.inSync()
	require.Len(t, warned, 1)
	require.Regexp(t, "^claims of a replaced StatefulSet keep their size: PersistentVolumeClaim .*/log-db-0 stays at 1Gi: .*\nPersistentVolumeClaim .*/log-db-1 stays at 1Gi: .*must support resize", warned[0])
	assert.Equal(t, "2Gi 2Gi 1Gi 1Gi", l.kubectl("get", "pvc", "-o", "jsonpath={.items[*].spec.resources.requests.storage}"))
	assert.Equal(t, "2Gi", l.kubectl("get", "statefulset", "db", "-o", "jsonpath={.spec.volumeClaimTemplates[0].spec.resources.requests.storage}"))
	assert.Equal(t, before, pods(), "the pods run on")
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Graceful})
	l.kubectl("delete", "storageclass", class)
}

// TestLabFilledFields applies objects with fields that another program sets. They keep the values of this program and are not drift.
func TestLabFilledFields(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, nil)
	l.target.Instance.AdditionalParams = map[string]any{"ignore_fields": map[string]any{"v1/ConfigMap a": []any{"data.token"}}}
	manifests := func(value string) map[string]string {
		return map[string]string{"a.yaml": strings.ReplaceAll(`apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {token: placeholder, other: VALUE}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: NAMESPACE, labels: {a: VALUE}}
webhooks: [{name: a.example.org, failurePolicy: Ignore, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {url: "https://a.example.org", caBundle: Cg==}}]
`, "VALUE", value)}
	}
	set := func(value string) {
		files := manifests(value)
		files["a.yaml"] = strings.ReplaceAll(files["a.yaml"], "NAMESPACE", l.namespace)
		l.setFiles(value, files)
		l.apply()
	}
	set("first")
	assert.JSONEq(t, `{"other":"first"}`, l.kubectl("get", "configmap", "a", "-o", "jsonpath={.data}"))
	l.kubectl("patch", "configmap", "a", "--type=merge", "-p", `{"data":{"token":"filled"}}`)
	bundle := base64.StdEncoding.EncodeToString([]byte(l.env.ReadFile(t, l.env.CAFile)))
	l.kubectl("patch", "validatingwebhookconfiguration", l.namespace, "--type=json", "-p", `[{"op":"add","path":"/webhooks/0/clientConfig/caBundle","value":"`+bundle+`"}]`)
	l.inSync()
	set("second")
	l.inSync()
	assert.JSONEq(t, `{"other":"second","token":"filled"}`, l.kubectl("get", "configmap", "a", "-o", "jsonpath={.data}"))
	assert.Equal(t, bundle+" second", l.kubectl("get", "validatingwebhookconfiguration", l.namespace, "-o", "jsonpath={.webhooks[0].clientConfig.caBundle} {.metadata.labels.a}"))
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Graceful})
}
