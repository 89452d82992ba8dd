# Usage: keepalived.sh [NEW]. Puts a new configuration in place, and starts keepalived when it is stopped. A configuration that
# keepalived does not take never replaces the one in place.
set -eu
PATH=$PATH:/usr/sbin
failed() {
	echo "keepalived $1: $(journalctl -q -n 8 --no-pager -o cat -u keepalived 2>&1)" >&2
	exit 1
}
if [ $# -gt 0 ]; then
	keepalived -t -f "$1"
	mv -f "$1" /etc/keepalived/keepalived.conf
	if systemctl -q is-active keepalived; then systemctl reload keepalived || failed "does not reload"; fi
fi
if ! systemctl -q is-active keepalived; then
	systemctl -q enable keepalived
	# It may have been tried too often.
	systemctl -q reset-failed keepalived 2>/dev/null || true
	systemctl start keepalived || failed "does not start"
fi
