package kubernetes

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// dryRunConflicts runs a dry run of the whole instance. For a new instance, the existing objects are one error that contains these
// texts, even with credentials that may only read. With adopt_existing, the error is only about the object of the other instance, unless
// that instance yields. For an update the problem is a warning.
func (l *lab) dryRunConflicts(texts []string) {
	l.t.Helper()
	keys := slices.Sorted(maps.Keys(l.preview().Objects))
	try := func(change func(t *vnfm.Target)) vnfm.Problems {
		target, instance := *l.target, *l.target.Instance
		instance.ID, target.Instance = "", &instance
		change(&target)
		found, err := l.driver.DryRun(l.ctx, &target, keys)
		if !vnfm.LacksRightsOnly(err) {
			require.NoError(l.t, err)
		}
		return slices.DeleteFunc(found, func(p vnfm.Problem) bool {
			return p.Summary != `objects of the planned instance exist already on VIM "lab"`
		})
	}
	found := try(func(*vnfm.Target) {})
	require.Len(l.t, found, 1)
	require.Equal(l.t, vnfm.SeverityError, found[0].Severity)
	require.Equal(l.t, "adopt_existing", found[0].Attribute)
	for _, text := range texts {
		require.Contains(l.t, found[0].Detail, text)
	}
	reader := l.env.VIMToken(l.t, l.namespace, "kubernetes-plan.yaml", "vnf-planner")
	seen := try(func(t *vnfm.Target) {
		t.Credentials = vnfm.Credentials{vnfm.CredentialBearerToken: vnfm.Secret(reader)}
	})
	require.Len(l.t, seen, 1)
	require.Contains(l.t, seen[0].Detail, texts[0])

	adopting := try(func(t *vnfm.Target) { t.AdoptExisting = true })
	require.Len(l.t, adopting, 1)
	require.Empty(l.t, adopting[0].Attribute)
	require.Contains(l.t, adopting[0].Detail, "i-other")
	require.NotContains(l.t, adopting[0].Detail, "amf-config")
	require.Empty(l.t, try(func(t *vnfm.Target) {
		t.AdoptExisting = true
		t.Yields = func(_ context.Context, id string) bool { return id == "i-other" }
	}))
	updating := try(func(t *vnfm.Target) { t.Instance.ID = l.target.Instance.ID })
	require.Len(l.t, updating, 1)
	require.Equal(l.t, vnfm.SeverityWarning, updating[0].Severity)
	l.meter.take()
}

// TestLabRename renames an instance. No object shows the old name, including its Secret and the remaining object of a hook. No pod is
// replaced.
func TestLabRename(t *testing.T) {
	t.Parallel()
	l := newChartLab(t, map[string]string{
		"templates/secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: { name: a }\nstringData: { a: b }\n",
		"templates/hook.yaml":   "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: hook, annotations: { helm.sh/hook: pre-install } }\n",
		"templates/web.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  selector: { matchLabels: { a: b } }
  template: { metadata: { labels: { a: b } }, spec: { containers: [ { name: web, image: "example.org/web:1" } ] } }
`,
	}, nil)
	l.target.Instance.AdditionalParams = vnfm.MergeDeep(l.target.Instance.AdditionalParams, map[string]any{"helm_release_name": "ims"})
	l.target.Arguments = func(context.Context) ([]byte, error) { return []byte("{}"), nil }
	l.apply()
	pods := l.kubectl("get", "pods", "-o", "jsonpath={.items[*].metadata.uid}")
	names := func() []string {
		out := l.kubectl("get", "deployments,secrets,configmaps", "-o", `jsonpath={range .items[*]}{.metadata.annotations.vnf\.nfv-iac\.github\.io/instance}{"\n"}{end}`)
		return strings.Fields(out)
	}
	before := names()
	require.Len(t, before, 4, "the Deployment, two Secrets, and the ConfigMap of the hook")
	l.target.Instance.Name = "renamed"
	l.apply()
	require.Equal(t, []string{"renamed", "renamed", "renamed", "renamed"}, names())
	require.Equal(t, pods, l.kubectl("get", "pods", "-o", "jsonpath={.items[*].metadata.uid}"))
	l.inSync()
	l.meter.take()
	l.apply()
	require.Empty(t, writes(l.meter.take()))
}

// TestLabObjectsElsewhere: the namespace of an instance contains its Secret even if all manifests name another namespace.
func TestLabObjectsElsewhere(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, nil)
	l.setFiles("1", map[string]string{"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a, namespace: " + l.namespace + " }\n"})
	own := l.namespace + "-own"
	l.target.Instance.Namespace = own
	l.target.Arguments = func(context.Context) ([]byte, error) { return []byte("{}"), nil }
	l.apply()
	l.inSync()
	require.Contains(t, l.kubectl("get", "secrets", "-n", own, "-o", "name"), "secret/vnf-")
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Forceful})
	require.Empty(t, l.kubectl("get", "namespace", own, "--ignore-not-found", "-o", "name"))
}

// TestLabMissingNamespaces tries objects in missing namespaces. A namespace that the apply creates is not a finding.
func TestLabMissingNamespaces(t *testing.T) {
	t.Parallel()
	config := func(name, namespace string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: " + name + ", namespace: " + namespace + " }\n---\n"
	}
	l := newLab(t, map[string]string{
		"a.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: { name: of-the-package }\n---\n" + config("a", "of-the-package") + config("b", "no-such-a") + config("c", "no-such-b") + config("d", "no-such-b"),
	}, nil)
	l.target.Instance.Namespace = "of-the-instance"
	problems, err := l.driver.DryRun(l.ctx, l.target, slices.Collect(maps.Keys(l.preview().Objects)))
	require.NoError(t, err)
	require.Len(t, problems, 1)
	require.Equal(t, vnfm.SeverityWarning, problems[0].Severity)
	require.Equal(t, `namespaces of objects do not exist on VIM "lab"`, problems[0].Summary)
	require.True(t, strings.HasPrefix(problems[0].Detail, "namespace no-such-a: 1 objects\nnamespace no-such-b: 2 objects\n"), problems[0].Detail)
}

// TestLabRejectedWithoutRecord: a rejection is a warning if objects of the new instance exist, because its plan may precede a destroy.
func TestLabRejectedWithoutRecord(t *testing.T) {
	t.Parallel()
	config := "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n"
	l := newLab(t, map[string]string{"a.yaml": config}, nil)
	l.apply()
	l.setFiles("2", map[string]string{"a.yaml": config + "---\napiVersion: v1\nkind: Service\nmetadata: { name: s }\nspec: { ports: [{ port: 0 }] }\n"})
	lost := *l.target.Instance
	lost.ID, lost.Inventory = "", nil
	l.target.Instance = &lost
	for name, want := range map[string]vnfm.Severity{lost.Name: vnfm.SeverityWarning, "another": vnfm.SeverityError} {
		lost.Name = name
		problems, err := l.driver.DryRun(l.ctx, l.target, slices.Collect(maps.Keys(l.preview().Objects)))
		require.NoError(t, err)
		found := slices.IndexFunc(problems, func(p vnfm.Problem) bool { return p.Summary == "v1/Service s would be rejected by the API server" })
		require.GreaterOrEqual(t, found, 0, "%v", problems)
		require.Equal(t, want, problems[found].Severity, "%v", problems)
		require.Equal(t, want == vnfm.SeverityError, problems.HasErrors())
	}
}
