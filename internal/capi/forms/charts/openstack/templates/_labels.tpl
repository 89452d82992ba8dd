{{/* Whether Cluster API carries a label of a machine over to its node. */}}
{{- define "openstack.carried" -}}
{{- regexMatch "^(node-role[.]kubernetes[.]io|(.+[.])?node-restriction[.]kubernetes[.]io|(.+[.])?node[.]cluster[.]x-k8s[.]io)/" . -}}
{{- end }}

{{/* Whether kubelet may give its node a label. */}}
{{- define "openstack.own" -}}
{{- if or (not (regexMatch "^(.+[.])?(kubernetes[.]io|k8s[.]io)/" .)) (regexMatch "^(.+[.])?(kubelet|node)[.]kubernetes[.]io/" .) -}}true
{{- else -}}
{{- has . (list "kubernetes.io/hostname" "kubernetes.io/os" "kubernetes.io/arch" "beta.kubernetes.io/os" "beta.kubernetes.io/arch" "beta.kubernetes.io/instance-type" "topology.kubernetes.io/zone" "topology.kubernetes.io/region" "failure-domain.beta.kubernetes.io/zone" "failure-domain.beta.kubernetes.io/region") -}}
{{- end -}}
{{- end }}

{{/* The argument node-labels of kubelet: the labels that Cluster API does not carry over. */}}
{{- define "openstack.node-labels" -}}
{{- $labels := list }}
{{- range $key, $value := . }}
{{- if ne (include "openstack.carried" $key) "true" }}
{{- if ne (include "openstack.own" $key) "true" }}
{{- fail (printf "no node gets the label %s of nodeLabels: kubelet may not set it, and Cluster API carries over only those of node-role.kubernetes.io, node-restriction.kubernetes.io and node.cluster.x-k8s.io; use one of these, or a prefix outside of kubernetes.io and k8s.io" $key) }}
{{- end }}
{{- $labels = append $labels (printf "%s=%s" $key (include "openstack.text" $value)) }}
{{- end }}
{{- end }}
{{- join "," $labels -}}
{{- end }}

{{/* The labels of nodes of a group, the chart's own first. */}}
{{- define "openstack.labels-of-nodes" -}}
{{- $root := index . 0 }}{{- $group := index . 1 }}{{- $given := index . 2 }}
{{- $out := dict (printf "%s/node-group" $root.Values.projectPrefix) $group }}
{{- range $key, $value := $given }}{{ $_ := set $out $key $value }}{{ end }}
{{- toJson $out -}}
{{- end }}
