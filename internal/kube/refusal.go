package kube

import (
	"errors"
	"net/http"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
)

// Refusal says what the failure of an apply means for another one.
type Refusal int

const (
	// Unanswered means that nobody said anything of the object.
	Unanswered Refusal = iota
	// NotAllowed means that the credentials may not apply the object.
	NotAllowed
	// RefusedForNow means that the object can be applied under other circumstances:
	// with quota left, with the consent of a webhook or of another field manager.
	RefusedForNow
	// RefusedAsWritten means that the object cannot be applied as it is.
	RefusedAsWritten
)

var (
	// lacksRight is how RBAC words what it refuses; quotas and policies refuse with
	// the same status.
	lacksRight = lazyregexp.New(`(?s)(User|ServiceAccount) ".*" cannot \w+ resource`)
	// elsewhere are parts of the messages by which an object is called invalid for
	// what another one is or has.
	elsewhere = lazyregexp.New(`admission webhook "|is already allocated`)
	// offTopology is how Cluster API denies what the ClusterClass of a topology does not have. The
	// class exists: without one the cluster is admitted with a warning.
	offTopology = lazyregexp.New(`(?s)admission webhook "[^"]*\bcluster\.x-k8s\.io" denied the request: .*\bspec\.topology\.(variables|workers|controlPlane)\b`)
	// untyped is how a field is refused that the kind does not have: the server
	// takes it for an error of its own.
	untyped = "failed to create typed patch object"
)

// IsNamespaceMissing reports whether an object was refused because its namespace
// does not exist.
func IsNamespaceMissing(err error) bool {
	var server *serverError
	return errors.As(err, &server) && server.code == http.StatusNotFound &&
		server.ErrStatus.Details != nil && server.ErrStatus.Details.Kind == "namespaces"
}

// RefusalOf says what an error of Apply means, and what the server said.
func RefusalOf(err error) (r Refusal, message string) {
	var conflict *ConflictError
	if errors.As(err, &conflict) {
		return RefusedForNow, conflict.Error()
	}
	var server *serverError
	if !errors.As(err, &server) {
		return Unanswered, err.Error()
	}
	message = server.Error()
	switch code := server.code; {
	case server.denied && offTopology.MatchString(message):
		return RefusedAsWritten, message
	case server.webhook != nil, server.denied, code == http.StatusConflict, code == http.StatusNotFound:
		return RefusedForNow, message
	case code == http.StatusForbidden && lacksRight.MatchString(message):
		return NotAllowed, message
	case code == http.StatusForbidden:
		return RefusedForNow, message
	case code == http.StatusBadRequest, code == http.StatusUnprocessableEntity:
		if elsewhere.MatchString(message) {
			return RefusedForNow, message
		}
		return RefusedAsWritten, message
	case strings.Contains(message, untyped):
		return RefusedAsWritten, message
	default:
		return Unanswered, err.Error()
	}
}
