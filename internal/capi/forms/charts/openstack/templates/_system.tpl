{{/* How an operating system is managed. */}}
{{- define "openstack.family" -}}
{{- if has . (list "ubuntu" "debian") -}}debian
{{- else if has . (list "rocky" "rockylinux" "almalinux" "centos" "rhel" "ol" "oraclelinux") -}}redhat
{{- else if has . (list "opensuse" "sles") -}}suse
{{- else -}}{{ . }}
{{- end -}}
{{- end }}

{{/* Where a system has its CA certificates, and the command that has them trusted. */}}
{{- define "openstack.ca-directory" -}}
{{- get (dict "debian" "/usr/local/share/ca-certificates" "redhat" "/etc/pki/ca-trust/source/anchors" "suse" "/etc/pki/trust/anchors" "photon" "/etc/ssl/certs" "flatcar" "/etc/ssl/certs") (include "openstack.family" .) -}}
{{- end }}

{{- define "openstack.ca-command" -}}
{{- get (dict "debian" "update-ca-certificates" "redhat" "update-ca-trust extract" "suse" "update-ca-certificates" "photon" "rehash_ca_certificates.sh" "flatcar" "update-ca-certificates") (include "openstack.family" .) -}}
{{- end }}

{{/* The commands that install packages. */}}
{{- define "openstack.install" -}}
{{- $family := include "openstack.family" (index . 0) }}{{- $packages := join " " (index . 1) }}
{{- if eq $family "debian" }}
- apt-get update
- DEBIAN_FRONTEND=noninteractive apt-get install --yes {{ $packages }}
{{- else if eq $family "redhat" }}
- dnf install --assumeyes {{ $packages }}
{{- else if eq $family "suse" }}
- zypper --non-interactive install {{ $packages }}
{{- else if eq $family "photon" }}
- tdnf install --assumeyes {{ $packages }}
{{- else }}
{{- fail (printf "additionalPackages is for systems with a package manager, and osDistro %s has none: make an image with these packages" (index . 0)) }}
{{- end }}
{{- end }}
