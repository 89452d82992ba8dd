package kubernetes

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func answer(code int32, reason metav1.StatusReason, message string, details *metav1.StatusDetails) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Code: code, Reason: reason, Message: message, Details: details}}
}

func TestExplain(t *testing.T) {
	s := offline(t)
	ended, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("the user has stopped it")
	cancel(stop)
	for name, test := range map[string]struct {
		ctx  context.Context
		err  error
		says []string
		not  string
	}{
		"credentials": {err: &kube.CredentialsError{Peer: vnfm.Peer{Name: "the cluster of the store", Settings: "store.kubernetes"}, Endpoint: "e", Err: answer(401, metav1.StatusReasonUnauthorized, "Unauthorized", nil)}, says: []string{"Unauthorized", "have expired", "rotate them in store.kubernetes"}, not: "vnf_vim"},
		"right": {
			err:  answer(403, metav1.StatusReasonForbidden, `secrets is forbidden: User "system:serviceaccount:a:b" cannot list resource "secrets" in API group "" in the namespace "ns"`, nil),
			says: []string{`system:serviceaccount:a:b needs the verb list on secrets in the namespace "ns"`, "role.yaml"},
		},
		"quota":  {err: answer(403, metav1.StatusReasonForbidden, `secrets "a" is forbidden: exceeded quota: few, requested: count/secrets=1`, nil), says: []string{"exceeded quota", "raise the ResourceQuota"}},
		"policy": {err: answer(403, metav1.StatusReasonForbidden, `admission policy says no`, nil), says: []string{"admission policy says no", "vnf-"}},
		"namespace ends": {
			err:  answer(403, metav1.StatusReasonForbidden, "because it is being terminated", &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}}),
			says: []string{"is being deleted", `create the namespace "ns" again`},
		},
		"no namespace": {err: answer(404, metav1.StatusReasonNotFound, `namespaces "ns" not found`, &metav1.StatusDetails{Kind: "namespaces", Name: "ns"}), says: []string{"kubectl create namespace ns"}},
		"no API":       {err: answer(404, metav1.StatusReasonNotFound, "404 page not found", nil), says: []string{"not that of a Kubernetes API server"}},
		"body":         {err: answer(413, metav1.StatusReasonRequestEntityTooLarge, "request is too large", nil), says: []string{"larger than this cluster keeps"}},
		"secret":       {err: answer(422, metav1.StatusReasonInvalid, "data: Too long: may not be more than 1048576 bytes", nil), says: []string{"larger than this cluster keeps"}},
		"etcd is full": {err: answer(500, metav1.StatusReasonInternalError, "etcdserver: mvcc: database space exceeded", nil), says: []string{"etcd", "administrator"}},
		"busy":         {err: answer(429, metav1.StatusReasonTooManyRequests, "too many requests", nil), says: []string{"overloaded"}},
		"fails":        {err: &kube.UndecidedError{Err: answer(503, metav1.StatusReasonServiceUnavailable, "no", nil)}, says: []string{"overloaded", "nobody knows whether"}},
		"away":         {err: &kube.UndecidedError{Err: &vnfm.UnreachableError{VIM: "store", Err: errors.New("connection refused")}}, says: []string{"connection refused", "check that the API server runs"}, not: "VIM"},
		"newer":        {err: errNewerFormat, says: []string{"use that release"}},
		"foreign":      {err: s.foreign("a"), says: []string{"Secret ns/a is not an object of the store", "set namespace"}},
		"damaged":      {err: s.damaged("a", "x"), says: []string{"Secret ns/a is damaged: x", "restore it from a backup"}},
		"ended":        {ctx: ended, err: context.Canceled, says: []string{stop.Error()}, not: "last error"},
		"ended before": {ctx: ended, err: &vnfm.UnreachableError{VIM: "store", Err: errors.New("connection refused")}, says: []string{stop.Error(), "the last error was: connection refused"}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := test.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			err := s.explain(ctx, "reading x", test.err)
			for _, part := range append(test.says, `store in namespace "ns" of https://192.0.2.1:6443: reading x: `) {
				require.ErrorContains(t, err, part, "does not say")
			}
			if test.not != "" && strings.Contains(err.Error(), test.not) {
				t.Errorf("%v\nsays %q", err, test.not)
			}
		})
	}
	for _, promised := range []error{store.ErrExists, &store.HeldError{}, &vnfm.LeaseLostError{}} {
		if err := s.explain(ended, "reading x", promised); !errors.Is(err, promised) || strings.Contains(err.Error(), "reading") {
			t.Errorf("%v becomes %v", promised, err)
		}
	}
	if _, err := Open(t.Context(), s.client, "Not A Name", ""); err == nil || !strings.Contains(err.Error(), "namespace") {
		t.Errorf("a wrong name of a namespace = %v", err)
	}
}
