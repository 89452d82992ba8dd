present() { command -v podman >/dev/null 2>&1; }

version() { podman version --format '{{.Client.Version}}' 2>/dev/null; }

data() { podman info --format '{{.Store.GraphRoot}}'; }

image() { podman image inspect --format '{{.Id}}' "$1" 2>/dev/null || true; }

# load FILE NAME. To podman an image without a registry in its name is one of the host; to everybody else it is one of
# docker.io.
load() {
  loaded=$(podman load --quiet --input "$1") || return 1
  for twin in "localhost/${2#docker.io/library/}" "localhost/${2#docker.io/}"; do
    case " $(printf %s "$loaded" | tr '\n,' '  ') " in
    *" $twin "*) podman tag "$twin" "$2" && podman untag "$twin" "$twin" && return 0 ;;
    esac
  done
}

pull() { podman pull --quiet "$1" >/dev/null; }

forget_image() { podman image rm "$1" >/dev/null 2>&1 || true; }

# container NAME UNIT
container() {
  [ -e "/etc/systemd/system/$2" ] || podman container exists "$1" || return 0
  echo container=true
  podman container inspect --format 'running={{.State.Running}}
digest={{with index .Config.Labels "io.github.terraform-provider-vnf.digest"}}{{.}}{{end}}' "$1" 2>/dev/null ||
    echo "digest=$(sed -n 's/^X-Digest=//p' "/etc/systemd/system/$2")"
  unit_state "$2"
}

# begin NAME UNIT
begin() { restart_unit "$2"; }

# remove NAME UNIT FILE
remove() {
  remove_unit "$2" "$3" || return 1
  podman rm --force --ignore "$1" >/dev/null
}

# logs NAME UNIT LINES
logs() { unit_logs "$2" "$3"; }
