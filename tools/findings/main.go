// Command findings writes the guide that lists the findings in packages and requests, from the source of the provider.
// Usage: findings ROOT. It prints the guide, or the findings that do not say what to do.
package main

import (
	"fmt"
	"os"
	"slices"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: findings ROOT")
		os.Exit(2)
	}
	found, err := read(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if lost := slices.DeleteFunc(slices.Clone(found), func(f finding) bool { return topicOf(f.folder) != "" }); len(lost) > 0 {
		fmt.Fprintf(os.Stderr, "%s: the finding %q is in no section: name its folder in topics\n", lost[0].at, lost[0].summary)
		os.Exit(1)
	}
	if missing := withoutRemedy(found); len(missing) > 0 {
		for _, f := range missing {
			fmt.Fprintf(os.Stderr, "%s: the finding %q does not say what to do: give it a detail, or a comment %sbefore it\n", f.at, f.summary, says)
		}
		os.Exit(1)
	}
	fmt.Print(guide(found))
}
