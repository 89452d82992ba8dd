# install_packages SECONDS PACKAGE... installs packages of the distribution. It waits for another apt, such as that of cloud-init.
install_packages() {
  patience=$1
  shift
  export DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1
  until_free dpkg --configure -a || return 1
  until_free apt-get -q update || echo "the package lists could not be updated" >&2
  # One that ends in a question mark is a package of its own in some releases only.
  chosen=''
  for package in "$@"; do
    case $package in
    *\?) package=${package%?}; apt-cache show "$package" >/dev/null 2>&1 || continue ;;
    esac
    chosen="$chosen $package"
  done
  # Names of packages have no spaces.
  # shellcheck disable=SC2086
  until_free apt-get -q -y --no-install-recommends \
    -o "DPkg::Lock::Timeout=$patience" -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold install $chosen
}

# until_free COMMAND... tries again while another program holds a lock of the packages.
until_free() {
  tried=0
  while :; do
    said=$("$@" 2>&1) && { printf '%s\n' "$said"; return 0; }
    case $said in
    *'Could not get lock'* | *'Unable to lock'* | *'Unable to acquire'* | *'locked by another process'*) ;;
    *) printf '%s\n' "$said" >&2; return 1 ;;
    esac
    if [ "$tried" -ge "$patience" ]; then
      printf '%s\n' "$said" >&2
      return 1
    fi
    sleep 1
    tried=$((tried + 1))
  done
}
