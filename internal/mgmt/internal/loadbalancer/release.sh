# Takes away a virtual address that the load balancer had before.
config=/etc/keepalived/keepalived.conf
if [ -e "$config" ] && head -n 1 "$config" | grep -q '^# Written as a whole by the VNF manager'; then
	systemctl -q disable --now keepalived
	rm -f "$config" /etc/keepalived/check-haproxy
fi
