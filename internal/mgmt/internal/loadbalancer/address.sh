# Usage: address.sh ADDRESS. Prints the interfaces that have an address; none is no error.
PATH=$PATH:/usr/sbin:/sbin
ip -o address show to "$1"
