set -u
export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
umask 077

runs() { command -v "$1" >/dev/null 2>&1 && systemctl is-active --quiet "$2" 2>/dev/null; }

# inspect FILE... prints what runs containers, and mode and owner of the files that are there.
inspect() {
  if runs dockerd docker; then echo docker=true; fi
  if runs crio crio; then echo crio=true; fi
  if runs containerd containerd; then
    echo containerd=true
    if kubelet_uses containerd.sock; then echo kubelet=containerd; fi
  fi
  if [ -d /var/lib/kubelet ]; then echo kubelet_folder=true; fi
  echo "global_auth_file=$(cat /etc/crio/crio.conf /etc/crio/crio.conf.d/*.conf 2>/dev/null |
    sed -n 's/^[[:space:]]*global_auth_file[[:space:]]*=[[:space:]]*"\([^"]*\)".*/\1/p' | tail -n 1)"
  for file in "$@"; do
    if [ -e "$file" ]; then stat -L -c 'stat:%n=%a %u:%g' "$file"; fi
  done
}

# sums FILE... prints mode and SHA-256 of those that are there.
sums() {
  for file in "$@"; do
    if [ -f "$file" ]; then echo "$file=$(stat -L -c %a "$file") $(sha256sum <"$file" | cut -d ' ' -f 1)"; fi
  done
}

# kubelet_uses SOCKET reports whether the kubelet is configured to use an engine.
kubelet_uses() {
  grep -qs "$1" /var/lib/kubelet/kubeadm-flags.env /var/lib/kubelet/config.yaml /etc/kubernetes/kubelet.env /etc/default/kubelet && return 0
  pid=$(pidof -s kubelet 2>/dev/null) && tr '\0' '\n' <"/proc/$pid/cmdline" | grep -q "$1"
}

# effective prints the configuration of containerd as it takes it, with what it imports; nothing where it cannot be read.
effective() { containerd config dump 2>/dev/null || true; }

# try reads a configuration of containerd and prints it as containerd takes it.
try() {
  candidate=$(mktemp) || return 1
  trap 'rm -f "$candidate"' EXIT
  cat >"$candidate" && containerd --config "$candidate" config dump
}

# remove_all FILE... removes files, and the folders that are empty then.
remove_all() {
  rm -f "$@" || return 1
  for file in "$@"; do
    rmdir "$(dirname "$file")" 2>/dev/null || true
  done
}

# restart UNIT, and reload UNIT where it can be, until it runs.
restart() { systemctl restart "$1" && systemctl is-active --quiet "$1"; }

reload() { systemctl reload-or-restart "$1" && systemctl is-active --quiet "$1"; }

log() { journalctl --no-pager -o cat -n 15 -u "$1" 2>&1; }

# insecure prints what Docker speaks HTTP to.
insecure() { docker info --format '{{range $name, $index := .RegistryConfig.IndexConfigs}}{{if not $index.Secure}}{{$name}}{{"\n"}}{{end}}{{end}}'; }
