# Runs ansible-playbook in the folder $1, with the arguments after $3, on a private folder
# that goes when it ends. write_files writes into it, $private. $2 is the folder of the fact
# cache; with "keep" as $3 it is emptied first and stays, with "last" it goes at the end. An
# empty one is a folder in the private one.
umask 077
private=$(mktemp -d "${TMPDIR:-/tmp}/vnf-ansible.XXXXXX") || exit 1
leave() {
	# What ssh leaves in the background for the next task.
	for socket in "$private"/control/*; do
		[ -S "$socket" ] && ssh -O exit -o ControlPath="$socket" none 2>/dev/null
	done
	rm -rf -- "$private"
	[ "$left" ] && rm -rf -- "$left"
}
left=
trap leave EXIT
trap 'exit 143' HUP INT TERM
write_files || exit 1
mkdir "$private/control" "$private/local" || exit 1
facts=${2:-$private/facts}
case $3 in
keep) rm -rf -- "$facts" ;;
last) left=$facts ;;
esac
mkdir -p -- "$facts" || exit 1
cd -- "$1" || exit 1
shift 3
find_ansible
# Ansible wants UTF-8.
[ "$(locale charmap 2>/dev/null)" = UTF-8 ] || export LC_ALL=C.UTF-8
export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
export ANSIBLE_STDOUT_CALLBACK=vnf_events ANSIBLE_CALLBACK_PLUGINS=$private
export ANSIBLE_NOCOLOR=1 ANSIBLE_FORCE_COLOR=0 ANSIBLE_RETRY_FILES_ENABLED=0 ANSIBLE_DISPLAY_ARGS_TO_STDOUT=0
export ANSIBLE_LOCAL_TEMP=$private/local ANSIBLE_SSH_CONTROL_PATH_DIR=$private/control
# A cache that others write, such as that of kubespray's ansible.cfg in /tmp, has facts of other nodes by the same names.
export ANSIBLE_CACHE_PLUGIN=jsonfile ANSIBLE_CACHE_PLUGIN_CONNECTION=$facts ANSIBLE_CACHE_PLUGIN_PREFIX= ANSIBLE_CACHE_PLUGIN_TIMEOUT=86400
# ssh takes the first value of an option: no configuration goes before these.
export ANSIBLE_HOST_KEY_CHECKING=True
export ANSIBLE_SSH_ARGS="-o StrictHostKeyChecking=yes -o UserKnownHostsFile=$private/known_hosts -o GlobalKnownHostsFile=/dev/null -C -o ControlMaster=auto -o ControlPersist=60s"
ansible-playbook -e "@$private/vars.json" "$@" </dev/null
