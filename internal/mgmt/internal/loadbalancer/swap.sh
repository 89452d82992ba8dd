# Usage: swap.sh NEW PORT. A configuration that HAProxy does not take never replaces the one in place.
set -eu
PATH=$PATH:/usr/sbin
haproxy -c -q -f "$1"
mv -f "$1" /etc/haproxy/haproxy.cfg
if systemctl -q is-active haproxy && systemctl reload haproxy; then :; else start_haproxy; fi
await_port "$2"
