package kube

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func TestCheckWaysOfAuthentication(t *testing.T) {
	t.Parallel()
	env := labtest.Kubernetes(t)
	ca := env.ReadFile(t, env.CAFile)
	for name, cfg := range map[string]Config{
		"token": labConfig(t, env),
		"password": {
			Connection:  vnfm.KubernetesConnection{Endpoint: env.Basic.Endpoint, CACertificate: env.ReadFile(t, env.Basic.CAFile), Username: env.Basic.Username},
			Credentials: vnfm.Credentials{vnfm.CredentialPassword: vnfm.Secret(env.Basic.Password)},
		},
		"certificate": {
			Connection:  vnfm.KubernetesConnection{Endpoint: env.Endpoint, CACertificate: ca, ClientCertificate: env.ReadFile(t, env.ClientCertificateFile)},
			Credentials: vnfm.Credentials{vnfm.CredentialClientKey: vnfm.Secret(env.ReadFile(t, env.ClientKeyFile))},
		},
		"kubeconfig": {Credentials: vnfm.Credentials{vnfm.CredentialKubeconfig: vnfm.Secret(env.Kubectl(t, "config", "view", "--raw", "--flatten"))}},
		"insecure": {
			Connection:  vnfm.KubernetesConnection{Endpoint: env.Endpoint, InsecureSkipTLSVerify: true},
			Credentials: vnfm.Credentials{vnfm.CredentialBearerToken: vnfm.Secret(env.AdminToken)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			check, err := newClient(t, cfg).Check(t.Context())
			require.NoError(t, err)
			if check.ServerVersion != env.KubernetesVersion || len(check.Problems) != 0 || !strings.HasPrefix(check.Endpoint, "https://127.0.0.1:") {
				t.Errorf("%+v", check)
			}
			assert.GreaterOrEqual(t, len(check.APIGroups), 10, "API groups")
		})
	}
}

func TestCheckMissingRights(t *testing.T) {
	t.Parallel()
	env := labtest.Kubernetes(t)
	cfg := labConfig(t, env)
	cfg.Connection.DefaultNamespace = env.LimitedNamespace
	cfg.Credentials = vnfm.Credentials{vnfm.CredentialBearerToken: vnfm.Secret(env.LimitedToken)}
	check, err := newClient(t, cfg).Check(t.Context())
	require.NoError(t, err)
	require.Len(t, check.Problems, 1)
	p := check.Problems[0]
	assert.Equal(t, vnfm.SeverityWarning, p.Severity)
	assert.Contains(t, p.Summary, "lack rights in the namespace "+env.LimitedNamespace)
	assert.Equal(t, "They may not get, list, watch, create, patch, delete deployments.apps, statefulsets.apps, services; list replicasets.apps, events; "+
		"patch deployments.apps/scale; get, list, delete pods; get pods/log; get, create, update, delete leases.coordination.k8s.io. "+
		"Apply the Role of `examples/rights/kubernetes.yaml` in this namespace.", p.Detail)
	// Without a default namespace Check reports no missing rights: no instance will run in
	// "default".
	cfg.Connection.DefaultNamespace = ""
	check, err = newClient(t, cfg).Check(t.Context())
	require.NoError(t, err)
	assert.Empty(t, check.Problems)
}

func TestCheckFailures(t *testing.T) {
	t.Parallel()
	env := labtest.Kubernetes(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	closed := "https://" + listener.Addr().String()
	require.NoError(t, listener.Close())
	for _, tc := range []struct {
		name        string
		change      func(*Config)
		unreachable bool
		credentials bool
		want        []string
	}{
		{"wrong token", func(c *Config) {
			c.Credentials = vnfm.Credentials{vnfm.CredentialBearerToken: "planted-secret-token"}
		}, false, true, []string{"refused the credentials", "vnf_vim", env.Endpoint}},
		{"wrong password", func(c *Config) {
			c.Connection.Endpoint, c.Connection.Username = env.Basic.Endpoint, env.Basic.Username
			c.Credentials = vnfm.Credentials{vnfm.CredentialPassword: "planted-secret-password"}
		}, false, true, []string{"refused the credentials"}},
		{"system roots", func(c *Config) { c.Connection.CACertificate = "" }, true, false, []string{"ca_certificate", "unknown authority"}},
		{"wrong name", func(c *Config) { c.Connection.TLSServerName = "other.example.org" }, true, false, []string{"tls_server_name"}},
		{"nobody listens", func(c *Config) { c.Connection.Endpoint = closed }, true, false, []string{"refused", closed}},
		{"no TLS", func(c *Config) { c.Connection.Endpoint = strings.Replace(env.Endpoint, "https", "http", 1) }, false, false, []string{"HTTPS"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg := labConfig(t, env)
			tc.change(&cfg)
			start := time.Now()
			_, err := newClient(t, cfg).Check(t.Context())
			require.Error(t, err)
			t.Log(err)
			var unreachable *vnfm.UnreachableError
			var refused *CredentialsError
			require.Equal(t, tc.unreachable, errors.As(err, &unreachable))
			assert.Equal(t, tc.credentials, errors.As(err, &refused), "wrong type: %v", err)
			mustSay(t, err, tc.want...)
			assert.NotContains(t, err.Error(), "planted-secret", "the error tells the secret")
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
}

func TestLease(t *testing.T) {
	t.Parallel()
	env, c, ns := labNamespace(t)
	ctx := t.Context()
	labels := map[string]string{"vnf": "x"}
	holder := process.Name()
	release, lost, err := c.AcquireLease(ctx, ns, "instance", holder, labels)
	require.NoError(t, err)
	for _, other := range []string{"pid=1 host=elsewhere", holder} {
		_, _, err = c.AcquireLease(ctx, ns, "instance", other, labels)
		var busy *vnfm.BusyError
		if !errors.As(err, &busy) || busy.Holder != process.Describe(holder) || time.Since(busy.Since).Abs() > 10*time.Second {
			t.Fatalf("got %v, want a *vnfm.BusyError", err)
		}
		if left := time.Until(busy.Expires); busy.Renewed.IsZero() || left < leaseDuration-20*time.Second || left > leaseDuration+5*time.Second {
			t.Errorf("renewed at %s, expires in %s", busy.Renewed, left)
		}
	}
	require.NoError(t, release(ctx))
	require.NoError(t, release(ctx), "releasing twice")
	select {
	case <-lost:
		t.Error("the lease that was given back is lost")
	default:
	}
	assert.Empty(t, env.Kubectl(t, "get", "leases", "-n", ns, "-o", "name"), "left")

	// A holder on another machine keeps a lease until it expires. This one stopped renewing an hour
	// ago.
	ref := Ref{Resource: leaseResource, Namespace: ns, Name: "old"}
	stale := func(holder, renewed string) {
		applied(t, c, ref, manifest(ref, map[string]any{"spec": map[string]any{"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": renewed}}))
	}
	stale("pid=7 host=elsewhere", time.Now().Add(-time.Hour).UTC().Format("2006-01-02T15:04:05.000000Z"))
	release, lost, err = c.AcquireLease(ctx, ns, "old", holder, nil)
	require.NoError(t, err, "an expired lease")
	// Another process takes the lease: the next renewal notices.
	env.Kubectl(t, "patch", "lease", "old", "-n", ns, "--type=merge", `-p={"spec":{"holderIdentity":"pid=8 host=elsewhere"}}`)
	select {
	case <-lost:
	case <-time.After(leaseDuration):
		t.Error("the loss of the lease was not noticed")
	}
	require.NoError(t, release(ctx))
	if out := env.Kubectl(t, "get", "lease", "old", "-n", ns, "-o", "jsonpath={.spec.holderIdentity}"); out != "pid=8 host=elsewhere" {
		t.Errorf("the lease of somebody else is now %q", out)
	}

	// This process loses a lease that it no longer holds: a busy server did not delete it.
	env.Kubectl(t, "patch", "lease", "old", "-n", ns, "--type=merge", `-p={"spec":{"holderIdentity":"`+holder+leaseMark+`0123456789abcdef","renewTime":"`+time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")+`"}}`)
	release, _, err = c.AcquireLease(ctx, ns, "old", holder, nil)
	require.NoError(t, err, "the lease that this process has given back")
	require.NoError(t, release(ctx))
	stale("pid=7 host=elsewhere", time.Now().Add(-time.Hour).UTC().Format("2006-01-02T15:04:05.000000Z"))

	// A process of this machine that is known to be dead loses the lease at once.
	if dead := deadHolder(holder); dead != "" {
		env.Kubectl(t, "patch", "lease", "old", "-n", ns, "--type=merge", `-p={"spec":{"holderIdentity":"`+dead+`","renewTime":"`+time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")+`"}}`)
		release, _, err = c.AcquireLease(ctx, ns, "old", holder, nil)
		require.NoError(t, err, "the lease of a dead process")
		require.NoError(t, release(ctx))
	}
}

// TestLeaseInterrupted cancels an acquisition during its request: the Lease that the server creates
// all the same must not block the next acquisition.
func TestLeaseInterrupted(t *testing.T) {
	t.Parallel()
	env, c, ns := labNamespace(t)
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		ctx, cancel := context.WithCancel(t.Context())
		plain := c.http
		c.http = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			// The server gets the request even if its caller has ended.
			res, err := plain.Transport.RoundTrip(r.WithContext(context.WithoutCancel(r.Context())))
			if r.Method == method {
				cancel()
			}
			if err == nil && r.Context().Err() != nil {
				_ = res.Body.Close()
				return nil, r.Context().Err()
			}
			return res, err
		})}
		// The clocks are compared only at the first answer of the server, so each round starts
		// before that.
		c.answered.Store(false)
		release, _, err := c.AcquireLease(ctx, ns, "instance", process.Name(), nil)
		if err == nil {
			err = release(context.WithoutCancel(ctx))
		} else if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want the end of the context", method, err)
		}
		if err != nil && method == http.MethodDelete {
			t.Errorf("%s: %v", method, err)
		}
		c.http = plain
		cancel()
		assert.Empty(t, env.Kubectl(t, "get", "leases", "-n", ns, "-o", "name"), "%s: left", method)
	}
}

// TestLeaseOfAClockThatIsSet sets the clock of the holder. The next renewal writes a wrong time.
// Another one corrects it early, since others would take the lease for an expired one.
func TestLeaseOfAClockThatIsSet(t *testing.T) {
	t.Parallel()
	_, c, ns := labNamespace(t)
	type renewal struct{ at, wrote time.Time }
	renewals := make(chan renewal, 100)
	plain := c.http
	c.http = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodPut {
			return plain.Transport.RoundTrip(r)
		}
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		var lease coordinationv1.Lease
		if err := json.NewDecoder(body).Decode(&lease); err != nil {
			return nil, err
		}
		res, err := plain.Transport.RoundTrip(r)
		renewals <- renewal{time.Now(), lease.Spec.RenewTime.Time}
		return res, err
	})}
	release, lost, err := c.AcquireLease(t.Context(), ns, "instance", process.Name(), nil)
	require.NoError(t, err)
	c.clockOffset.Store(int64(-time.Hour))
	wrong, right := <-renewals, <-renewals
	if off := time.Since(wrong.wrote); off < 30*time.Minute {
		t.Fatalf("the clock was not set: the renewal wrote a time of %s ago", off)
	}
	if off := time.Since(right.wrote); off > 30*time.Minute {
		t.Errorf("the renewal after that wrote a time of %s ago", off)
	}
	assert.Less(t, right.at.Sub(wrong.at), renewEvery, "a wrong time stood for")
	select {
	case <-lost:
		t.Error("the lease was lost")
	default:
	}
	require.NoError(t, release(t.Context()))
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// deadHolder returns this process with another start time, so that it counts as dead.
func deadHolder(holder string) string {
	i := strings.LastIndex(holder, "start=")
	if i < 0 {
		return ""
	}
	return holder[:i] + "start=1"
}

func TestLeaseWithoutRights(t *testing.T) {
	t.Parallel()
	env := labtest.Kubernetes(t)
	cfg := labConfig(t, env)
	cfg.Credentials = vnfm.Credentials{vnfm.CredentialBearerToken: vnfm.Secret(env.LimitedToken)}
	_, _, err := newClient(t, cfg).AcquireLease(t.Context(), env.LimitedNamespace, "instance", process.Name(), nil)
	assert.True(t, apierrors.IsForbidden(err), "got %v", err)
}

func TestPodsOf(t *testing.T) {
	t.Parallel()
	_, c, ns := labNamespace(t)
	amf := reference(t, c, "apps/v1", "Deployment", ns, "amf")
	// The name of the second Deployment begins like a pod of the first.
	other := reference(t, c, "apps/v1", "Deployment", ns, "amf-0123456789-abcde")
	applied(t, c, amf, deployment(amf, 2, nil))
	applied(t, c, other, deployment(other, 1, nil))
	require.NoError(t, c.WaitReady(within(t, 60*time.Second), []Ref{amf, other}, WaitOptions{}))
	obj, err := c.Get(t.Context(), amf)
	require.NoError(t, err)
	pods, err := c.PodsOf(t.Context(), ns, map[types.UID]string{obj.GetUID(): "VDU_amf"})
	require.NoError(t, err)
	require.Len(t, pods, 1)
	assert.Len(t, pods["VDU_amf"], 2)
}

func TestNothingOutsideIsRead(t *testing.T) {
	env := labtest.Kubernetes(t)
	t.Setenv("KUBECONFIG", env.Kubeconfig)
	t.Setenv("HOME", t.TempDir())
	_, err := New(Config{Connection: vnfm.KubernetesConnection{Endpoint: env.Endpoint}})
	var invalid *vnfm.InvalidError
	require.ErrorAs(t, err, &invalid)
}
