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

{{- define "openstack.health-check" -}}
checks:
  nodeStartupTimeoutSeconds: {{ include "openstack.seconds" .nodeStartupTimeout }}
  unhealthyNodeConditions:
    - type: Ready
      status: Unknown
      timeoutSeconds: {{ include "openstack.seconds" .unhealthyTimeout }}
    - type: Ready
      status: "False"
      timeoutSeconds: {{ include "openstack.seconds" .unhealthyTimeout }}
remediation:
  triggerIf:
    unhealthyLessThanOrEqualTo: {{ .maxUnhealthy }}
{{- end }}

{{/* What CAPO finds something by: its id, or a filter. */}}
{{- define "openstack.by" -}}
{{- if .id }}{{ dict "id" .id | toJson }}{{ else }}{{ dict "filter" . | toJson }}{{ end -}}
{{- end }}

{{/* Whether a text is an id of OpenStack, and not a name. */}}
{{- define "openstack.is-id" -}}
{{- regexMatch "^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$" . -}}
{{- end }}

{{/* What CAPO finds something by, given its id or name. */}}
{{- define "openstack.by-text" -}}
{{- include "openstack.by" (ternary (dict "id" .) (dict "name" .) (eq (include "openstack.is-id" .) "true")) -}}
{{- end }}

{{/* Values whose content is secret, and what to use instead: they would be readable in state, plan and record. */}}
{{- define "openstack.check" -}}
{{- if or .Values.clouds .Values.cloudCACert }}
{{- fail "clouds and cloudCACert would put the credentials into the values: create a Secret with clouds.yaml and cacert, and name it with cloudCredentialsSecretName" }}
{{- end }}
{{- if .Values.registryAuth }}
{{- fail "registryAuth would put passwords into the values: create a Secret of type kubernetes.io/dockerconfigjson, and name it with registryAuthSecretName" }}
{{- end }}
{{- end }}
