package main

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// topic is a section of the guide: folders below internal, the longest prefix counts.
type topic struct {
	title   string
	folders []string
	// parts are the sub-sections of a long one.
	parts []chapter
}

// chapter is a sub-section: the findings whose summary matches, else those of files.
type chapter struct {
	title string
	about *regexp.Regexp
	files []string
}

var topics = []topic{
	{title: "Files, manifests and signatures of packages", folders: []string{"csar", "lcm/catalog", "command/packages"}},
	{title: "Descriptors", folders: []string{"vnfd"}, parts: descriptors},
	{title: "YAML and JSON files", folders: []string{"yamlpos"}},
	{title: "Heat templates", folders: []string{"hot", "infra/heat"}},
	{title: "Kubernetes objects", folders: []string{"infra/kubernetes", "kube", "manifests"}},
	{title: "Helm charts", folders: []string{"helm"}},
	{title: "OpenStack", folders: []string{"openstack"}},
	{title: "Workload clusters", folders: []string{"capi", "magnum"}},
	{title: "Management drivers and private registries", folders: []string{"mgmt"}},
	{title: "Requests", folders: []string{"lcm", "vnfm", "service"}},
}

// descriptors are the sub-sections about a VNFD. Where a finding is about two parts, the first of these has it.
var descriptors = []chapter{
	{
		title: "Files and imports", about: regexp.MustCompile(`^(the topology_template|no import)`),
		files: []string{"artifact.go", "document.go", "foreign.go", "imports.go", "read.go"},
	},
	{
		title: "Types", about: regexp.MustCompile(`^the type |has no type$|valid_values`),
		files: []string{"known.go", "types.go"},
	},
	{
		title: "Values", about: regexp.MustCompile(`^(…|imports|topology_template):? (an .*)?must be`),
		files: []string{"interface.go", "scalar.go", "value.go"},
	},
	{
		title: "Policies", about: regexp.MustCompile(`^the policy|^no .* policy`),
		files: []string{"policy.go"},
	},
	{
		title: "VDUs, containers and storages", about: regexp.MustCompile(`^the (VDUs?|container) `),
		files: []string{"compute.go", "config.go", "container.go", "legacy.go", "vdu.go", "workload.go"},
	},
	{
		title: "Connection points and virtual links", about: regexp.MustCompile(`^the connection point`),
		files: []string{"network.go", "port.go"},
	},
	{title: "Helm charts of a VNFD", files: []string{"mciop.go"}},
	{
		title: "Scaling aspects and instantiation levels", about: regexp.MustCompile(`scal(ing aspect|e[ _]level)|instantiation level`),
		files: []string{"check.go", "counts.go"},
	},
	{
		title: "VNF node and deployment flavours", about: regexp.MustCompile(`deployment flavour`),
		files: []string{"template.go"},
	},
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
what differs. Where the second column is empty, the finding itself says what must be, or what is done instead.

[Writing packages](writing-packages.md) shows how a package is made. Other messages are in [Troubleshooting by message](troubleshooting.md).
`

// guide writes the findings as a page.
func guide(found []finding) string {
	var out strings.Builder
	out.WriteString(head)
	for _, t := range topics {
		var own []finding
		for _, f := range found {
			if topicOf(f.folder) == t.title {
				own = append(own, f)
			}
		}
		if len(own) == 0 {
			continue
		}
		fmt.Fprintf(&out, "\n## %s\n", t.title)
		if len(t.parts) == 0 {
			table(&out, own)
		}
		for _, part := range t.parts {
			rows := slices.DeleteFunc(slices.Clone(own), func(f finding) bool { return chapterOf(t.parts, f) != part.title })
			if len(rows) > 0 {
				fmt.Fprintf(&out, "\n### %s\n", part.title)
				table(&out, rows)
			}
		}
	}
	return out.String()
}

// table writes findings in alphabetic order, each once.
func table(out *strings.Builder, found []finding) {
	rows := map[string]string{}
	for _, f := range found {
		// The same finding may be made in several places.
		if old, known := rows[f.summary]; !known || len(f.detail) > len(old) {
			rows[f.summary] = f.detail
		}
	}
	order := slices.SortedFunc(maps.Keys(rows), func(a, b string) int {
		return cmp.Or(strings.Compare(strings.ToLower(a), strings.ToLower(b)), strings.Compare(a, b))
	})
	out.WriteString("\n| finding | what to do |\n| --- | --- |\n")
	for _, summary := range order {
		fmt.Fprintf(out, "| `%s` | %s |\n", cell(summary), escaped(rows[summary]))
	}
}

// chapterOf returns the title of the sub-section of a finding.
func chapterOf(parts []chapter, f finding) string {
	at := slices.IndexFunc(parts, func(c chapter) bool { return c.about != nil && c.about.MatchString(f.summary) })
	if at < 0 {
		at = slices.IndexFunc(parts, func(c chapter) bool { return slices.Contains(c.files, f.file) })
	}
	if at < 0 {
		return parts[len(parts)-1].title
	}
	return parts[at].title
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
