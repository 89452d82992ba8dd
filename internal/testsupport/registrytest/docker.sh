# A stand-in for docker: images are files, a container is a process that is the test's own registry.
# Its calls are in /run/docker/calls. A file in /run/docker/faults has it fail in its way.
state=/run/docker
fault() { [ -e "$state/faults/$1" ]; }
case "$1" in
version | info | logs) ;;
*) echo "$*" | tr "\n" " " | sed "s/ \$/\n/" >>"$state/calls" ;;
esac
running() { [ -s "$state/containers/$1/pid" ] && grep -qs ') [RSD] ' "/proc/$(cat "$state/containers/$1/pid")/stat"; }
file() { printf %s "$1" | tr '/:@' '___'; }
remember() { # ID NAME
	mkdir -p "$state/images"
	echo "$1" >"$state/images/$(file "$1")"
	echo "$1" >"$state/images/$(file "$2")"
}
case "$1 $2" in
"version --format") [ -e "$state/active" ] && echo 20.10.24 ;;
"info --format") echo /var/lib ;;
"load --input")
	if fault full; then echo "write /var/lib/docker/tmp/layer: no space left on device" >&2; exit 1; fi
	manifest=$(tar -xOf "$3" manifest.json) || exit 1
	id=$(printf %s "$manifest" | sed 's/.*"Config":"\([^"]*\)".*/\1/')
	name=$(printf %s "$manifest" | sed 's/.*"RepoTags":\["\([^"]*\)".*/\1/')
	remember "$id" "docker.io/library/$name"
	;;
"pull --quiet")
	if fault unreachable; then echo "Error response from daemon: Get https://registry-1.docker.io/v2/: dial tcp: lookup registry-1.docker.io: no such host" >&2; exit 1; fi
	remember "sha256:$(printf %s "$3" | sha256sum | cut -d ' ' -f 1)" "$3"
	;;
"image inspect") cat "$state/images/$(file "$5")" 2>/dev/null ;;
"image rm") rm -f "$state/images/$(file "$3")" ;;
"container inspect")
	name=$5
	[ "$3" = --format ] || name=$3
	[ -d "$state/containers/$name" ] || exit 1
	echo container=true
	if running "$name"; then echo running=true; else echo running=false; fi
	restarts=0
	if fault crash; then restarts=$(($(cat "$state/restarts" 2>/dev/null || echo 0) + 1)); echo "$restarts" >"$state/restarts"; fi
	echo "restarts=$restarts"
	echo "status=exited, exit code 2"
	echo "digest=$(cat "$state/containers/$name/digest")"
	;;
"create "*)
	shift
	mkdir -p "$state/new"
	while [ $# -gt 1 ]; do
		case $1 in
		--name) name=$2 ;;
		--label) echo "${2#*=}" >"$state/new/digest" ;;
		--publish) echo "${2%%:*}" >"$state/new/port" ;;
		--env) echo "$2" >>"$state/new/env" ;;
		--volume) ;;
		esac
		shift 2
	done
	[ -e "$state/images/$(file "$1")" ] || { echo "No such image: $1" >&2; exit 1; }
	mkdir -p "$state/containers"
	mv "$state/new" "$state/containers/$name"
	;;
"start "*)
	fault crash && exit 0
	container=$state/containers/$2
	(
		while read -r variable; do
			export "$(printf %s "$variable" | sed "s|/etc/private-registry/|/etc/private-registry/$2/|")"
		done <"$container/env"
		export STAND_IN_REGISTRY="127.0.0.1:$(cat "$container/port")"
		exec setsid /usr/local/sbin/registry-stand-in </dev/null >"$container/log" 2>&1 &
		echo $! >"$container/pid"
	)
	;;
"logs "*) if fault crash; then echo "panic: storage driver not registered: nothing"; else cat "$state/containers/$4/log"; fi ;;
"rm --force")
	if running "$3"; then
		kill "$(cat "$state/containers/$3/pid")"
		while running "$3"; do sleep 0.01; done
	fi
	rm -rf "$state/containers/$3"
	;;
*) echo "docker stand-in: $*" >&2; exit 1 ;;
esac
