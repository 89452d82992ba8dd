package kubernetes

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// slowManifest is a Deployment whose pods are ready after twenty seconds.
const slowManifest = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: slow}
spec:
  selector: {matchLabels: {app: slow}}
  template:
    metadata: {labels: {app: slow}, annotations: {lab.vnf/ready-delay: 20s}}
    spec: {terminationGracePeriodSeconds: 1, containers: [{name: main, image: example.org/slow}]}
`

// TestLabResumeWaits: an apply without a change still waits for the objects that an interrupted one has written.
func TestLabResumeWaits(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]string{"slow.yaml": slowManifest}, map[string]int{"slow": 1})
	interrupted, interrupt := context.WithCancel(l.ctx)
	l.recorder.said = func(line string) {
		if strings.Contains(line, "waiting for") {
			interrupt()
		}
	}
	err := l.driver.Apply(interrupted, l.target, l.recorder)
	var unready *kube.NotReadyError
	require.ErrorAs(t, err, &unready)
	require.ErrorIs(t, err, context.Canceled)
	l.recorder.said, l.recorder.lines = nil, nil
	l.meter.take()
	l.apply()
	assert.Empty(t, writes(l.meter.take()), "the resumed apply wrote")
	assert.Equal(t, "1", l.kubectl("get", "deployment", "slow", "-o", "jsonpath={.status.readyReplicas}"), "the apply ended with")
	assert.Contains(t, strings.Join(l.recorder.lines, "\n"), "waiting for", "progress: %v", l.recorder.lines)
}

func TestLabStopAndStart(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]string{"core.yaml": coreManifests + hpaManifest}, map[string]int{"amf": 2})
	l.apply()
	l.eventually("the autoscaler sets 5 replicas", func() bool { return l.replicas("amf") == 5 })
	// A real autoscaler leaves a target with no replicas alone; the lab's does not.
	l.kubectl("annotate", "hpa", "amf", "lab.vnf/desired-replicas-")

	l.target.Counts["amf"], l.target.Instance.OperationalState = 0, vnfm.Stopped
	require.NoError(t, l.driver.Scale(l.ctx, l.target, l.recorder))
	zero := 0
	assert.Equal(t, map[string]vnfm.VDUState{"amf": {Kind: "Deployment", Name: "amf", Autoscaled: true, Replicas: &zero}}, l.observe().VDUs, "stopped VDU")
	if has, err := l.driver.Resources(l.ctx, l.target); err != nil || len(has.VNFCs) > 0 {
		t.Errorf("VNFCs of a stopped instance: %v, %v", has, err)
	}
	l.target.Counts["amf"], l.target.Instance.OperationalState = 2, vnfm.Started
	require.NoError(t, l.driver.Scale(l.ctx, l.target, l.recorder))
	assert.Equal(t, 2, l.replicas("amf"))
}

const jobManifests = `
apiVersion: batch/v1
kind: Job
metadata: {name: migrate}
spec: {ttlSecondsAfterFinished: 0, template: {spec: {restartPolicy: Never, containers: [{name: main, image: example.org/migrate}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: load}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: example.org/load}]}}}
`

func TestLabJobs(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]string{"jobs.yaml": jobManifests}, nil)
	l.apply()
	l.eventually("the finished Job removes itself", func() bool {
		return l.kubectl("get", "job", "migrate", "--ignore-not-found", "-o", "name") == ""
	})
	l.inSync()
	// The pod template of a Job is immutable, so another version replaces the Job.
	l.setFiles("2", map[string]string{"jobs.yaml": strings.ReplaceAll(jobManifests, "example.org/load", "example.org/load:2")})
	l.apply()
	l.inSync()
	if out := l.kubectl("get", "job", "load", "-o", "jsonpath={.spec.template.spec.containers[0].image} {.status.succeeded}"); out != "example.org/load:2 1" {
		t.Errorf("the changed Job: %s", out)
	}
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Graceful})
	assert.Empty(t, l.kubectl("get", "job,pod", "-o", "name"), "left behind")
}

func TestLabLease(t *testing.T) {
	t.Parallel()
	l := newLab(t, coreFiles(), map[string]int{"amf": 1})
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
	l.kubectl("create", "-f", l.file("apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: vnf-"+l.target.Instance.ID+"}\nspec: {holderIdentity: somebody, leaseDurationSeconds: 15, acquireTime: "+now+", renewTime: "+now+"}\n"))
	err := l.driver.Apply(l.ctx, l.target, l.recorder)
	var busy *vnfm.BusyError
	require.ErrorAs(t, err, &busy)
	require.Equal(t, "somebody", busy.Holder, "another machine works on the instance")
	time.AfterFunc(time.Second, func() { l.kubectl("delete", "lease", "vnf-"+l.target.Instance.ID) })
	require.NoError(t, l.driver.Apply(vnfm.WithLockTimeout(l.ctx, time.Minute), l.target, l.recorder), "another machine has ended its work")
	assert.Empty(t, l.kubectl("get", "lease", "-o", "name"), "the Lease is still there")
}

// TestLabFewRights applies with rights to only the ConfigMaps and Secrets of one namespace.
func TestLabFewRights(t *testing.T) {
	t.Parallel()
	const manifests = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\ndata: {a: b}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: NAME}\nstringData: {a: planted-secret-value}\n"
	l := newLab(t, nil, nil)
	l.setFiles("1", map[string]string{"a.yaml": strings.ReplaceAll(manifests, "NAME", l.namespace)})
	l.target.Credentials = vnfm.Credentials{vnfm.CredentialBearerToken: vnfm.Secret(l.env.LimitedToken)}
	l.target.Instance.Namespace = l.env.LimitedNamespace
	l.apply()
	l.inSync()
	assert.Contains(t, strings.Join(l.recorder.lines, "\n"), "no right to create a Lease", "progress: %v", l.recorder.lines)
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Graceful})
	assert.Empty(t, l.observe().Objects, "left behind")
	l.setFiles("2", coreFiles())
	err := l.driver.Apply(l.ctx, l.target, l.recorder)
	require.ErrorContains(t, err, "forbidden", "an apply without the rights")
	require.ErrorContains(t, err, `the credentials of VIM "lab" may not get, list, watch, create, patch, delete `, "all rights are named at once")
	require.ErrorContains(t, err, "deployments.apps, ")
	require.ErrorContains(t, err, " in the namespace "+l.env.LimitedNamespace+"; ")
	require.Equal(t, 1, strings.Count(err.Error(), "forbidden"), "one refusal is quoted")
	assert.Empty(t, l.recorder.instance.Inventory, "inventory after an apply without the rights")
}

// TestLabErrors: errors name the object and its place, and never contain the data of a Secret.
func TestLabErrors(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, nil)
	tests := map[string]struct{ text, want string }{
		"unknown field":  {"apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 80}], selectr: {a: b}}\n", `v1/Service a (a.yaml:1)`},
		"bad Secret":     {"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ntype: kubernetes.io/tls\nstringData: {tls.crt: planted-secret-value}\n", `v1/Secret a (a.yaml:1)`},
		"bad Secret key": {"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {'a b': planted-secret-value}\n", `v1/Secret a (a.yaml:1)`},
		"no namespace":   {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: " + l.namespace + "-none}\n", `v1/ConfigMap ` + l.namespace + `-none/a (a.yaml:1)`},
		"same object":    {"apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: a, namespace: b}\n", `v1/Namespace b/a (a.yaml:5) is the same object as v1/Namespace a`},
		"not an object":  {"apiVersion: v1\nkind: ComponentStatus\nmetadata: {name: a}\n", `does not support delete for kind ComponentStatus`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l.setFiles("1", map[string]string{"a.yaml": tt.text})
			err := l.driver.Apply(l.ctx, l.target, l.recorder)
			require.ErrorContains(t, err, tt.want, "the error does not say")
			t.Log(err)
			require.NotContains(t, err.Error(), "planted-secret")
			assert.NotContains(t, err.Error(), "cGxhbnRlZC1zZWNyZXQ", "the error shows a secret: %v", err)
		})
	}
}

// TestLabAfterWrite: a step after the writes makes an object ready.
func TestLabAfterWrite(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]string{"gate.yaml": `
apiVersion: v1
kind: Service
metadata: {name: gate, annotations: {vnf.nfv-iac.github.io/ready-jsonpath: "{.spec.sessionAffinity}=ClientIP"}}
spec: {selector: {app: gate}, ports: [{port: 80}]}
`}, nil)
	l.target.Insert(vnfm.Step{At: vnfm.AfterWrite, Name: "open", Run: func(context.Context) error {
		l.kubectl("patch", "service", "gate", "--type", "merge", "--patch", `{"spec":{"sessionAffinity":"ClientIP"}}`) //nolint:contextcheck // that of the test will do
		return nil
	}})
	l.apply()
	refused := errors.New("nobody comes in")
	l.target.Insert(vnfm.Step{At: vnfm.AfterWrite, Name: "refuse", Run: func(context.Context) error { return refused }})
	require.ErrorIs(t, l.driver.Apply(l.ctx, l.target, l.recorder), refused, "the error of what is done then")
}

// TestLabFormerObject: an apply that waits for the deletion of a former object reports it, with the finalizers.
func TestLabFormerObject(t *testing.T) {
	t.Parallel()
	const text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nimmutable: true\ndata: {a: b}\n"
	l := newLab(t, map[string]string{"a.yaml": text}, nil)
	l.apply()
	held := func(patch string) {
		l.kubectl("patch", "configmap", "a", "--type=merge", "-p", `{"metadata":{"finalizers":`+patch+`}}`)
	}
	waits := func(doing string) {
		t.Helper()
		l.recorder.lines = nil
		ctx, cancel := context.WithTimeout(l.ctx, 3*time.Second)
		defer cancel()
		err := l.driver.Apply(ctx, l.target, l.recorder)
		require.ErrorContains(t, err, doing+": 1 object still exists after ")
		require.ErrorContains(t, err, "waits for the finalizers example.org/hold")
		require.Regexp(t, "0/1 done, waiting for ConfigMap "+l.namespace+"/a to be gone, which the finalizers example.org/hold(, foregroundDeletion)? hold", strings.Join(l.recorder.lines, "\n"))
	}
	held(`["example.org/hold"]`)
	l.kubectl("delete", "configmap", "a", "--wait=false")
	waits("waiting until objects that are being deleted are gone, to create them again")
	held("null")
	l.apply()
	l.inSync()

	held(`["example.org/hold"]`)
	l.setFiles("2", map[string]string{"a.yaml": strings.Replace(text, "a: b", "a: c", 1)})
	l.target.ReplaceObjects = []string{"v1/ConfigMap a"}
	waits("waiting until the former v1/ConfigMap a is gone, to create it again")
	held("null")
	l.apply()
	l.inSync()
}
