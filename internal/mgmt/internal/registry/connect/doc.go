// Package connect connects the nodes of clusters to private registries: it
// configures the container runtimes there (containerd, Docker, CRI-O, several at once) with the
// address of each registry, its CA and the login.
//
// The files of a node are read first; connections are merged into files of others, and a record on the node
// says what is ours in them, so that connections can be changed and removed later. A service
// is touched only when something changed that it does not read by itself. Endpoint asks a registry, from a host, whether it answers.
package connect
