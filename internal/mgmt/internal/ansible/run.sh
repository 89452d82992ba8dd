# Runs ansible-playbook in the folder $1, with the arguments after it, on a private folder
# that goes when it ends. write_files writes into it, $private.
umask 077
private=$(mktemp -d "${TMPDIR:-/tmp}/vnf-ansible.XXXXXX") || exit 1
leave() {
	# What ssh leaves in the background for the next task.
	for socket in "$private"/control/*; do
		[ -S "$socket" ] && ssh -O exit -o ControlPath="$socket" none 2>/dev/null
	done
	rm -rf -- "$private"
}
trap leave EXIT
trap 'exit 143' HUP INT TERM
write_files || exit 1
mkdir "$private/control" "$private/local" || exit 1
cd -- "$1" || exit 1
shift
find_ansible
# Ansible wants UTF-8.
[ "$(locale charmap 2>/dev/null)" = UTF-8 ] || export LC_ALL=C.UTF-8
export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
export ANSIBLE_STDOUT_CALLBACK=vnf_events ANSIBLE_CALLBACK_PLUGINS=$private
export ANSIBLE_NOCOLOR=1 ANSIBLE_FORCE_COLOR=0 ANSIBLE_RETRY_FILES_ENABLED=0 ANSIBLE_DISPLAY_ARGS_TO_STDOUT=0
export ANSIBLE_LOCAL_TEMP=$private/local ANSIBLE_SSH_CONTROL_PATH_DIR=$private/control
# ssh takes the first value of an option: no configuration goes before these.
export ANSIBLE_HOST_KEY_CHECKING=True
export ANSIBLE_SSH_ARGS="-o StrictHostKeyChecking=yes -o UserKnownHostsFile=$private/known_hosts -o GlobalKnownHostsFile=/dev/null -C -o ControlMaster=auto -o ControlPersist=60s"
ansible-playbook -e "@$private/vars.json" "$@" </dev/null
