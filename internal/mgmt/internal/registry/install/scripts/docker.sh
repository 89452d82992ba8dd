present() { command -v docker >/dev/null 2>&1 && command -v dockerd >/dev/null 2>&1; }

version() { docker version --format '{{.Server.Version}}' 2>/dev/null; }

data() { docker info --format '{{.DockerRootDir}}'; }

image() { docker image inspect --format '{{.Id}}' "$1" 2>/dev/null || true; }

load() { docker load --input "$1" >/dev/null; }

pull() { docker pull --quiet "$1" >/dev/null; }

forget_image() { docker image rm "$1" >/dev/null 2>&1 || true; }

# container NAME UNIT
container() {
  docker container inspect --format 'container=true
running={{.State.Running}}
restarts={{.RestartCount}}
status={{.State.Status}}, exit code {{.State.ExitCode}}
digest={{with index .Config.Labels "io.github.terraform-provider-vnf.digest"}}{{.}}{{end}}' "$1" 2>/dev/null || true
}

create() { docker create "$@" >/dev/null; }

# begin NAME UNIT
begin() { docker start "$1" >/dev/null; }

# remove NAME UNIT FILE
remove() {
  docker container inspect "$1" >/dev/null 2>&1 || return 0
  docker rm --force "$1" >/dev/null
}

# logs NAME UNIT LINES
logs() { docker logs --tail "$3" "$1" 2>&1; }
