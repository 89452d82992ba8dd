set -u
export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
umask 077

# system tells what the host is.
system() {
  (
    ID='' PRETTY_NAME=''
    [ -r /etc/os-release ] && . /etc/os-release
    echo "id=$ID"
    echo "system=$PRETTY_NAME"
  )
  echo "machine=$(uname -m)"
  if [ -d /run/systemd/system ]; then echo systemd=true; fi
}

# listener PORT tells which program listens on a TCP port.
listener() {
  command -v ss >/dev/null 2>&1 || return 0
  found=$(ss -Hltnp "sport = :$1" 2>/dev/null) || return 0
  [ -n "$found" ] || return 0
  who=$(printf '%s\n' "$found" | sed -n 's/.*users:(("\([^"]*\)",pid=\([0-9]*\).*/\1 (pid \2)/p' | head -n 1)
  echo "listener=${who:-another program}"
}

# files FOLDER tells the SHA-256 of each file in it.
files() {
  for file in "$1"/*; do
    [ -f "$file" ] || continue
    echo "file:${file##*/}=$(sha256sum <"$file" | cut -d ' ' -f 1)"
  done
}

# space PATH tells how many bytes are free in the file system of a folder, or of the one above it.
space() {
  folder=$1
  echo "folder=$folder"
  while [ ! -d "$folder" ]; do folder=$(dirname "$folder"); done
  # Blocks that are free, and the size of one.
  # shellcheck disable=SC2046
  set -- $(stat -f -c '%a %S' "$folder")
  echo "space=$(($1 * $2))"
}

# engine_space tells how much is free where the engine keeps its images.
engine_space() { space "$(data)"; }

# receive FOLDER NAME DIGEST makes an empty folder for an archive, unless the whole of it is there already.
receive() {
  if [ -f "$1/$2" ] && is_whole "$@"; then
    echo whole
    return 0
  fi
  rm -rf "$1"
  mkdir -m 0700 "$1"
}

is_whole() { [ "sha256:$(sha256sum <"$1/$2" | cut -d ' ' -f 1)" = "$3" ]; }

# load_archive FOLDER NAME DIGEST IMAGE has the engine read an archive, which is removed then.
load_archive() {
  if ! is_whole "$@"; then
    rm -rf "$1"
    echo "the archive on the host does not have the digest $3 of the one in the package" >&2
    return 1
  fi
  load "$1/$2" "$4"
  status=$?
  rm -rf "$1"
  return "$status"
}

# forget FILE... removes files of which systemd has read.
forget() {
  rm -f "$@"
  systemctl daemon-reload
}

# remove_data FOLDER removes what a registry has written, and the folder when nothing else is in it.
remove_data() {
  rm -rf "$1/docker" || return 1
  rmdir "$1" 2>/dev/null || true
}

# remove_folder FOLDER ABOVE FILE... removes the files of a registry.
remove_folder() {
  folder=$1 above=$2
  shift 2
  rm -rf "$folder" || return 1
  rmdir "$above" 2>/dev/null
  rm -f "$@"
  if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
}

# unit_state UNIT prints the state of a unit of systemd.
unit_state() {
  echo "restarts=$(systemctl show -p NRestarts --value "$1" 2>/dev/null)"
  echo "status=$(systemctl show -p ActiveState --value "$1" 2>/dev/null), $(systemctl show -p SubState --value "$1" 2>/dev/null), result $(systemctl show -p Result --value "$1" 2>/dev/null)"
}

unit_logs() { journalctl --no-pager -o cat -n "$2" -u "$1" 2>&1; }

# inspect NAME FOLDER PORT UNIT prints everything that decides what there is to do.
inspect() {
  system
  files "$2"
  listener "$3"
  present || return 0
  echo present=true
  version=$(version) || return 0
  echo "version=$version"
  container "$1" "$4"
}

# service UNIT has a unit run, now and after each start of the host.
service() {
  systemctl is-enabled --quiet "$1" 2>/dev/null || systemctl enable "$1" || return 1
  systemctl is-active --quiet "$1" || systemctl start "$1"
}

# restart_unit UNIT takes over a unit whose file has changed, and starts it again.
restart_unit() {
  systemctl daemon-reload && systemctl enable --quiet "$1" && systemctl reset-failed "$1" 2>/dev/null
  systemctl restart "$1"
}

# remove_unit UNIT FILE stops a unit and forgets it.
remove_unit() {
  if [ -e "$2" ]; then
    systemctl disable --now "$1" || return 1
    rm -f "$2"
    systemctl daemon-reload
  fi
  systemctl reset-failed "$1" 2>/dev/null || true
}
