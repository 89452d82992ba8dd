# find_ansible finds ansible-playbook in a virtual environment beside the playbooks, the
# folder we are in, or where a user installs it without being root.
find_ansible() {
	for each in "$HOME/.local" "$PWD/../kubespray-venv" "$PWD/.venv" "$PWD/venv"; do
		if [ -x "$each/bin/ansible-playbook" ]; then PATH=$each/bin:$PATH; fi
	done
	export PATH
}
