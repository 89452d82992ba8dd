{{/* Values are passed between these templates as JSON below the key v: a template gives a text. */}}

{{/* The second of two values over the first: maps are merged, lists appended, null leaves what is there. */}}
{{- define "openstack.merge" -}}
{{- $below := index . 0 }}{{- $above := index . 1 }}{{- $out := $above }}
{{- if kindIs "invalid" $above }}
{{- $out = $below }}
{{- else if and (kindIs "map" $below) (kindIs "map" $above) }}
{{- $out = dict }}
{{- range $key, $value := $below }}{{ $_ := set $out $key $value }}{{ end }}
{{- range $key, $value := $above }}
{{- if hasKey $below $key }}{{ $value = (include "openstack.merge" (list (index $below $key) $value) | fromJson).v }}{{ end }}
{{- $_ := set $out $key $value }}
{{- end }}
{{- else if and (kindIs "slice" $below) (kindIs "slice" $above) }}
{{- $out = concat $below $above }}
{{- end }}
{{- dict "v" $out | toJson -}}
{{- end }}

{{/* A specification of kubeadm whose arguments are maps, as in v1beta1 of Cluster API, whichever they are. */}}
{{- define "openstack.arguments-as-maps" -}}
{{- $out := dict }}
{{- range $key, $value := . }}
{{- if and (has $key (list "extraArgs" "kubeletExtraArgs")) (kindIs "slice" $value) }}
{{- $arguments := dict }}
{{- range $value }}{{ $_ := set $arguments .name .value }}{{ end }}
{{- $value = $arguments }}
{{- else if kindIs "map" $value }}
{{- $value = (include "openstack.arguments-as-maps" $value | fromJson).v }}
{{- end }}
{{- $_ := set $out $key $value }}
{{- end }}
{{- dict "v" $out | toJson -}}
{{- end }}

{{/* The same with arguments as lists, as v1beta2 has them, and without null. */}}
{{- define "openstack.arguments-as-lists" -}}
{{- $out := dict }}
{{- range $key, $value := . }}
{{- if and (has $key (list "extraArgs" "kubeletExtraArgs")) (kindIs "map" $value) }}
{{- $arguments := list }}
{{- range $name, $argument := $value }}{{ $arguments = append $arguments (dict "name" $name "value" (include "openstack.text" $argument)) }}{{ end }}
{{- $value = $arguments }}
{{- else if kindIs "map" $value }}
{{- $value = (include "openstack.arguments-as-lists" $value | fromJson).v }}
{{- end }}
{{- if not (kindIs "invalid" $value) }}{{ $_ := set $out $key $value }}{{ end }}
{{- end }}
{{- dict "v" $out | toJson -}}
{{- end }}
