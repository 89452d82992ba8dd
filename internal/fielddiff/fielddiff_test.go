package fielddiff

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

func decode(t *testing.T, text string) any {
	t.Helper()
	var out any
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

var byName = regexp.MustCompile(`(password( = |: |=))[^ &]+`)

func TestDiff(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a: b\n", 500)
	for name, tc := range map[string]struct {
		old, new string
		mask     func(string) string
		want     []string
	}{
		"equal":   {old: "{a: [1, {b: c}]}", new: "{a: [1, {b: c}]}"},
		"scalars": {old: "{a: 1, b: x, c: true}", new: "{a: 2, b: y, d: null}", want: []string{"a: 1 -> 2", "b: x -> y", "c: removed, was true", "d: added null"}},
		"kinds":   {old: "{a: 1, b: [1]}", new: "{a: {x: 1, y: 2}, b: one}", want: []string{"a: 1 -> {x, y}", "b: [1] -> one"}},
		"containers": {
			old:  "{spec: {containers: [{name: amf, image: 'amf:1.4', ports: [{containerPort: 80}]}, {name: log, image: log}]}}",
			new:  "{spec: {containers: [{name: amf, image: 'amf:1.5', ports: [{containerPort: 80}, {containerPort: 81, name: x}]}, {name: side, image: side}]}}",
			want: []string{"spec.containers[amf].image: amf:1.4 -> amf:1.5", "spec.containers[amf].ports[81]: added {containerPort, name}", "spec.containers[log]: removed, was {image, name}", "spec.containers[side]: added {image, name}"},
		},
		"another order": {old: "[{name: a}, {name: b}]", new: "[{name: b}, {name: a}]", want: []string{": in another order"}},
		"list of texts": {old: "{args: [a, b]}", new: "{args: [a, c, d]}", want: []string{"args: [a, b] -> [a, c, d]"}},
		"no names":      {old: "{rules: [{verbs: [get]}, {verbs: [list]}]}", new: "{rules: [{verbs: [get, watch]}]}", want: []string{"rules[0].verbs: [get] -> [get, watch]", "rules[1]: removed, was {verbs}"}},
		"text": {
			old:  "{data: {amf.conf: \"one\\nlog: info\\nthree\\n\"}}",
			new:  "{data: {amf.conf: \"one\\nlog: debug\\nthree\\nfour\\n\"}}",
			want: []string{"data.amf.conf, line 2: log: info -> log: debug", "data.amf.conf, line 4: added four"},
		},
		"text that is removed": {old: "{a: \"1\\n2\\n3\\n\"}", new: "{a: \"1\\n3\\n\"}", want: []string{"a, line 2: removed, was 2"}},
		"many lines":           {old: "{a: \"1\\n2\\n3\\n4\\n5\\n\"}", new: "{a: \"a\\nb\\nc\\nd\\ne\\n\"}", want: []string{"a, line 1: 1 -> a", "a, line 2: 2 -> b", "a, line 3: 3 -> c", "a: and 2 more changed lines"}},
		"end of line":          {old: "{a: \"1\\n2\\n\"}", new: "{a: \"1\\n2\"}", want: []string{"a: the end of its last line"}},
		"odd keys":             {old: "{'a b': 1, 'c.d': 1}", new: "{'a b': 2, 'c.d': 2}", want: []string{`"a b": 1 -> 2`, "c.d: 1 -> 2"}},
		"secrets inside of texts": {
			old:  "{same: 'x secret-1 y', other: 'secret-1 a', args: [secret-1, b], text: \"a\\nsecret-1\\nb\\n\"}",
			new:  "{same: 'x secret-2 y', other: 'secret-2 b', args: [secret-2, c], text: \"a\\nsecret-2\\nc\\n\", more: secret-1}",
			mask: strings.NewReplacer("secret-1", "***", "secret-2", "***").Replace,
			want: []string{"args: [***, b] -> [***, c]", "more: added ***", "other: *** a -> *** b", "same: changed", "text, line 3: b -> c"},
		},
		"secrets by name": {
			old: "{env: [{name: DB_PASSWORD, value: p-1}, {name: N, value: '1'}], args: [--v=1, --password=p-1, --password, p-1], root.password: p-1, url: 'http://password=p-1&a=1', conf: \"a: 1\\npassword = p-1\\nb: 1\\n\"}",
			new: "{env: [{name: DB_PASSWORD, value: p-2}, {name: N, value: '2'}], args: [--v=1, --password=p-2, --password, p-2], root.password: p-2, url: 'http://password=p-2&a=2', conf: \"a: 1\\npassword = p-2\\nb: 2\\npassword: p-2\\n\", more: {password: p}, password: p-2}",
			want: []string{
				"args[1]: changed", "args[3]: changed", "conf, line 2: changed", "conf, line 3: b: 1 -> b: 2", "conf, line 4: added password: ***",
				"env[DB_PASSWORD].value: changed", "env[N].value: 1 -> 2", "more: added {password}", "password: added", "root.password: changed", "url: http://password=***&a=1 -> http://password=***&a=2",
			},
		},
		"other kinds of the same look": {
			old: "{a: '80', b: null, c: [1, x], d: true}", new: "{a: 80, b: 'null', c: ['1', x], d: 'true'}",
			want: []string{`a: "80" -> 80`, `b: null -> "null"`, `c[0]: 1 -> "1"`, `d: true -> "true"`},
		},
		"a long beginning that is the same": {
			old:  "{image: registry.example.com/network-functions/production/core5g/amf:1.4.0-build.7, list: [" + strings.Repeat("y", 100) + ", a]}",
			new:  "{image: registry.example.com/network-functions/production/core5g/amf:1.4.0-build.8, list: [" + strings.Repeat("y", 100) + ", b]}",
			want: []string{"image: …e5g/amf:1.4.0-build.7 -> …e5g/amf:1.4.0-build.8", "list[1]: a -> b"},
		},
		"the first labels": {
			old: "{metadata: {name: a, annotations: {x/y: z}}}", new: "{metadata: {name: a, labels: {a: b, c: d}}}",
			want: []string{"metadata.annotations.x/y: removed, was z", "metadata.labels.a: added b", "metadata.labels.c: added d"},
		},
		"long values": {old: "{a: x}", new: "{a: " + strings.Repeat("y", 100) + "}", want: []string{"a: x -> " + strings.Repeat("y", maxShort) + "…"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, Diff(decode(t, tc.old), decode(t, tc.new), Masks{Text: tc.mask, Line: func(line string) string { return byName.ReplaceAllString(line, "$1***") }, Names: func(name string) bool { return strings.HasSuffix(strings.ToLower(name), "password") }})); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	was, is := map[string]any{"old": Secret("x"), "both": Secret("x"), "same": Secret("x")}, map[string]any{"new": Secret("y"), "both": Secret("y"), "same": Secret("x")}
	if diff := cmp.Diff([]string{"both: changed", "new: added", "old: removed"}, Diff(was, is, Masks{})); diff != "" {
		t.Errorf("secrets: -want +got:\n%s", diff)
	}
	got := Diff(map[string]any{"a": long}, map[string]any{"a": strings.ReplaceAll(long, "a", "c")}, Masks{})
	if want := []string{"a: 500 lines replaced by 500, from line 1"}; !cmp.Equal(want, got) {
		t.Errorf("got %v, want %v", got, want)
	}
}
