// Package fielddiff says in a few words how two documents differ, field by field. A document is what YAML or JSON decodes to: maps,
// lists and scalars.
package fielddiff

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Diff describes each field that differs, in the order of their paths:
//
//	spec.template.spec.containers[amf].image: amf:1.4 -> amf:1.5
//	spec.replicas: added 3
//	spec.paused: removed, was true
//	data.amf.conf, line 3: log: info -> log: debug
//
// Elements of a list are named by a field that tells them apart, such as name, else counted from 0. A Secret is never shown, nor what the
// masks hide.
func Diff(old, now any, masks Masks) []string {
	d := &differ{masks: masks}
	same := func(text string) string { return text }
	if masks.Text == nil {
		d.masks.Text = same
	}
	if masks.Line == nil {
		d.masks.Line = same
	}
	if masks.Names == nil {
		d.masks.Names = func(string) bool { return false }
	}
	d.compare("", old, now)
	return d.lines
}

// Masks hide secrets. Each may be nil.
type Masks struct {
	// Text replaces known secrets in a whole text, since of a part it would know no secret.
	Text func(string) string
	// Line replaces secrets that are there by their names, such as password=x, in one line.
	Line func(string) string
	// Names reports whether what has this name is a secret.
	Names func(string) bool
}

// Secret stands in a document for a value that is not shown: a digest of it, or anything else that differs when the value does.
type Secret string

type differ struct {
	masks Masks
	lines []string
}

func (d *differ) say(path, format string, args ...any) {
	d.lines = append(d.lines, path+": "+fmt.Sprintf(format, args...))
}

func (d *differ) compare(path string, old, now any) {
	if Equal(old, now) {
		return
	}
	switch was := old.(type) {
	case Secret:
		if _, ok := now.(Secret); ok {
			d.say(path, "changed")
			return
		}
	case map[string]any:
		if is, ok := now.(map[string]any); ok {
			d.maps(path, was, is)
			return
		}
	case []any:
		if is, ok := now.([]any); ok {
			d.lists(path, was, is)
			return
		}
	case string:
		if is, ok := now.(string); ok {
			d.strings(path, was, is)
			return
		}
	}
	if d.hides(path, old) || d.hides(path, now) {
		d.say(path, "changed")
		return
	}
	was, is := d.short(old), d.short(now)
	if was == is {
		// "80" and 80, "null" and null.
		was, is = typed(was, old), typed(is, now)
	}
	d.say(path, "%s -> %s", was, is)
}

// typed tells a text from what it looks like.
func typed(short string, v any) string {
	if _, ok := v.(string); ok {
		return strconv.Quote(short)
	}
	return short
}

// strings compares two texts that differ.
func (d *differ) strings(path, old, now string) {
	was, is := d.masks.Text(old), d.masks.Text(now)
	switch {
	case was == is, d.secret(path):
		// They differ in secrets alone.
		d.say(path, "changed")
	case long(was) || long(is) || strings.TrimSuffix(was, "\n") == strings.TrimSuffix(is, "\n"):
		d.texts(path, was, is)
	default:
		d.line(path, was, is)
	}
}

// line compares two texts of one line that differ.
func (d *differ) line(path, old, now string) {
	was, is := d.masks.Line(old), d.masks.Line(now)
	if was == is {
		d.say(path, "changed")
		return
	}
	was, is = apart(was, is)
	d.say(path, "%s -> %s", shortText(was), shortText(is))
}

// apart leaves out what two texts begin with alike, where nothing that differs would be shown.
func apart(was, is string) (string, string) {
	const kept = 20
	same := 0
	for same < len(was) && same < len(is) && was[same] == is[same] {
		same++
	}
	if same < maxShort-kept || len(was) <= maxShort && len(is) <= maxShort {
		return was, is
	}
	from := same - kept
	for from > 0 && !utf8.RuneStart(was[from]) {
		from--
	}
	return "…" + was[from:], "…" + is[from:]
}

// secret reports whether what is at a path goes by the name of a secret: by the last field, or by the name of the element whose value it is,
// as in env[DB_PASSWORD].value.
func (d *differ) secret(path string) bool {
	if element, ok := strings.CutSuffix(path, "].value"); ok {
		return d.masks.Names(element[strings.LastIndexByte(element, '[')+1:])
	}
	return d.masks.Names(path[strings.LastIndexByte(path, '.')+1:])
}

func (d *differ) maps(path string, old, now map[string]any) {
	keys := slices.Collect(maps.Keys(old))
	for key := range now {
		if _, both := old[key]; !both {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		was, had := old[key]
		is, has := now[key]
		d.entry(join(path, key), was, had, is, has)
	}
}

// entry compares one member of a map or list, which may be on one side alone.
func (d *differ) entry(path string, old any, had bool, now any, has bool) {
	wasSecret, isSecret := d.hides(path, old), d.hides(path, now)
	if strings.HasSuffix(path, "metadata.labels") || strings.HasSuffix(path, "metadata.annotations") {
		// Of an object without any, each one is said as of others.
		was, is := fields(old), fields(now)
		if was != nil || is != nil {
			d.maps(path, was, is)
			return
		}
	}
	switch {
	case had && has:
		d.compare(path, old, now)
	case has && isSecret:
		d.say(path, "added")
	case has:
		d.say(path, "added %s", d.short(now))
	case wasSecret:
		d.say(path, "removed")
	default:
		d.say(path, "removed, was %s", d.short(old))
	}
}

// hides reports whether a value at a path is not shown.
func (d *differ) hides(path string, v any) bool {
	switch v.(type) {
	case Secret:
		return true
	case string:
		return d.secret(path)
	default:
		return false
	}
}

func fields(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// join adds a key to a path, quoted when it has spaces or brackets.
func join(path, key string) string {
	if strings.ContainsAny(key, "[] \"") {
		key = strconv.Quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// identities are the fields that tell elements of a list apart, in the order in which they are tried.
var identities = []string{"name", "key", "containerPort", "port", "mountPath", "devicePath", "path", "host", "hostname", "ip", "type", "id"}

func (d *differ) lists(path string, old, now []any) {
	if field := identity(old, now); field != "" {
		d.named(path, field, old, now)
		return
	}
	if scalars(old) && scalars(now) {
		was, is := d.short(old), d.short(now)
		if was != is {
			d.say(path, "%s -> %s", was, is)
			return
		}
	}
	for i := range max(len(old), len(now)) {
		at := fmt.Sprintf("%s[%d]", path, i)
		var was, is any
		if i < len(old) {
			was = old[i]
		}
		if i < len(now) {
			is = now[i]
		}
		if d.follows(old, i) || d.follows(now, i) {
			was, is = flagged(was), flagged(is)
		}
		d.entry(at, was, i < len(old), is, i < len(now))
	}
}

// identity is the first field that each element of both lists has and no two of one list share; empty for none.
func identity(lists ...[]any) string {
	for _, field := range identities {
		if !slices.ContainsFunc(lists, func(list []any) bool { return !tellsApart(field, list) }) {
			return field
		}
	}
	return ""
}

func tellsApart(field string, list []any) bool {
	seen := map[string]bool{}
	for _, element := range list {
		fields, ok := element.(map[string]any)
		if !ok || fields[field] == nil {
			return false
		}
		name := fmt.Sprint(fields[field])
		if seen[name] {
			return false
		}
		seen[name] = true
	}
	return true
}

func (d *differ) named(path, field string, old, now []any) {
	byName := func(list []any) (names []string, elements map[string]any) {
		elements = make(map[string]any, len(list))
		for _, element := range list {
			fields, _ := element.(map[string]any)
			name := fmt.Sprint(fields[field])
			names, elements[name] = append(names, name), element
		}
		return names, elements
	}
	oldNames, was := byName(old)
	newNames, is := byName(now)
	names := slices.Clone(oldNames)
	for _, name := range newNames {
		if _, both := was[name]; !both {
			names = append(names, name)
		}
	}
	for _, name := range names {
		before, had := was[name]
		after, has := is[name]
		d.entry(path+"["+name+"]", before, had, after, has)
	}
	if len(oldNames) == len(newNames) && !slices.Equal(oldNames, newNames) && slices.Equal(slices.Sorted(slices.Values(oldNames)), slices.Sorted(slices.Values(newNames))) {
		d.say(path, "in another order")
	}
}

// follows reports whether the element of a list of arguments is the value of the flag of a secret before it: --password x.
func (d *differ) follows(list []any, i int) bool {
	if i == 0 || i >= len(list) {
		return false
	}
	flag, ok := list[i-1].(string)
	return ok && strings.HasPrefix(flag, "-") && !strings.Contains(flag, "=") && d.masks.Names(flag)
}

// flagged is the value of a flag as a secret.
func flagged(v any) any {
	if text, ok := v.(string); ok {
		return Secret(text)
	}
	return v
}

func scalars(list []any) bool {
	return !slices.ContainsFunc(list, func(v any) bool {
		switch v.(type) {
		case map[string]any, []any:
			return true
		}
		return false
	})
}

// hidden stands for a value that is not shown.
const hidden = "a secret"

// maxShort is how many bytes of a value are shown.
const maxShort = 60

// long reports whether a text is better compared line by line.
func long(text string) bool { return strings.Contains(strings.TrimRight(text, "\n"), "\n") }

// short is a value on one line.
func (d *differ) short(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case Secret:
		return hidden
	case map[string]any:
		return "{" + cut(strings.Join(slices.Sorted(maps.Keys(v)), ", ")) + "}"
	case []any:
		switch {
		case scalars(v):
		case len(v) == 1:
			return "1 element"
		default:
			return fmt.Sprintf("%d elements", len(v))
		}
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = d.short(v[i])
			if d.follows(v, i) {
				parts[i] = hidden
			}
		}
		return "[" + cut(strings.Join(parts, ", ")) + "]"
	case string:
		lines := strings.Split(d.masks.Text(v), "\n")
		for i := range lines {
			lines[i] = d.masks.Line(lines[i])
		}
		return shortText(strings.Join(lines, "\n"))
	default:
		return cut(d.masks.Text(fmt.Sprint(v)))
	}
}

// shortText is a text on one line, without secrets.
func shortText(text string) string {
	text = strings.TrimSuffix(text, "\n")
	if text == "" || strings.TrimSpace(text) != text || long(text) {
		return cut(strconv.Quote(text))
	}
	return cut(text)
}

func cut(text string) string {
	if len(text) <= maxShort {
		return text
	}
	return strings.ToValidUTF8(text[:maxShort], "") + "…"
}
