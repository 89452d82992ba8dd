package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// repository is where the source of a release is.
const repository = "https://github.com/nfv-iac/terraform-provider-vnf"

// build says what was built.
type build struct {
	version, commit, ref string
}

// statement is an attestation of the in-toto framework, v1 (https://in-toto.io/Statement/v1), with a predicate of SLSA v1.
type statement struct {
	Type          string    `json:"_type"`
	Subject       []subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     predicate `json:"predicate"`
}

type subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

type predicate struct {
	BuildDefinition struct {
		BuildType            string            `json:"buildType"`
		ExternalParameters   map[string]string `json:"externalParameters"`
		InternalParameters   map[string]string `json:"internalParameters"`
		ResolvedDependencies []resource        `json:"resolvedDependencies,omitempty"`
	} `json:"buildDefinition"`
	RunDetails struct {
		Builder struct {
			ID string `json:"id"`
		} `json:"builder"`
		Metadata struct {
			InvocationID string `json:"invocationId,omitempty"`
		} `json:"metadata"`
	} `json:"runDetails"`
}

type resource struct {
	URI    string            `json:"uri"`
	Digest map[string]string `json:"digest"`
}

// writeProvenance writes the statement of how the files in a list of checksums were built.
func writeProvenance(checksums, path string, b build) error {
	list, err := os.ReadFile(checksums)
	if err != nil {
		return err
	}
	subjects, err := readChecksums(list)
	if err != nil {
		return fmt.Errorf("%s: %w", checksums, err)
	}
	text, err := json.MarshalIndent(provenance(subjects, b, os.Getenv), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), published)
}

// readChecksums reads the output of sha256sum.
func readChecksums(list []byte) ([]subject, error) {
	var out []subject
	lines := bufio.NewScanner(bytes.NewReader(list))
	for lines.Scan() {
		sum, name, found := strings.Cut(lines.Text(), "  ")
		if raw, err := hex.DecodeString(sum); !found || name == "" || err != nil || len(raw) != 32 {
			return nil, fmt.Errorf("line %d is no SHA-256 checksum with a name: %q", len(out)+1, lines.Text())
		}
		out = append(out, subject{Name: name, Digest: map[string]string{"sha256": sum}})
	}
	return out, lines.Err()
}

// provenance describes a build; getenv has the variables of GitHub Actions where that is the builder.
func provenance(subjects []subject, b build, getenv func(string) string) statement {
	s := statement{Type: "https://in-toto.io/Statement/v1", Subject: subjects, PredicateType: "https://slsa.dev/provenance/v1"}
	source := "git+" + repository
	if b.ref != "" {
		source += "@refs/tags/" + b.ref
	}
	d := &s.Predicate.BuildDefinition
	d.BuildType = repository + "/blob/main/.goreleaser.yml"
	d.ExternalParameters = map[string]string{"source": source, "version": b.version}
	d.InternalParameters = map[string]string{"go": runtime.Version()}
	if b.commit != "" {
		d.ResolvedDependencies = []resource{{URI: source, Digest: map[string]string{"gitCommit": b.commit}}}
	}
	r := &s.Predicate.RunDetails
	r.Builder.ID = repository + "/local"
	if workflow := getenv("GITHUB_WORKFLOW_REF"); workflow != "" {
		r.Builder.ID = getenv("GITHUB_SERVER_URL") + "/" + workflow
		r.Metadata.InvocationID = getenv("GITHUB_SERVER_URL") + "/" + getenv("GITHUB_REPOSITORY") + "/actions/runs/" + getenv("GITHUB_RUN_ID")
	}
	return s
}
