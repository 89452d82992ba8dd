//go:build !unix

package sqlite

// mayWrite returns why this user cannot make anything in a directory. Only the first write tells here.
func mayWrite(string) error { return nil }
