{{/* The name of an object, given the context and what it is for. */}}
{{- define "common.name" -}}
{{ printf "%s-%s" .root.Release.Name .component | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The name of an object that all namespaces of the cluster share. */}}
{{- define "common.clusterName" -}}
{{ printf "%s-%s-%s" .root.Release.Namespace .root.Release.Name .component }}
{{- end }}

{{- define "common.selector" -}}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "common.labels" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | default .root.Chart.Version | quote }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{ include "common.selector" . }}
{{- end }}

{{- define "common.metadata" -}}
name: {{ include "common.name" . }}
labels: {{- include "common.labels" . | nindent 2 }}
{{- end }}

{{- define "common.image" -}}
{{ .root.Values.global.image.registry }}/{{ .image }}:{{ .root.Values.global.image.tag }}
{{- end }}

{{- define "common.hardened" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities: { drop: [ALL] }
{{- end }}

{{- define "common.serviceAccount" -}}
apiVersion: v1
kind: ServiceAccount
metadata: {{- include "common.metadata" . | nindent 2 }}
{{- end }}

{{/* Binds the role of a component to its account. */}}
{{- define "common.roleBinding" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{- include "common.metadata" . | nindent 2 }}
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: {{ include "common.name" . }} }
subjects:
  - { kind: ServiceAccount, name: {{ include "common.name" . }}, namespace: {{ .root.Release.Namespace }} }
{{- end }}

{{- define "common.budget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{- include "common.metadata" . | nindent 2 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {{- include "common.selector" . | nindent 6 }}
{{- end }}
