//go:build !linux

package helper

// limitMemory does nothing: other systems do not limit the memory of a process in a way that the runtime of Go stands.
func limitMemory(int64) {}
