{{/* A name of up to 63 characters below that of the release. */}}
{{- define "in-memory.name" -}}
{{- $root := index . 0 -}}{{- $part := index . 1 -}}
{{- printf "%s-%s" $root.Release.Name $part | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{/* The specification of a machine. Templates are immutable: their name ends in a digest of this. */}}
{{- define "in-memory.machine" -}}
backend:
  inMemory:
    vm:
      provisioning: {{ toJson .Values.provisioning }}
    node:
      provisioning: {{ toJson .Values.provisioning }}
    apiServer:
      provisioning: {{ toJson .Values.provisioning }}
    etcd:
      provisioning: {{ toJson .Values.provisioning }}
{{- end }}

{{- define "in-memory.digest" -}}
{{- . | sha256sum | trunc 8 -}}
{{- end }}

{{/* Arguments of kubeadm for every node. */}}
{{- define "in-memory.registration" -}}
criSocket: unix:///var/run/containerd/containerd.sock
{{- end }}

{{- define "in-memory.node" -}}
joinConfiguration:
  nodeRegistration: {{ include "in-memory.registration" . | nindent 4 }}
{{- end }}

{{/* The seconds of a duration such as 5m or 90s. */}}
{{- define "in-memory.seconds" -}}
{{- $text := toString . -}}
{{- if hasSuffix "h" $text }}{{ mul 3600 (trimSuffix "h" $text | int) }}
{{- else if hasSuffix "m" $text }}{{ mul 60 (trimSuffix "m" $text | int) }}
{{- else }}{{ trimSuffix "s" $text | int }}{{ end -}}
{{- end }}

{{- define "in-memory.health-check" -}}
checks:
  nodeStartupTimeoutSeconds: {{ include "in-memory.seconds" .nodeStartupTimeout }}
  unhealthyNodeConditions:
    - type: Ready
      status: Unknown
      timeoutSeconds: {{ include "in-memory.seconds" .unhealthyTimeout }}
    - type: Ready
      status: "False"
      timeoutSeconds: {{ include "in-memory.seconds" .unhealthyTimeout }}
remediation:
  triggerIf:
    unhealthyLessThanOrEqualTo: {{ .maxUnhealthy }}
{{- end }}
