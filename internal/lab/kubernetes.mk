# What make files of the lab have alike that link programs of Kubernetes.

# The version of Kubernetes in the go.mod of folder $(1).
kubernetes_version = $(shell cd $(1) && $(GO) list -m -f '{{ .Version }}' k8s.io/kubernetes)

# Programs report version $(1); without these flags clients see "v0.0.0-master+$Format:%H$".
kubernetes_flags = -s -w \
	-X k8s.io/component-base/version.gitVersion=$(1) \
	-X k8s.io/component-base/version.gitMajor=1 \
	-X k8s.io/component-base/version.gitMinor=$(word 2,$(subst ., ,$(1))) \
	-X k8s.io/component-base/version.gitCommit=lab \
	-X k8s.io/component-base/version.gitTreeState=clean \
	-X k8s.io/component-base/version.buildDate=2026-01-01T00:00:00Z \
	-X k8s.io/client-go/pkg/version.gitVersion=$(1) \
	-X k8s.io/client-go/pkg/version.gitCommit=lab
