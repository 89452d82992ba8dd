# Usage: services.sh KUBECONFIG. Prints Service, node port and protocol of each port of a Service that nodes have, one a line.
PATH=$PATH:/usr/local/bin
export KUBECONFIG="$1"
exec kubectl --request-timeout=30s get services --all-namespaces --output 'go-template={{range .items}}{{$name := printf "%s/%s" .metadata.namespace .metadata.name}}{{range .spec.ports}}{{if .nodePort}}{{printf "%s %v %s\n" $name .nodePort .protocol}}{{end}}{{end}}{{end}}'
