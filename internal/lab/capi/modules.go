//go:build modules

// Package capi is empty: it keeps in go.mod the modules of which only manifests are used.
package capi

import (
	_ "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	_ "sigs.k8s.io/cluster-api-provider-openstack/api/v1beta1"
)
