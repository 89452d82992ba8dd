{{/* A specification of kubeadm: what the chart makes, and the one that is given over it. It is called with the root, the labels of nodes, the
parts of the control plane or of nodes as maps, and the given specification. */}}
{{- define "openstack.kubeadm" -}}
{{- $root := .root }}
{{- $given := (include "openstack.arguments-as-maps" (.given | default dict) | fromJson).v }}
{{- $labels := include "openstack.node-labels" .labels }}
{{- $registration := include "openstack.registration" (dict "root" $root "labels" $labels) | fromYaml }}
{{- $spec := dict "joinConfiguration" (dict "nodeRegistration" $registration) }}
{{- if .controlPlane }}{{ $_ := set $spec "initConfiguration" (dict "nodeRegistration" $registration) }}{{ end }}
{{- $layers := list (include "openstack.setup" $root | fromYaml) }}
{{- range .parts }}{{ $layers = append $layers . }}{{ end }}
{{- $layers = append $layers (omit $given "kubeProxyConfiguration") }}
{{- with $given.kubeProxyConfiguration }}{{ $layers = append $layers (include "openstack.proxy" (list $root .) | fromYaml) }}{{ end }}
{{- $layers = append $layers (include "openstack.last" $root | fromYaml) }}
{{- range $layers }}{{ $spec = (include "openstack.merge" (list $spec .) | fromJson).v }}{{ end }}
{{- range $part := list "initConfiguration" "joinConfiguration" }}
{{- with dig $part "nodeRegistration" "kubeletExtraArgs" "node-labels" "" $given }}
{{- $_ := set (index $spec $part).nodeRegistration.kubeletExtraArgs "node-labels" (printf "%s,%s" $labels .) }}
{{- end }}
{{- end }}
{{- (include "openstack.arguments-as-lists" $spec | fromJson).v | toYaml -}}
{{- end }}

{{/* How kubelet registers a node: OpenStack's cloud controller manager looks after it, and finds it by its server. */}}
{{- define "openstack.registration" -}}
{{- if eq .root.Values.osDistro "flatcar" -}}
name: ${COREOS_OPENSTACK_HOSTNAME}
kubeletExtraArgs:
  cloud-provider: external
  provider-id: openstack:///${COREOS_OPENSTACK_INSTANCE_UUID}
{{- else -}}
name: '{{ "{{ local_hostname }}" }}'
kubeletExtraArgs:
  cloud-provider: external
  provider-id: openstack:///'{{ "{{ instance_id }}" }}'
{{- end }}
  {{- with .labels }}
  node-labels: {{ . | quote }}
  {{- end }}
{{- end }}

{{/* How a machine is set up before kubeadm runs, the same for control plane and nodes. */}}
{{- define "openstack.setup" -}}
{{- if eq .Values.osDistro "flatcar" }}
format: ignition
ignition:
  containerLinuxConfig:
    additionalConfig: |
      systemd:
        units:
          - name: coreos-metadata-sshkeys@.service
            enabled: true
          - name: kubeadm.service
            enabled: true
            dropins:
              - name: 10-openstack.conf
                contents: |
                  [Unit]
                  Requires=containerd.service coreos-metadata.service
                  After=containerd.service coreos-metadata.service
                  [Service]
                  EnvironmentFile=/run/metadata/flatcar
{{- else }}
format: cloud-config
{{- end }}
{{- with include "openstack.files" . | trim }}
files: {{ . | nindent 2 }}
{{- end }}
{{- with include "openstack.commands" . | trim }}
preKubeadmCommands: {{ . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "openstack.files" -}}
{{- $system := .Values.osDistro }}
{{- range $host, $mirrors := .Values.registryMirrors }}
- path: /etc/containerd/certs.d/{{ $host }}/hosts.toml
  owner: root:root
  permissions: "0644"
  content: {{ include "openstack.mirrors" (list $host $mirrors) | trim | toJson }}
{{- end }}
{{- with .Values.registryAuthSecretName }}
{{/* Where kubelet looks for it, whatever runs containers. */}}
- path: /var/lib/kubelet/config.json
  owner: root:root
  permissions: "0600"
  contentFrom:
    secret:
      name: {{ toJson . }}
      key: .dockerconfigjson
{{- end }}
{{- range $name, $pem := .Values.trustedCAs }}
- path: {{ include "openstack.ca-directory" $system }}/{{ $name }}.{{ ternary "pem" "crt" (has $system (list "flatcar" "photon")) }}
  owner: root:root
  permissions: "0644"
  content: {{ toJson $pem }}
{{- end }}
{{- end }}

{{- define "openstack.commands" -}}
{{- if .Values.trustedCAs }}
- {{ include "openstack.ca-command" .Values.osDistro }}
- systemctl restart containerd
{{- end }}
{{- if .Values.additionalPackages }}
{{- include "openstack.install" (list .Values.osDistro .Values.additionalPackages) }}
{{- end }}
{{- end }}

{{/* The hosts.toml of containerd for one registry. */}}
{{- define "openstack.mirrors" -}}
{{- $host := index . 0 }}{{- $given := index . 1 }}
{{- $upstream := printf "https://%s" (ternary "registry-1.docker.io" $host (eq $host "docker.io")) }}
{{- $mirrors := $given }}
{{- if kindIs "map" $given }}
{{- $upstream = $given.upstream | default $upstream }}
{{- $mirrors = $given.mirrors }}
{{- end }}
server = {{ toJson $upstream }}
{{- range $mirrors }}
{{- $mirror := . }}
{{- if kindIs "string" . }}{{ $mirror = dict "url" . }}{{ end }}
{{- with $mirror }}

[host.{{ toJson .url }}]
capabilities = {{ .capabilities | default (list "pull" "resolve") | toJson }}
{{- if .skipVerify }}
skip_verify = true
{{- end }}
{{- if or .overridePath (and (not (hasKey . "overridePath")) (regexMatch "^[a-z]+://[^/]+/." .url)) }}
override_path = true
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The configuration of kube-proxy, which kubeadm reads from its own file. */}}
{{- define "openstack.proxy" -}}
{{- $flatcar := eq (index . 0).Values.osDistro "flatcar" }}
{{- $file := ternary "/etc/kube-proxy-configuration.yaml" "/run/kubeadm/kube-proxy-configuration.yaml" $flatcar }}
files:
  - path: {{ $file }}
    owner: root:root
    permissions: "0644"
    content: {{ printf "---\n%s\n" (merge (dict "apiVersion" "kubeproxy.config.k8s.io/v1alpha1" "kind" "KubeProxyConfiguration") (index . 1) | toYaml) | toJson }}
preKubeadmCommands:
  - cat {{ $file }} >> {{ ternary "/etc/kubeadm.yml" "/run/kubeadm/kubeadm.yaml" $flatcar }}
{{- end }}

{{/* What comes after all other commands. */}}
{{- define "openstack.last" -}}
{{- if eq .Values.osDistro "flatcar" }}
preKubeadmCommands:
  - export COREOS_OPENSTACK_HOSTNAME=${COREOS_OPENSTACK_HOSTNAME%.*}
  - export COREOS_OPENSTACK_INSTANCE_UUID
  - envsubst < /etc/kubeadm.yml > /etc/kubeadm.yml.tmp
  - mv /etc/kubeadm.yml.tmp /etc/kubeadm.yml
{{- else }}
{}
{{- end }}
{{- end }}
