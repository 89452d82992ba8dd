package main

import (
	"slices"
	"strings"
	"testing"
)

// The output of a test binary with two parallel tests, a subtest that fails, output without a line end and a panic.
const output = "\x16=== RUN   TestA\n\x16=== PAUSE TestA\n\x16=== RUN   TestB\nfrom b\n\x16=== RUN   TestB/inner\n" +
	"    b_test.go:7: \x0ewrong\x0f\nno end\x16--- FAIL: TestB/inner (0.50s)\n\x16--- FAIL: TestB (1.25s)\n" +
	"\x16=== CONT  TestA\nfrom a\n\x16--- PASS: TestA (0.01s)\n\x16=== RUN   TestC\n    c_test.go:3: not here\n" +
	"\x16--- SKIP: TestC (0.00s)\n\x16=== RUN   TestD\npanic: oh\n"

func TestReader(t *testing.T) {
	r := newReader()
	if err := r.read(strings.NewReader(output)); err != nil {
		t.Fatal(err)
	}
	r.finish()
	want := map[string]string{"TestA": passed, "TestB": failed, "TestB/inner": failed, "TestC": skipped, "TestD": failed}
	for name, outcome := range want {
		if got := r.results[name].outcome; got != outcome {
			t.Errorf("%s: got %q, want %q", name, got, outcome)
		}
	}
	if len(r.results) != len(want) {
		t.Errorf("got %d results, want %d", len(r.results), len(want))
	}
	failures := r.failures()
	slices.Sort(failures)
	if !slices.Equal(failures, []string{"TestB/inner", "TestD"}) {
		t.Errorf("failures: %v", failures)
	}
	for name, text := range map[string]string{"TestA": "from a\n", "TestB": "from b\n", "TestB/inner": "    b_test.go:7: wrong\nno end\n", "TestD": "panic: oh\n"} {
		if got := r.output[name].String(); got != text {
			t.Errorf("output of %s: %q, want %q", name, got, text)
		}
	}
	if got := r.results["TestB"].elapsed.Seconds(); got != 1.25 {
		t.Errorf("TestB took %v s, want 1.25", got)
	}
}

func TestBatches(t *testing.T) {
	var packages []*testPackage
	for _, path := range []string{"a/kube", "b/kube", "b/csar", "c/kube"} {
		packages = append(packages, &testPackage{path: path})
	}
	var got []string
	for _, batch := range batches(packages) {
		var names []string
		for _, p := range batch {
			names = append(names, p.path)
		}
		got = append(got, strings.Join(names, "+"))
	}
	if want := []string{"a/kube+b/csar", "b/kube", "c/kube"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
