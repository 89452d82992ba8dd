ctr() { command ctr --namespace private-registry "$@"; }

present() { command -v containerd >/dev/null 2>&1 && command -v ctr >/dev/null 2>&1; }

version() { command ctr version 2>/dev/null | awk '/^Server/ { server = 1 } server && /Version:/ { print $2; exit }' | grep .; }

data() { command containerd config dump 2>/dev/null | sed -n "s/^root *= *[\"']\\(.*\\)[\"'].*/\\1/p" | head -n 1 | grep . || echo /var/lib/containerd; }

image() { ctr images list "name==$1" | awk 'NR > 1 { print $3; exit }'; }

load() { ctr images import "$1" >/dev/null; }

pull() { ctr images pull "$1" >/dev/null; }

forget_image() { ctr images remove "$1" >/dev/null 2>&1 || true; }

# container NAME UNIT
container() {
  label=$(ctr containers info "$1" 2>/dev/null | sed -n 's/.*"io.github.terraform-provider-vnf.digest": "\([^"]*\)".*/\1/p' | head -n 1)
  if [ -n "$label" ] && ctr tasks list | awk -v name="$1" '$1 == name && $3 == "RUNNING" { found = 1 } END { exit !found }'; then
    echo container=true
    echo running=true
    echo "digest=$label"
  elif [ -e "/etc/systemd/system/$2" ]; then
    echo container=true
    echo "digest=$(sed -n 's/^X-Digest=//p' "/etc/systemd/system/$2")"
  else
    return 0
  fi
  unit_state "$2"
}

# begin NAME UNIT
begin() { restart_unit "$2"; }

# remove NAME UNIT FILE
remove() {
  remove_unit "$2" "$3" || return 1
  clear_away "$1"
}

# clear_away NAME removes what an engine that ended has left of a container.
clear_away() {
  ctr tasks kill --signal SIGKILL "$1" >/dev/null 2>&1
  ctr tasks delete --force "$1" >/dev/null 2>&1
  ctr containers delete "$1" >/dev/null 2>&1
  ctr snapshots remove "$1" >/dev/null 2>&1
  return 0
}

# logs NAME UNIT LINES
logs() { unit_logs "$2" "$3"; }
