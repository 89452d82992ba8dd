package kube

import (
	"errors"
	"net/http"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
)

// Refusal is the meaning of a failed apply for another apply.
type Refusal int

const (
	// Unanswered means that no answer judged the object.
	Unanswered Refusal = iota
	// NotAllowed means that the credentials may not apply the object.
	NotAllowed
	// RefusedForNow means that the object can be applied under other circumstances: with quota
	// left, or with the consent of a webhook or of another field manager.
	RefusedForNow
	// RefusedAsWritten means that the object cannot be applied as it is.
	RefusedAsWritten
)

var (
	// lacksRight matches RBAC's refusals; quotas and policies refuse with the same status.
	lacksRight = lazyregexp.New(`(?s)(User|ServiceAccount) ".*" cannot \w+ resource`)
	// elsewhere matches messages that call an object invalid because of other objects.
	elsewhere = lazyregexp.New(`admission webhook "|is already allocated`)
	// offTopology matches Cluster API's denial of parts of a topology that its ClusterClass does
	// not define. The class exists: without one the cluster is admitted with a warning.
	offTopology = lazyregexp.New(`(?s)admission webhook "[^"]*\bcluster\.x-k8s\.io" denied the request: .*\bspec\.topology\.(variables|workers|controlPlane)\b`)
	// untyped is part of the refusal of a field that the kind does not have: the server reports it
	// as an internal error.
	untyped = "failed to create typed patch object"
)

// IsNamespaceMissing reports whether an object was rejected because its namespace does not exist.
func IsNamespaceMissing(err error) bool {
	var server *serverError
	return errors.As(err, &server) && server.code == http.StatusNotFound &&
		server.ErrStatus.Details != nil && server.ErrStatus.Details.Kind == "namespaces"
}

// RefusalOf classifies an error of Apply and returns the server's message.
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
