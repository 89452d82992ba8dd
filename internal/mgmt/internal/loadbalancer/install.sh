set -eu
if command -v haproxy >/dev/null 2>&1 || [ -x /usr/sbin/haproxy ]; then exit 0; fi
. /etc/os-release
case " $ID ${ID_LIKE:-} " in
*" debian "* | *" ubuntu "*) ;;
*)
	echo "this is ${PRETTY_NAME:-$ID}: HAProxy can be installed on Debian and Ubuntu only; install it yourself, or give a script_path" >&2
	exit 1
	;;
esac
export DEBIAN_FRONTEND=noninteractive
apt-get -q -o DPkg::Lock::Timeout=300 update
apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends haproxy
