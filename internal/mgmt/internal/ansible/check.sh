# Looks in the folder $1 for what the playbooks after $4 need, and prints the version of
# ansible-playbook, then a line for each thing that is missing. $2 is "passwords" when the
# inventory has some; $3 are collections of Ansible and $4 modules of Python.
cd -- "$1" 2>/dev/null || { echo; echo "folder $1"; exit; }
passwords=$2 collections=$3 modules=$4
shift 4
find_ansible
if command -v ansible-playbook >/dev/null 2>&1; then
	said=$(ansible-playbook --version 2>&1) || { echo "$said" >&2; exit 1; }
	echo "$said" | sed -n '1s/^ansible-playbook \(\[core \)\{0,1\}\([^] ]*\).*/\2/p'
	python=$(sed -n '1s/^#! *//p' "$(command -v ansible-playbook)")
	case $python in
	*python*) $python - "$collections" "$modules" <<'X' ;;
import importlib.util, os, sys
from ansible import constants

folders = [os.path.expanduser(p) for p in constants.config.get_config_value("COLLECTIONS_PATHS")] + sys.path
for name in sys.argv[1].split():
    if not any(os.path.isdir(os.path.join(f, "ansible_collections", *name.split("."))) for f in folders):
        print("collection " + name)
for name in sys.argv[2].split():
    if importlib.util.find_spec(name) is None:
        print("module " + name)
X
	esac
else
	echo
	echo "program ansible-playbook"
fi
if [ "$passwords" ]; then command -v sshpass >/dev/null 2>&1 || echo "program sshpass"; fi
command -v ssh >/dev/null 2>&1 || echo "program ssh"
for each; do
	[ -f "$each" ] && [ -r "$each" ] || echo "file $each"
done
