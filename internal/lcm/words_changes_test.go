package lcm

import "testing"

func TestSayConfiguration(t *testing.T) {
	const key = "vnf.nfv-iac.github.io/configuration"
	for line, want := range map[string]string{
		"spec.template.metadata.annotations." + key + ": a -> b":            "spec.template: reads other configuration",
		"spec.template.metadata.annotations: added {" + key + "}":           "spec.template: reads other configuration",
		"spec.template.metadata.annotations: removed, was {" + key + "}":    "spec.template: reads other configuration",
		"spec.template.metadata.annotations: added {checksum, " + key + "}": "spec.template.metadata.annotations: added {checksum, " + key + "}",
		"spec.template.metadata.annotations.checksum: a -> b":               "spec.template.metadata.annotations.checksum: a -> b",
		"data.config: " + key + " -> other":                                 "data.config: " + key + " -> other",
	} {
		if got := sayConfiguration(line); got != want {
			t.Errorf("sayConfiguration(%q) = %q, want %q", line, got, want)
		}
	}
}
