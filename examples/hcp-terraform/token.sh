#!/bin/sh
# Prints the workload identity token of this run for one of the clusters, as a Kubernetes client expects it of a credential plugin.
set -eu
case $1 in
store) token=$TFC_WORKLOAD_IDENTITY_TOKEN_STORE ;;
edge) token=$TFC_WORKLOAD_IDENTITY_TOKEN_EDGE ;;
esac
printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s"}}\n' "$token"
