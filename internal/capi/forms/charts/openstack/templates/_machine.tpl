{{/* The specification of a server. It is called with the root, the values of the machines, and what they are called in an error. */}}
{{- define "openstack.machine" -}}
{{- $root := .root }}{{- $who := .who }}{{- $volumes := .volumes }}
{{- with .machine }}
{{- $flavor := required (printf "%s needs machineFlavor" $who) .machineFlavor }}
{{ ternary "flavorID" "flavor" (eq (include "openstack.is-id" $flavor) "true") }}: {{ $flavor | quote }}
{{- $id := .machineImageId | default $root.Values.machineImageId }}
{{- $image := .machineImage | default $root.Values.machineImage }}
{{- if .machineImage }}{{ $id = .machineImageId }}{{ end }}
image: {{ if $id }}{{ dict "id" $id | toJson }}{{ else }}{{ dict "filter" (dict "name" (required "machineImage or machineImageId is required" $image)) | toJson }}{{ end }}
{{- with $root.Values.machineSSHKeyName }}
sshKeyName: {{ . | quote }}
{{- end }}
{{- with .machineNetworking.ports }}
ports: {{ toJson . }}
{{- end }}
{{- with .serverGroupId }}
serverGroup: {{ dict "id" . | toJson }}
{{- end }}
{{- with $root.Values.machineMetadata }}
serverMetadata:
  {{- range $key, $value := . }}
  - {{ dict "key" $key "value" (toString $value) | toJson }}
  {{- end }}
{{- end }}
{{- with .machineRootVolume }}
{{- if .diskSize }}
rootVolume:
  sizeGiB: {{ .diskSize }}
  {{- with .volumeType }}
  type: {{ . | quote }}
  {{- end }}
  {{- with .availabilityZone }}
  availabilityZone: {{ dict "from" "Name" "name" . | toJson }}
  {{- end }}
{{- else if or .volumeType .availabilityZone }}
{{- fail (printf "%s has a machineRootVolume without diskSize: a root volume has a size, and without one the disk of the flavor is used" $who) }}
{{- end }}
{{- end }}
{{- with $volumes }}
additionalBlockDevices: {{ . | trim | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{/* The block device of etcd. */}}
{{- define "openstack.etcd-device" -}}
{{- with .Values.etcd.blockDevice }}
{{- if .size }}
{{- $type := .type | default "Volume" }}
- name: etcd
  sizeGiB: {{ .size }}
  storage:
    type: {{ $type }}
    {{- if eq $type "Volume" }}
    {{- with include "openstack.etcd-volume" . | trim }}
    volume: {{ . | nindent 6 }}
    {{- end }}
    {{- else if or .volumeType .availabilityZone }}
    {{- fail "etcd.blockDevice has a volumeType or availabilityZone, and its type is Local: these are for a Volume" }}
    {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "openstack.etcd-volume" -}}
{{- with .volumeType }}
type: {{ . | quote }}
{{- end }}
{{- with .availabilityZone }}
availabilityZone: {{ dict "from" "Name" "name" . | toJson }}
{{- end }}
{{- end }}
