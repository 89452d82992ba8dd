package kube

import (
	"encoding/json"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

var (
	// quoting matches the beginning of a quoted value of a field, in messages about invalid values
	// and about values of another type than in the schema.
	quoting = lazyregexp.New(`(\S+): (?:Invalid|Unsupported|Duplicate) value: |(\S+): expected [^:"\n]*, got `)
	// fieldParts matches the names in the path of a field, and the keys in brackets.
	fieldParts = lazyregexp.New(`\[([^\]]*)\]|([^.\[\]]+)`)
	// objectKeys matches the keys of an object that a server quotes as JSON or in Go's format.
	objectKeys   = lazyregexp.New(`"([^"]+)"\s*:|(\w+):`)
	quotedText   = lazyregexp.New(`(?s)^"(?:[^"\\]|\\.)*"`)
	quotedScalar = lazyregexp.New(`^[^:\s\]]+`)
	privateKey   = lazyregexp.New(`-----BEGIN [A-Z ]*PRIVATE KEY`)
)

// cleanFields removes the values of fields that hold secrets from an answer. The path identifies
// such a field, because the kinds are not known in advance.
func cleanFields(s *metav1.Status) {
	var secrets []string
	ofSecret := strings.Contains(s.Message, `Secret "`)
	if s.Details != nil {
		for i := range s.Details.Causes {
			cause := &s.Details.Causes[i]
			var found []string
			// The message of a cause does not repeat the field, by which secrets are found.
			text := cleanText(cause.Field+": "+cause.Message, ofSecret, &found)
			cause.Message = strings.TrimPrefix(text, cause.Field+": ")
			secrets = append(secrets, found...)
		}
	}
	s.Message = cleanText(s.Message, ofSecret, &secrets)
	s.Message = vnfm.NewMask(secrets...).Hide(s.Message)
}

// cleanText redacts a text and appends the removed values to secrets. ofSecret is set if the text
// may be about a Secret.
func cleanText(text string, ofSecret bool, secrets *[]string) string {
	var out strings.Builder
	for {
		at := quoting.FindStringSubmatchIndex(text)
		if at == nil {
			out.WriteString(text)
			return out.String()
		}
		field := strings.TrimLeft(text[max(at[2], at[4]):max(at[3], at[5])], "[(")
		out.WriteString(text[:at[1]])
		text = text[at[1]:]
		value := quotedValue(text)
		secret := isSecretField(field) || holdsSecret(field, value) || ofSecret && strings.HasPrefix(strings.TrimPrefix(field, "."), "data")
		if value == "" || !secret {
			continue
		}
		out.WriteString(redacted)
		text = text[len(value):]
		if plain, err := strconv.Unquote(value); err == nil {
			value = plain
		}
		*secrets = append(*secrets, value)
	}
}

// quotedValue returns the value at the beginning of a text.
func quotedValue(text string) string {
	if value := quotedText.FindString(text); value != "" {
		return value
	}
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		decoder := json.NewDecoder(strings.NewReader(text))
		var value json.RawMessage
		if decoder.Decode(&value) == nil {
			return text[:decoder.InputOffset()]
		}
	}
	line, _, _ := strings.Cut(text, "\n")
	scalar := quotedScalar.FindString(line)
	if strings.ContainsAny(scalar, "{[") || scalar == "" {
		// The end of an object in Go's format is ambiguous: the last bracket of the line counts.
		return line[:strings.LastIndexAny(line, "}]")+1]
	}
	return scalar
}

// isSecretField reports whether the value of a field is a secret.
func isSecretField(field string) bool {
	last, environment := "", false
	for _, part := range fieldParts.FindAllStringSubmatch(field, -1) {
		name := part[2]
		if key := part[1]; key != "" {
			if _, err := strconv.Atoi(key); err == nil || strings.Contains(key, "=") {
				continue
			}
			name = strings.Trim(key, `"'`)
		}
		switch name {
		case "stringData":
			return true
		case "env":
			environment = true
		}
		last = name
	}
	switch last {
	case "value":
		return environment
	case "content", "userData":
		return true
	}
	return vnfm.NamesSecret(last)
}

// holdsSecret reports whether a value has a private key or is an object with a secret field.
func holdsSecret(field, value string) bool {
	if privateKey.MatchString(value) {
		return true
	}
	if strings.HasPrefix(value, `"`) || !strings.ContainsAny(value, "{[") {
		return false
	}
	for _, key := range objectKeys.FindAllStringSubmatch(value, -1) {
		name := key[1] + key[2]
		if isSecretField(name) || isSecretField(field+"."+name) || name == "data" {
			return true
		}
	}
	return false
}
