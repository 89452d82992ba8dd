{{/* Arguments of kubeadm for every node: OpenStack's cloud controller manager looks after it, and finds it by its server. */}}
{{- define "openstack.registration" -}}
{{- if eq .Values.osDistro "flatcar" -}}
name: ${COREOS_OPENSTACK_HOSTNAME}
kubeletExtraArgs:
  - name: cloud-provider
    value: external
  - name: provider-id
    value: openstack:///${COREOS_OPENSTACK_INSTANCE_UUID}
{{- else -}}
name: '{{ "{{ local_hostname }}" }}'
kubeletExtraArgs:
  - name: cloud-provider
    value: external
  - name: provider-id
    value: openstack:///'{{ "{{ instance_id }}" }}'
{{- end -}}
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
{{- if .Values.additionalPackages }}
{{- fail "additionalPackages is for osDistro ubuntu: flatcar has no package manager" }}
{{- end }}
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
- path: {{ include "openstack.ca-directory" $ }}/{{ $name }}.{{ ternary "pem" "crt" (eq $.Values.osDistro "flatcar") }}
  owner: root:root
  permissions: "0644"
  content: {{ toJson $pem }}
{{- end }}
{{- end }}

{{- define "openstack.ca-directory" -}}
{{- ternary "/etc/ssl/certs" "/usr/local/share/ca-certificates" (eq .Values.osDistro "flatcar") -}}
{{- end }}

{{/* The hosts.toml of containerd for one registry. */}}
{{- define "openstack.mirrors" -}}
{{- $host := index . 0 }}{{- $given := index . 1 }}
{{- $upstream := printf "https://%s" (ternary "registry-1.docker.io" $host (eq $host "docker.io")) }}
{{- $mirrors := list }}
{{- if kindIs "slice" $given }}
{{- range $given }}{{ $mirrors = append $mirrors (dict "url" .) }}{{ end }}
{{- else }}
{{- $upstream = $given.upstream | default $upstream }}
{{- $mirrors = $given.mirrors }}
{{- end }}
server = {{ toJson $upstream }}
{{- range $mirrors }}

[host.{{ toJson .url }}]
capabilities = {{ .capabilities | default (list "pull" "resolve") | toJson }}
{{- if .skipVerify }}
skip_verify = true
{{- end }}
{{- if or .overridePath (and (not (hasKey . "overridePath")) (regexMatch "/v2/" .url)) }}
override_path = true
{{- end }}
{{- end }}
{{- end }}

{{- define "openstack.commands" -}}
{{- if .Values.trustedCAs }}
- update-ca-certificates
- systemctl restart containerd
{{- end }}
{{- with .Values.additionalPackages }}
- apt-get update
- {{ printf "DEBIAN_FRONTEND=noninteractive apt-get install --yes %s" (join " " .) | toJson }}
{{- end }}
{{- if eq .Values.osDistro "flatcar" }}
- export COREOS_OPENSTACK_HOSTNAME=${COREOS_OPENSTACK_HOSTNAME%.*}
- export COREOS_OPENSTACK_INSTANCE_UUID
- envsubst < /etc/kubeadm.yml > /etc/kubeadm.yml.tmp
- mv /etc/kubeadm.yml.tmp /etc/kubeadm.yml
{{- end }}
{{- end }}

{{/* Arguments of kubeadm for machines of the node groups. */}}
{{- define "openstack.node" -}}
joinConfiguration:
  nodeRegistration: {{ include "openstack.registration" . | nindent 4 }}
{{- include "openstack.setup" . }}
{{- end }}
