package headstart

import "testing"

// TestBegin works ahead for a plugin, and for no other process: commands and helpers need no key.
func TestBegin(t *testing.T) {
	if begin("") != nil {
		t.Error("work has begun without a certificate")
	}
	done := begin("certificate")
	if done == nil {
		t.Fatal("nothing has begun for a plugin")
	}
	<-done
}
