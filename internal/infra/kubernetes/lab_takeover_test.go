package kubernetes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// asHelm applies an object like the helm command with force.
func (l *lab) asHelm(text string) {
	l.t.Helper()
	file := filepath.Join(l.t.TempDir(), "object.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
	l.kubectl("apply", "--server-side", "--force-conflicts", "--field-manager", helmFieldManager, "-f", file)
}

// TestLabHelmLetsGo takes back fields that the helm command has applied. Fields that only the command has set are removed, except
// replicas that an autoscaler sets: their number stays, without another one in between.
func TestLabHelmLetsGo(t *testing.T) {
	t.Parallel()
	const amf = `apiVersion: apps/v1
kind: Deployment
metadata: { name: amf }
spec:
  replicas: 1
  selector: { matchLabels: { a: b } }
  template:
    metadata: { labels: { a: b } }
    spec: { containers: [ { name: amf, image: "example.org/amf:1"ENV } ] }
`
	autoscaler := `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: amf }
spec: { scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: amf }, minReplicas: 1, maxReplicas: 9 }
`
	l := newChartLab(t, map[string]string{
		"templates/amf.yaml": strings.ReplaceAll(amf, "ENV", ""), "templates/hpa.yaml": autoscaler,
	}, map[string]int{"amf": 1})
	l.apply()
	counts := l.watchReplicas("amf")
	l.asHelm(strings.NewReplacer("ENV", ", env: [ { name: DEBUG, value: all } ]", "replicas: 1", "replicas: 4").Replace(amf))
	l.apply()
	l.inSync()
	l.expectHistory("1 deployed")
	got := strings.TrimSpace(l.kubectl("get", "deployment", "amf", "--show-managed-fields", "-o", "jsonpath={.spec.replicas} {.spec.template.spec.containers[0].env} {.metadata.managedFields[*].manager}"))
	if !strings.HasPrefix(got, "4  terraform-provider-vnf") || strings.Contains(got, helmFieldManager+" ") || strings.HasSuffix(got, helmFieldManager) {
		t.Errorf("replicas, environment and managers: %s", got)
	}
	l.kubectl("annotate", "deployment", "amf", "example.com/mark=end")
	if seen := counts(); !seen[4] || len(seen) > 2 || !seen[1] && len(seen) > 1 {
		t.Errorf("replicas that were seen: %v", seen)
	}

	// The helm command applies fields that the next revision drops.
	const label = "metadata: { name: amf, labels: { tier: core } }"
	labelled := strings.NewReplacer("metadata: { name: amf }", label, "ENV", "").Replace(amf)
	l.setChart("2", map[string]string{"templates/amf.yaml": labelled, "templates/hpa.yaml": autoscaler})
	l.apply()
	l.asHelm(labelled)
	l.setChart("3", map[string]string{"templates/amf.yaml": strings.ReplaceAll(amf, "ENV", ""), "templates/hpa.yaml": autoscaler})
	l.apply()
	l.inSync()
	if tier := l.kubectl("get", "deployment", "amf", "-o", "jsonpath={.metadata.labels.tier}"); tier != "" {
		t.Errorf("the label that the chart dropped is %s", tier)
	}
}

// TestLabUnrecordedOfHelm removes objects of the release that the helm command has created. It keeps objects that only have the
// annotations of the release.
func TestLabUnrecordedOfHelm(t *testing.T) {
	t.Parallel()
	l := newChartLab(t, map[string]string{"templates/a.yaml": someConfig}, nil)
	l.apply()
	name := helm.ReleaseName(l.target.Instance.Name)
	object := func(object, release, more string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: " + object + ", annotations: { meta.helm.sh/release-name: " + release + ", meta.helm.sh/release-namespace: " + l.namespace + more + " } }\n"
	}
	// The helm command creates the next revision, and its record keeps the labels.
	later := targettest.Chart(map[string]string{
		"templates/a.yaml": someConfig,
		"templates/b.yaml": object("stray", name, "") + "---\n" + object("kept", name, ", helm.sh/resource-policy: keep") + "---\n" + object("foreign", "other", "") + "---\n" + object("never-made", name, ""),
	}, nil)
	l.recordRevision(later, 2)
	for _, text := range []string{object("stray", name, ""), object("kept", name, ", helm.sh/resource-policy: keep"), object("foreign", "other", ""), object("unlisted", name, "")} {
		l.asHelm(text)
	}
	l.apply()
	l.inSync()
	l.expectHistory("1 superseded", "2 superseded", "3 deployed")
	got := strings.Fields(l.kubectl("get", "configmaps", "-o", "name"))
	assert.Equal(t, "configmap/a configmap/foreign configmap/kept configmap/kube-root-ca.crt configmap/unlisted", strings.Join(got, " "), "there are: %v", got)
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Graceful})
}

// TestLabSpoiltRecord damages the record of the release. It is drift, the next apply writes another record, and a termination succeeds.
func TestLabSpoiltRecord(t *testing.T) {
	t.Parallel()
	l := newChartLab(t, map[string]string{"templates/a.yaml": someConfig}, nil)
	l.apply()
	name := helm.ReleaseName(l.target.Instance.Name)
	spoil := func(revision int) {
		l.kubectl("patch", "secret", helm.SecretName(name, revision), "-p", `{"stringData":{"release":"x"}}`)
	}
	spoil(1)
	l.expectDrift(map[string]string{"helm.sh/v1/Release " + name: "drifted: revision 1 cannot be read"})
	l.apply()
	l.inSync()
	l.expectHistory("2 deployed")
	spoil(2)
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Graceful})
	left := l.kubectl("get", "secrets,configmaps", "-o", "name")
	assert.Equal(t, "configmap/kube-root-ca.crt", strings.TrimSpace(left), "left: %s", left)
}
