# Looks in the folder $1 for what the playbooks after $2 need, and prints the version of
# ansible-playbook, then a line for each thing that is missing. $2 is "passwords" when the
# inventory has some.
cd -- "$1" 2>/dev/null || { echo; echo "folder $1"; exit; }
folder=$1 passwords=$2
shift 2
find_ansible
if command -v ansible-playbook >/dev/null 2>&1; then
	said=$(ansible-playbook --version 2>&1) || { echo "$said" >&2; exit 1; }
	echo "$said" | sed -n '1s/^ansible-playbook \(\[core \)\{0,1\}\([^] ]*\).*/\2/p'
else
	echo
	echo "program ansible-playbook"
fi
if [ "$passwords" ]; then command -v sshpass >/dev/null 2>&1 || echo "program sshpass"; fi
command -v ssh >/dev/null 2>&1 || echo "program ssh"
for each; do
	[ -f "$each" ] && [ -r "$each" ] || echo "file $each"
done
