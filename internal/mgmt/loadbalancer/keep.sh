# Usage: keep.sh PORT. Starts HAProxy when it is stopped.
set -eu
systemctl -q enable haproxy
if ! systemctl -q is-active haproxy; then systemctl start haproxy; fi
if ! ss -Hltn "sport = :$1" | grep -q .; then systemctl restart haproxy; fi
