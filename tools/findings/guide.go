package main

import (
	"fmt"
	"slices"
	"strings"
)

// topics are the sections of the guide: folders below internal, the longest prefix counts.
var topics = []struct {
	title   string
	folders []string
}{
	{"Files, manifests and signatures of packages", []string{"csar", "lcm/catalog"}},
	{"Descriptors", []string{"vnfd"}},
	{"Heat templates", []string{"hot", "infra/heat"}},
	{"Kubernetes objects", []string{"infra/kubernetes", "kube"}},
	{"Helm charts", []string{"helm"}},
	{"OpenStack", []string{"openstack"}},
	{"Workload clusters", []string{"capi", "magnum"}},
	{"Management drivers and private registries", []string{"mgmt"}},
	{"Requests", []string{"lcm", "vnfm", "service"}},
}

const head = `---
page_title: "Findings in packages and requests"
description: |-
  The findings that the provider reports about a package, a template, a chart or an argument, with their remedies.
---

<!-- Written by tools/findings from the source; make generate does so. -->

# Findings in packages and requests

A finding is an error or a warning about one place of a package or of an argument. The detail of the message names that place, a file with line
and column or an argument, and says what to do. This page is for searching: it has the findings as the source has them, with ` + "`…`" + ` for
what differs. Where the second column is empty, the finding itself says what must be.

Other messages are in [Troubleshooting by message](troubleshooting.md).
`

// guide writes the findings as a page.
func guide(found []finding) string {
	var out strings.Builder
	out.WriteString(head)
	for _, topic := range topics {
		rows := map[string]string{}
		var order []string
		for _, f := range found {
			if topicOf(f.folder) != topic.title {
				continue
			}
			old, known := rows[f.summary]
			if !known {
				order = append(order, f.summary)
			}
			// The same finding may be made in several places.
			if len(f.detail) > len(old) {
				old = f.detail
			}
			rows[f.summary] = old
		}
		if len(order) == 0 {
			continue
		}
		slices.SortFunc(order, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
		fmt.Fprintf(&out, "\n## %s\n\n| finding | what to do |\n| --- | --- |\n", topic.title)
		for _, summary := range order {
			fmt.Fprintf(&out, "| `%s` | %s |\n", cell(summary), escaped(rows[summary]))
		}
	}
	return out.String()
}

// topicOf returns the title of the topic of a folder.
func topicOf(folder string) string {
	title, longest := "", 0
	for _, topic := range topics {
		for _, prefix := range topic.folders {
			if (folder == prefix || strings.HasPrefix(folder, prefix+"/")) && len(prefix) > longest {
				title, longest = topic.title, len(prefix)
			}
		}
	}
	return title
}

func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "`", "'").Replace(text)
}

// escaped writes a text so that Markdown shows it as it is.
func escaped(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "{", "&#123;", "$", "&#36;").Replace(text)
}
