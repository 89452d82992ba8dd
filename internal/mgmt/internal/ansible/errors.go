package ansible

import "fmt"

// Failure is a task that failed on a node.
type Failure struct {
	Node, Play, Task string
	// Message is the message of the module, and the end of the output of its program.
	Message string
	// Unreachable says that Ansible did not reach the node.
	Unreachable bool
}

func (f Failure) String() string {
	verb := "failed"
	if f.Unreachable {
		verb = "did not reach the node"
	}
	return fmt.Sprintf("node %s, play %q: task %q %s: %s", f.Node, f.Play, f.Task, verb, f.Message)
}

// PlaybookError is a playbook that failed.
type PlaybookError struct {
	// Host is the host of Ansible.
	Host, Playbook string
	// Status is the exit status of ansible-playbook.
	Status int
	// Failures are empty if the playbook could not start.
	Failures []Failure
	output   string
}

// failuresShown bounds the failures in an error: one cause often fails on many nodes.
const failuresShown = 5

func (e *PlaybookError) Error() string {
	text := fmt.Sprintf("playbook %s on %s failed", e.Playbook, e.Host)
	if len(e.Failures) == 0 {
		text += fmt.Sprintf(" with status %d of ansible-playbook", e.Status)
		if e.output != "" {
			text += ": " + e.output
		}
		return text
	}
	for i, f := range e.Failures {
		if i == failuresShown {
			return text + fmt.Sprintf("\nand on %d more nodes", len(e.Failures)-i)
		}
		text += "\n" + f.String()
	}
	return text
}
