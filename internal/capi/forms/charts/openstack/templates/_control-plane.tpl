{{/* The parts of the specification of kubeadm that are for the control plane. */}}

{{- define "openstack.servers" -}}
clusterConfiguration:
  apiServer:
    extraArgs:
      v: {{ include "openstack.text" .Values.apiServer.logLevel | quote }}
      {{- with .Values.oidc }}
      {{- if .issuerUrl }}
      oidc-issuer-url: {{ .issuerUrl | quote }}
      oidc-client-id: {{ required "oidc.issuerUrl needs oidc.clientId" .clientId | quote }}
      {{- range $argument, $value := dict "username-claim" .usernameClaim "username-prefix" .usernamePrefix "groups-claim" .groupsClaim "groups-prefix" .groupsPrefix "signing-algs" .signingAlgs }}
      {{- with $value }}
      oidc-{{ $argument }}: {{ . | quote }}
      {{- end }}
      {{- end }}
      {{- end }}
      {{- end }}
  controllerManager:
    extraArgs:
      cloud-provider: external
  etcd:
    local:
      dataDir: {{ .Values.etcd.dataDir }}{{ if (.Values.etcd.blockDevice | default dict).size }}/data{{ end }}
      {{- with .Values.etcd.extraArgs }}
      extraArgs: {{ include "openstack.texts" . }}
      {{- end }}
{{- end }}

{{/* Configuration of admission plugins. */}}
{{- define "openstack.admission" -}}
{{- with .Values.apiServer.admissionConfiguration }}
{{- $plugins := list }}
{{- range $name, $configuration := . }}{{ $plugins = append $plugins (dict "name" $name "configuration" $configuration) }}{{ end }}
{{- include "openstack.server-file" (dict "directory" "admission" "file" "configuration.yaml" "argument" "admission-control-config-file"
  "from" (dict "content" (dict "apiVersion" "apiserver.config.k8s.io/v1" "kind" "AdmissionConfiguration" "plugins" $plugins | toYaml))) }}
{{- else }}
{}
{{- end }}
{{- end }}

{{/* Encryption at rest. */}}
{{- define "openstack.encryption" -}}
{{- $encryption := .Values.etcd.encryption | default dict }}
{{- if $encryption.enabled }}
{{- include "openstack.server-file" (dict "directory" "encryption" "file" "encryption.yaml" "argument" "encryption-provider-config"
  "from" (dict "contentFrom" (dict "secret" (dict "name" $encryption.secretName "key" "encryption.yaml")))) }}
{{- else }}
{}
{{- end }}
{{- end }}

{{/* Users of Keystone. The server of the webhook runs on the nodes of the control plane, so that the API server gets to know it when kubeadm is done:
until it answers, requests that RBAC does not decide would wait for it. */}}
{{- define "openstack.keystone-auth" -}}
{{- if eq (.Values.authWebhook | default "none") "k8s-keystone-auth" }}
{{- $directory := "/etc/kubernetes/webhooks" }}
{{- $patches := "/etc/kubernetes/keystone-auth" }}
{{- $config := printf "%s/keystone.yaml" $directory }}
{{- $changes := list }}
{{- range list (printf "authentication-token-webhook-config-file=%s" $config) (printf "authorization-webhook-config-file=%s" $config) "authorization-mode=Webhook" }}
{{- $changes = append $changes (dict "op" "add" "path" "/spec/containers/0/command/-" "value" (printf "--%s" .)) }}
{{- end }}
files:
  - path: {{ $config }}
    owner: root:root
    permissions: "0600"
    content: {{ dict "apiVersion" "v1" "kind" "Config" "current-context" "webhook"
      "clusters" (list (dict "name" "webhook" "cluster" (dict "server" "https://127.0.0.1:8443/webhook" "insecure-skip-tls-verify" true)))
      "users" (list (dict "name" "webhook" "user" dict))
      "contexts" (list (dict "name" "webhook" "context" (dict "cluster" "webhook" "user" "webhook"))) | toYaml | toJson }}
  - path: {{ $patches }}/kustomization.yaml
    owner: root:root
    permissions: "0600"
    content: {{ dict "resources" (list "kube-apiserver.yaml") "patches" (list (dict "target" (dict "kind" "Pod") "patch" (toYaml $changes))) | toYaml | toJson }}
postKubeadmCommands:
  - cp /etc/kubernetes/manifests/kube-apiserver.yaml {{ $patches }}/kube-apiserver.yaml
  - kubectl kustomize {{ $patches }} --output {{ $patches }}/patched.yaml
  - mv {{ $patches }}/patched.yaml /etc/kubernetes/manifests/kube-apiserver.yaml
clusterConfiguration:
  apiServer:
    extraVolumes:
      - name: webhooks
        hostPath: {{ $directory }}
        mountPath: {{ $directory }}
        readOnly: true
        pathType: Directory
{{- else }}
{}
{{- end }}
{{- end }}

{{/* A file that an argument of the API server names, in a directory of its own that its pod sees. */}}
{{- define "openstack.server-file" -}}
{{- $directory := printf "/etc/kubernetes/%s" .directory }}
{{- $path := printf "%s/%s" $directory .file }}
files:
  - {{ merge (dict "path" $path "owner" "root:root" "permissions" "0600") .from | toJson }}
clusterConfiguration:
  apiServer:
    extraArgs:
      {{ .argument }}: {{ $path }}
    extraVolumes:
      - name: {{ .directory }}
        hostPath: {{ $directory }}
        mountPath: {{ $directory }}
        readOnly: true
        pathType: Directory
{{- end }}

{{/* The file system on the block device of etcd. */}}
{{- define "openstack.etcd-disk" -}}
{{- if (.Values.etcd.blockDevice | default dict).size }}
{{- if eq .Values.osDistro "flatcar" }}
{{- fail "etcd.blockDevice is found by its tag, which Ignition cannot do: give it among controlPlane.additionalBlockDevices under another name, and its file system and mount in controlPlane.kubeadmConfigSpec" }}
{{- end }}
bootCommands:
  - {{ include "openstack.link-by-tag" . | trim | toJson }}
diskSetup:
  filesystems:
    - device: /dev/disk/openstack/by-tag/etcd
      filesystem: ext4
      label: etcd
mounts:
  - [LABEL=etcd, {{ .Values.etcd.dataDir }}]
{{- else }}
{}
{{- end }}
{{- end }}

{{/* Links the block device with the tag etcd, as the metadata of the server has it, to where disks are looked for; images may have a rule
of udev that does so. */}}
{{- define "openstack.link-by-tag" }}
python3 -c '
import glob, json, os
link = "/dev/disk/openstack/by-tag/etcd"
with open("/run/cloud-init/instance-data.json") as f:
    devices = json.load(f)["ds"]["meta_data"].get("devices", [])
for device in devices:
    if "etcd" in device.get("tags", []) and not os.path.exists(link):
        serial, address = device.get("serial"), device.get("address")
        found = glob.glob("/dev/disk/by-id/*" + serial[:20] + "*") if serial else []
        found = found or (glob.glob("/dev/disk/by-path/*" + address) if address else [])
        if found:
            os.makedirs(os.path.dirname(link), exist_ok=True)
            os.symlink(os.path.realpath(min(found, key=len)), link)
'
{{- end }}
