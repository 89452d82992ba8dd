//go:build !linux

package sqlite

func fileSystemType(string) (int64, error) { return 0, nil }

// networkFileSystem is known on Linux only.
func networkFileSystem(string, func(string) (int64, error)) (string, error) { return "", nil }
