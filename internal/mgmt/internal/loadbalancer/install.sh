# Usage: install.sh PROGRAM ... Installs programs that are not there; each is the one of the Debian package of its name.
set -eu
PATH=$PATH:/usr/sbin
missing=
for program in "$@"; do
	command -v "$program" >/dev/null 2>&1 || missing="$missing $program"
done
if [ -z "$missing" ]; then exit 0; fi
. /etc/os-release
case " $ID ${ID_LIKE:-} " in
*" debian "* | *" ubuntu "*) ;;
*)
	echo "this is ${PRETTY_NAME:-$ID}:$missing can be installed on Debian and Ubuntu only; install it yourself, or give a script_path" >&2
	exit 1
	;;
esac
export DEBIAN_FRONTEND=noninteractive
apt-get -q -o DPkg::Lock::Timeout=300 update
# shellcheck disable=SC2086 # words of their own
apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends $missing
