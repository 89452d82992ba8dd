# Usage: keep.sh PORT. Starts HAProxy when it is stopped.
set -eu
if ! systemctl -q is-active haproxy; then start_haproxy; fi
if ! ss -Hltn "sport = :$1" | grep -q .; then systemctl restart haproxy || failed "does not start"; fi
await_port "$1"
