package storetest

import "testing"

func testProcessStopped(t *testing.T, _ Backend) {
	t.Skip("a process cannot be stopped on Windows")
}
