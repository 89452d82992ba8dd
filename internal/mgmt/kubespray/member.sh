# Usage: member.sh ADDRESS. Prints whether etcd has a member at an address: "member" or "none". Prints nothing where etcd
# cannot be asked.
PATH=$PATH:/usr/local/bin
export ETCDCTL_API=3 ETCDCTL_ENDPOINTS=https://127.0.0.1:2379
members=$(etcdctl.sh member list 2>/dev/null) || exit 0
[ "$members" ] || exit 0
case $members in
*"//$1:"*) echo member ;;
*) echo none ;;
esac
