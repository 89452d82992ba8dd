#!/bin/sh
# Asks GitHub for an OIDC token of this job for one of the clusters, and prints it as a Kubernetes client expects it of a
# credential plugin. Such a token lives for minutes: a long apply runs this again. The authorization is read from standard input,
# so that it is on no command line.
set -eu
answer=$(printf 'header = "Authorization: bearer %s"\n' "$ACTIONS_ID_TOKEN_REQUEST_TOKEN" |
  curl --silent --show-error --fail --config - "$ACTIONS_ID_TOKEN_REQUEST_URL&audience=$1")
token=$(printf '%s' "$answer" | sed -n 's/.*"value" *: *"\([^"]*\)".*/\1/p')
printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s"}}\n' "$token"
