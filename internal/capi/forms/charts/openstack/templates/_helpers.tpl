{{/* A name of up to 63 characters below that of the release. */}}
{{- define "openstack.name" -}}
{{- $root := index . 0 -}}{{- $part := index . 1 -}}
{{- printf "%s-%s" $root.Release.Name $part | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{/* Templates are immutable: their name ends in a digest of their content, so that another content is another object. */}}
{{- define "openstack.digest" -}}
{{- . | sha256sum | trunc 8 -}}
{{- end }}

{{/* The seconds of a duration such as 5m, 1h30m or 90s. */}}
{{- define "openstack.seconds" -}}
{{- $text := toString . -}}
{{- add (mul 3600 (regexFind "[0-9]+h" $text | trimSuffix "h" | int)) (mul 60 (regexFind "[0-9]+m" $text | trimSuffix "m" | int)) (regexFind "[0-9]+s?$" $text | trimSuffix "s" | int) -}}
{{- end }}

{{/* Cluster API moves objects with this label even when nothing owns them any more. */}}
{{- define "openstack.move" -}}
clusterctl.cluster.x-k8s.io/move: ""
{{- end }}

{{- define "openstack.deletion" -}}
nodeDrainTimeoutSeconds: {{ include "openstack.seconds" .nodeDrainTimeout }}
nodeVolumeDetachTimeoutSeconds: {{ include "openstack.seconds" .nodeVolumeDetachTimeout }}
nodeDeletionTimeoutSeconds: {{ include "openstack.seconds" .nodeDeletionTimeout }}
{{- end }}

{{/* A MachineHealthCheck from what capi-helm-charts has: the fields of version v1beta1. */}}
{{- define "openstack.health-check" -}}
{{- $default := list (dict "type" "Ready" "status" "Unknown" "timeout" .unhealthyTimeout) (dict "type" "Ready" "status" "False" "timeout" .unhealthyTimeout) -}}
checks:
  nodeStartupTimeoutSeconds: {{ include "openstack.seconds" .nodeStartupTimeout }}
  unhealthyNodeConditions:
    {{- range .unhealthyConditions | default $default }}
    - type: {{ .type }}
      status: {{ toString .status | title | quote }}
      timeoutSeconds: {{ include "openstack.seconds" .timeout }}
    {{- end }}
{{- if or .unhealthyRange .remediationTemplate (not (kindIs "invalid" .maxUnhealthy)) }}
remediation:
  {{- if .unhealthyRange }}
  triggerIf:
    unhealthyInRange: {{ .unhealthyRange | quote }}
  {{- else if not (kindIs "invalid" .maxUnhealthy) }}
  triggerIf:
    unhealthyLessThanOrEqualTo: {{ .maxUnhealthy }}
  {{- end }}
  {{- with .remediationTemplate }}
  templateRef: {{ pick . "apiVersion" "kind" "name" | toJson }}
  {{- end }}
{{- end }}
{{- end }}

{{/* A value as text. Whole numbers have no exponent, which templates give those of files of values. */}}
{{- define "openstack.text" -}}
{{- if kindIs "float64" . -}}{{ ternary (int64 . | toString) (toString .) (eq . (floor .)) }}{{ else }}{{ toString . }}{{ end -}}
{{- end }}

{{/* Texts by name, as labels, annotations and the like. */}}
{{- define "openstack.texts" -}}
{{- $out := dict }}
{{- range $key, $value := . }}{{ $_ := set $out $key (include "openstack.text" $value) }}{{ end -}}
{{- toJson $out -}}
{{- end }}

{{/* What CAPO finds something by: its id, or a filter. A filter is that of capi-helm-charts as well, whose tags may be one text. */}}
{{- define "openstack.by" -}}
{{- if .id }}{{ dict "id" .id | toJson }}
{{- else if .filter }}{{ pick . "filter" | toJson }}
{{- else }}
{{- $filter := dict }}
{{- range $key, $value := . }}
{{- if and (kindIs "string" $value) (has $key (list "tags" "tagsAny" "notTags" "notTagsAny")) }}{{ $value = splitList "," $value }}{{ end }}
{{- $_ := set $filter $key $value }}
{{- end }}
{{- dict "filter" $filter | toJson }}
{{- end -}}
{{- end }}

{{/* Ports as CAPO has them; what finds a network or a subnet may be as for the internal network. */}}
{{- define "openstack.ports" -}}
{{- $ports := list }}
{{- range . }}
{{- $port := dict }}
{{- range $key, $value := . }}{{ $_ := set $port $key $value }}{{ end }}
{{- with .network }}{{ $_ := set $port "network" (include "openstack.by" . | fromJson) }}{{ end }}
{{- $addresses := list }}
{{- range .fixedIPs }}
{{- $address := omit . "subnet" }}
{{- with .subnet }}{{ $_ := set $address "subnet" (include "openstack.by" . | fromJson) }}{{ end }}
{{- $addresses = append $addresses $address }}
{{- end }}
{{- if $addresses }}{{ $_ := set $port "fixedIPs" $addresses }}{{ end }}
{{- $ports = append $ports $port }}
{{- end }}
{{- toJson $ports -}}
{{- end }}

{{/* The version of Kubernetes of some machines. */}}
{{- define "openstack.version" -}}
{{- $root := index . 0 }}{{- $own := index . 1 -}}
v{{ $own | default $root.Values.kubernetesVersion | required "kubernetesVersion is required" | trimPrefix "v" }}
{{- end }}

{{/* Whether a text is an id of OpenStack, and not a name. */}}
{{- define "openstack.is-id" -}}
{{- regexMatch "^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$" . -}}
{{- end }}

{{/* What CAPO finds something by, given its id or name. */}}
{{- define "openstack.by-text" -}}
{{- include "openstack.by" (ternary (dict "id" .) (dict "name" .) (eq (include "openstack.is-id" .) "true")) -}}
{{- end }}

{{/* Rules of the security group of workers. The load balancers of ovn keep the address of the client, so that ports of Services are open to all. */}}
{{- define "openstack.worker-rules" -}}
{{- $rules := .Values.clusterNetworking.workerNodesSecurityGroupRules | default list }}
{{- if eq (.Values.apiServer.loadBalancerProvider | default "") "ovn" }}
{{- range $protocol := list "tcp" "udp" }}
{{- $name := printf "Worker nodePort %s" (upper $protocol) }}
{{- $given := false }}
{{- range $rules }}{{ if eq (.name | default "") $name }}{{ $given = true }}{{ end }}{{ end }}
{{- if not $given }}
{{- $rules = append $rules (dict "name" $name "direction" "ingress" "etherType" "IPv4" "protocol" $protocol "portRangeMin" 30000 "portRangeMax" 32767 "remoteIPPrefix" "0.0.0.0/0") }}
{{- end }}
{{- end }}
{{- end }}
{{- toJson $rules -}}
{{- end }}
