package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// lackingRight is how RBAC words what it refuses.
var lackingRight = lazyregexp.New(`(?s)"([^"]*)" cannot (\w+) resource "(\w+)"`)

// place names the store in errors.
func (s *kubeStore) place() string {
	return fmt.Sprintf("store in namespace %q of %s", s.namespace, s.client.Endpoint())
}

// explain says which store could not do what, what the server said, and what can be done about
// it. The errors that the interface of stores promises are returned as they are.
func (s *kubeStore) explain(ctx context.Context, doing string, err error) error {
	for _, promised := range []error{store.ErrNotFound, store.ErrExists, store.ErrStale, store.ErrCorrupt} {
		if errors.Is(err, promised) {
			return err
		}
	}
	switch {
	case err == nil, errors.As(err, new(*vnfm.LeaseLostError)), errors.As(err, new(*store.HeldError)):
		return err
	case ctx.Err() != nil:
		switch ended := context.Cause(ctx); {
		case errors.Is(err, ended):
		case errors.Is(err, ctx.Err()):
			err = ended
		default:
			err = fmt.Errorf("%w; the last error was: %w", ended, cause(err))
		}
		return fmt.Errorf("%s: %s: %w", s.place(), doing, err)
	}
	explained := &store.Error{Store: s.place(), Advice: s.advice(err), Err: cause(err), Given: &s.given}
	explained.Text = fmt.Sprintf("%s: %s: %v%s", s.place(), doing, explained.Err, explained.Advice)
	if isUndecided(err) {
		explained.Text += "; nobody knows whether it was carried out: the next run finds out"
	}
	if lacksWrite(err) {
		return store.RefusedWrite(explained)
	}
	return explained
}

// lacksWrite reports whether RBAC has refused a write.
func lacksWrite(err error) bool {
	if !apierrors.IsForbidden(err) {
		return false
	}
	right := lackingRight.FindStringSubmatch(err.Error())
	return right != nil && slices.Contains([]string{"create", "update", "patch", "delete"}, right[2])
}

// cause is the error of a request without what package kube says of VIMs.
func cause(err error) error {
	if away, ok := errors.AsType[*vnfm.UnreachableError](err); ok {
		return away.Err
	}
	return err
}

// advice is what to do about an error, with what stands before it.
func (s *kubeStore) advice(err error) string {
	const (
		argument = "the provider argument store = { kubernetes = { ... } }"
		role     = "examples/stores/kubernetes/role.yaml"
	)
	if errors.As(err, new(*kube.CredentialsError)) {
		// It says what to do about what it was given.
		return ""
	}
	otherNamespace := "set namespace in " + argument + " to another one"
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok {
		return s.adviceOn(status, argument, role)
	}
	switch {
	case errors.Is(err, errNewerFormat):
		return "; use that release, or " + otherNamespace
	case errors.Is(err, errForeign):
		return "; " + otherNamespace
	case errors.Is(err, errDamaged):
		return fmt.Sprintf("; restore it from a backup, or move it away (kubectl --namespace %s get and delete) and apply again, which repairs a store that lacks a record", s.namespace)
	case errors.As(err, new(*vnfm.UnreachableError)):
		return "; check that the API server runs and can be reached from here, and the address in " + argument
	default:
		return ""
	}
}

// adviceOn is the advice on what an API server answered.
func (s *kubeStore) adviceOn(status *apierrors.StatusError, argument, role string) string {
	message := status.Error()
	code := int(status.ErrStatus.Code)
	switch {
	case code == http.StatusUnauthorized:
		return "; the credentials are wrong or have expired: give valid ones in " + argument
	case apierrors.HasStatusCause(status, corev1.NamespaceTerminatingCause):
		return fmt.Sprintf("; the namespace is being deleted, and the store with it: create the namespace %q again when it is gone, and apply, which repairs an empty store", s.namespace)
	case code == http.StatusForbidden && strings.Contains(message, "exceeded quota"):
		return fmt.Sprintf("; raise the ResourceQuota of the namespace %q, or give the store a namespace of its own", s.namespace)
	case code == http.StatusForbidden:
		if right := lackingRight.FindStringSubmatch(message); right != nil {
			return fmt.Sprintf("; %s needs the verb %s on %s in the namespace %q, which must exist: bind the Role of %s to it there", right[1], right[2], right[3], s.namespace, role)
		}
		return fmt.Sprintf("; a policy of the cluster refuses it: let it accept Secrets and Leases whose names begin with vnf- in the namespace %q", s.namespace)
	case code == http.StatusNotFound && status.ErrStatus.Details != nil && status.ErrStatus.Details.Kind == "namespaces":
		return fmt.Sprintf("; create the namespace (kubectl create namespace %s), or set another one in %s", s.namespace, argument)
	case code == http.StatusNotFound, code >= 300 && code < 400:
		return "; the address is not that of a Kubernetes API server that serves Secrets and Leases: correct it in " + argument
	case code == http.StatusRequestEntityTooLarge, strings.Contains(message, "Too long"), strings.Contains(message, "request is too large"):
		return "; it is larger than this cluster keeps in one object"
	case strings.Contains(message, "database space exceeded"):
		return "; the database of the cluster (etcd) is full: have its administrator raise the limit or make room"
	case code == http.StatusTooManyRequests, code >= http.StatusInternalServerError:
		return "; the API server is overloaded or fails: try again when it is well"
	default:
		return ""
	}
}
