{{/* The specification of a server. It is called with the root, the values of the machines, what they are called in an error, and the block
device of etcd, if they have one. */}}
{{- define "openstack.machine" -}}
{{- $root := .root }}{{- $who := .who }}{{- $etcd := .etcd }}
{{- with .machine }}
{{- $flavor := required (printf "%s needs machineFlavor" $who) .machineFlavor }}
{{ ternary "flavorID" "flavor" (eq (include "openstack.is-id" $flavor) "true") }}: {{ $flavor | quote }}
{{- $id := .machineImageId | default $root.Values.machineImageId }}
{{- $image := .machineImage | default $root.Values.machineImage }}
{{- if .machineImage }}{{ $id = .machineImageId }}{{ end }}
image: {{ if $id }}{{ dict "id" $id | toJson }}{{ else }}{{ dict "filter" (dict "name" (tpl (required "machineImage or machineImageId is required" $image) $root)) | toJson }}{{ end }}
{{- with $root.Values.machineSSHKeyName }}
sshKeyName: {{ . | quote }}
{{- end }}
{{- with .machineNetworking.ports }}
ports: {{ include "openstack.ports" . }}
{{- end }}
{{- with .serverGroupId }}
serverGroup: {{ dict "id" . | toJson }}
{{- end }}
{{- with merge (dict) (.machineMetadata | default dict) ($root.Values.machineMetadata | default dict) }}
serverMetadata:
  {{- range $key, $value := . }}
  - {{ dict "key" $key "value" (include "openstack.text" $value) | toJson }}
  {{- end }}
{{- end }}
{{- with .machineRootVolume }}
{{- if .diskSize }}
rootVolume: {{ merge (dict "sizeGiB" (int64 .diskSize)) (include "openstack.volume" . | fromJson) | toJson }}
{{- else if or .volumeType .availabilityZone }}
{{- fail (printf "%s has a machineRootVolume without diskSize: a root volume has a size, and without one the disk of the flavor is used" $who) }}
{{- end }}
{{- end }}
{{- $devices := dict }}
{{- range $name, $device := .additionalBlockDevices }}
{{- if has $name (list "root" "etcd") }}{{ fail (printf "the block device %s of %s has the name of the root disk or of etcd.blockDevice: give it another one" $name $who) }}{{ end }}
{{- $_ := set $devices $name ($device | default dict) }}
{{- end }}
{{- if $etcd }}{{ $_ := set $devices "etcd" $etcd }}{{ end }}
{{- if or $devices .machineConfigDrive }}
configDrive: true
{{- end }}
{{- with $devices }}
additionalBlockDevices:
  {{- range $name, $device := . }}
  - {{ include "openstack.block-device" (list $name $device $who) }}
  {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Type and availability zone of a volume. Without a zone it is in that of its machine: Cinder's default may be another one. */}}
{{- define "openstack.volume" -}}
{{- $volume := dict "availabilityZone" (dict "from" "Machine") }}
{{- with .availabilityZone }}{{ $_ := set $volume "availabilityZone" (dict "from" "Name" "name" .) }}{{ end }}
{{- with .volumeType }}{{ $_ := set $volume "type" . }}{{ end }}
{{- toJson $volume -}}
{{- end }}

{{/* A block device besides the root disk. */}}
{{- define "openstack.block-device" -}}
{{- $name := index . 0 }}{{- $device := index . 1 }}{{- $who := index . 2 }}
{{- if not $device.size }}{{ fail (printf "the block device %s of %s needs a size" $name $who) }}{{ end }}
{{- $storage := dict "type" ($device.type | default "Volume") }}
{{- if eq $storage.type "Volume" }}
{{- $_ := set $storage "volume" (include "openstack.volume" $device | fromJson) }}
{{- else if or $device.volumeType $device.availabilityZone }}
{{- fail (printf "the block device %s of %s has a volumeType or availabilityZone, and its type is Local: these are for a Volume" $name $who) }}
{{- end }}
{{- dict "name" $name "sizeGiB" (int64 $device.size) "storage" $storage | toJson -}}
{{- end }}
