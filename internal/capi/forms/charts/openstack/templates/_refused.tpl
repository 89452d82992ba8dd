{{/* Values of capi-helm-charts that this chart does not serve, and what to use instead. */}}
{{- define "openstack.check" -}}
{{- if or .Values.clouds .Values.cloudCACert }}
{{- fail "clouds and cloudCACert would put the credentials into the values: create a Secret with clouds.yaml and cacert, and name it with cloudCredentialsSecretName" }}
{{- end }}
{{- if .Values.registryAuth }}
{{- fail "registryAuth would put passwords into the values: create a Secret of type kubernetes.io/dockerconfigjson, and name it with registryAuthSecretName" }}
{{- end }}
{{- if not (has (.Values.authWebhook | default "none") (list "none" "k8s-keystone-auth")) }}
{{- fail (printf "authWebhook %q is of Azimuth: give the AuthorizationConfiguration of the API server as a file in controlPlane.kubeadmConfigSpec, and authorization-config among the extraArgs of its apiServer" .Values.authWebhook) }}
{{- end }}
{{- if .Values.azimuthAuthorizationWebhook }}
{{- fail "azimuthAuthorizationWebhook is of Azimuth: give the AuthorizationConfiguration of the API server as a file in controlPlane.kubeadmConfigSpec, and authorization-config among the extraArgs of its apiServer" }}
{{- end }}
{{- if and .Values.etcd.encryption.enabled (not .Values.etcd.encryption.secretName) }}
{{- fail "etcd.encryption would put the key into the objects of the control plane: create a Secret whose key encryption.yaml holds an EncryptionConfiguration, and name it with etcd.encryption.secretName" }}
{{- end }}
{{- with .Values.addons }}
{{- if not (and (hasKey . "enabled") (eq (toString .enabled) "false")) }}
{{- with include "openstack.on" (list "addons" .) | splitList "," | compact }}
{{- fail (printf "this chart installs no applications on the cluster, and %s is about one: give its chart in the argument addons of the cluster, and leave this out or set addons.enabled to false" (first .)) }}
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.autoscaler }}
{{- if or (not (hasKey . "enabled")) (kindIs "invalid" .enabled) }}
{{- with include "openstack.on" (list "autoscaler" .) | splitList "," | compact }}
{{- fail (printf "%s is about the cluster-autoscaler, which this chart runs if autoscaler.enabled is true: set that, or set it to false" (first .)) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The names, with commas, of values in a tree that are on: all but empty ones and enabled: false. */}}
{{- define "openstack.on" -}}
{{- $name := index . 0 }}{{- $value := index . 1 }}
{{- if kindIs "map" $value }}
{{- if not (and (hasKey $value "enabled") (eq (toString $value.enabled) "false")) }}
{{- range $key, $below := $value }}{{ include "openstack.on" (list (printf "%s.%s" $name $key) $below) }}{{ end }}
{{- end }}
{{- else if $value }}{{ $name }},{{ end }}
{{- end }}
