// Package runtimeregistries connects the nodes of clusters to private registries: whatever runs
// containers there (containerd, Docker, CRI-O, several at once) is told how each registry is
// spoken to, whom to trust and as whom to log in.
//
// What is on a node is read first; files of others are merged into, and a record on the node
// says what is ours in them, so that connections can be changed and removed later. A service
// is touched only when something changed that it does not read by itself.
package runtimeregistries
