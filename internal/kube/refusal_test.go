package kube

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRefusalOf(t *testing.T) {
	t.Parallel()
	ref := Ref{Resource: Resource{GVK: gvk("v1", "ConfigMap"), GVR: gvk("v1", "").GroupVersion().WithResource("configmaps"), Namespaced: true}, Namespace: "n", Name: "a"}
	for name, tc := range map[string]struct {
		answer func(http.ResponseWriter)
		want   Refusal
	}{
		"invalid":            {answer(422, "Invalid", `Service "a" is invalid: spec.ports[0].port: Required value`), RefusedAsWritten},
		"bad request":        {answer(400, "BadRequest", `Service in version "v1" cannot be handled as a Service`), RefusedAsWritten},
		"unknown field":      {answer(500, "", `failed to create typed patch object (n/a; v1, Kind=Service): .spec.prots: field not declared in schema`), RefusedAsWritten},
		"port taken":         {answer(422, "Invalid", `Service "a" is invalid: spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated`), RefusedForNow},
		"denied":             {answer(422, "Invalid", `admission webhook "v.example.com" denied the request: no`), RefusedForNow},
		"no such variable":   {answer(422, "Invalid", `admission webhook "validation.cluster.cluster.x-k8s.io" denied the request: Cluster.cluster.x-k8s.io "edge" is invalid: spec.topology.variables[x]: Invalid value: "1": variable is not defined`), RefusedAsWritten},
		"still upgrading":    {answer(422, "Invalid", `admission webhook "validation.cluster.cluster.x-k8s.io" denied the request: Cluster.cluster.x-k8s.io "edge" is invalid: spec.topology.version: Invalid value: "v1.35.0": still upgrading`), RefusedForNow},
		"webhook's effects":  {answer(400, "BadRequest", `admission webhook "v.example.com" does not support dry run`), RefusedForNow},
		"webhook is silent":  {answer(500, "InternalError", `Internal error occurred: failed calling webhook "v.example.com": failed to call webhook: connection refused`), RefusedForNow},
		"quota":              {answer(403, "Forbidden", `pods "a" is forbidden: exceeded quota: none, requested: pods=1, used: pods=0, limited: pods=0`), RefusedForNow},
		"namespace missing":  {answer(404, "NotFound", `namespaces "n" not found`), RefusedForNow},
		"concurrent":         {answer(409, "Conflict", `the object has been modified`), RefusedForNow},
		"rights":             {answer(403, "Forbidden", `configmaps "a" is forbidden: User "system:serviceaccount:n:s" cannot patch resource "configmaps" in API group "" in the namespace "n"`), NotAllowed},
		"credentials":        {answer(401, "Unauthorized", `Unauthorized`), Unanswered},
		"server in trouble":  {answer(500, "InternalError", `boom`), Unanswered},
		"connection is lost": {func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, Unanswered},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := scripted(t, tc.answer)
			_, err := c.Apply(t.Context(), ref, manifest(ref, nil), ApplyOptions{DryRun: true})
			require.Error(t, err, "no error")
			if got, message := RefusalOf(err); got != tc.want || message == "" {
				t.Errorf("got %d (%s), want %d", got, message, tc.want)
			}
		})
	}
}
