# Makes a folder that nobody else can look into, and prints its name. Folders of the instance
# $1 are of runs that were killed: an instance has one operation at a time. What starts this
# script has a function called find.
umask 077
within=${TMPDIR:-/tmp}
find "$within" -maxdepth 1 -user "$(id -u)" -type d -name "vnf-playbook.$1.*" -exec rm -rf -- {} + || exit 1
mktemp -d "$within/vnf-playbook.$1.XXXXXX"
