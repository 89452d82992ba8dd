package tracing

import (
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
)

// The variables of the OpenTelemetry specification that decide whether and where spans are sent. All others are read by its SDK.
const (
	envDisabled   = "OTEL_SDK_DISABLED"
	envExporter   = "OTEL_TRACES_EXPORTER"
	envParent     = "TRACEPARENT"
	envState      = "TRACESTATE"
	envSampler    = "OTEL_TRACES_SAMPLER"
	envSamplerArg = "OTEL_TRACES_SAMPLER_ARG"

	// signal and general begin the variables of the exporter; those of the signal win.
	signal  = "OTEL_EXPORTER_OTLP_TRACES_"
	general = "OTEL_EXPORTER_OTLP_"
)

const (
	protocolHTTP = "http/protobuf"
	protocolGRPC = "grpc"
)

// settings are what the environment says.
type settings struct {
	on       bool
	protocol string
	// problems are sentences about variables that cannot be used. They have no values: those of headers are secrets.
	problems []string
}

// of returns a variable of the exporter and its name.
func of(name string) (value, variable string) {
	for _, variable = range []string{signal + name, general + name} {
		if value = strings.TrimSpace(os.Getenv(variable)); value != "" {
			return value, variable
		}
	}
	return "", ""
}

// readEnvironment reads the variables. Without one that names an exporter or an endpoint nothing is sent.
func readEnvironment() settings {
	s := settings{protocol: protocolHTTP}
	if strings.EqualFold(strings.TrimSpace(os.Getenv(envDisabled)), "true") {
		return s
	}
	address, endpointVariable := of("ENDPOINT")
	exporter := strings.ToLower(strings.TrimSpace(os.Getenv(envExporter)))
	switch {
	case exporter == "otlp" || exporter == "" && address != "":
		s.on = true
	case exporter != "" && exporter != "none":
		s.problem(envExporter, "has an exporter that does not exist here: it can be otlp or none; nothing is traced")
	}
	if !s.on {
		return s
	}
	if u, err := url.Parse(address); address != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		s.problem(endpointVariable, "is not an http or https URL with a host; nothing is traced")
		s.on = false
		return s
	}
	switch protocol, variable := of("PROTOCOL"); protocol {
	case "":
	case protocolHTTP, protocolGRPC:
		s.protocol = protocol
	default:
		s.problem(variable, "is neither "+protocolHTTP+" nor "+protocolGRPC+"; nothing is traced")
		s.on = false
		return s
	}
	s.check()
	return s
}

func (s *settings) problem(variable, text string) {
	s.problems = append(s.problems, "the environment variable "+variable+" "+text)
}

const ignored = "and is ignored"

// check looks for variables that the SDK ignores.
func (s *settings) check() {
	if value, variable := of("TIMEOUT"); value != "" && !isNumber(value) {
		s.problem(variable, "is not a number of milliseconds "+ignored)
	}
	if value, variable := of("COMPRESSION"); value != "" && value != "gzip" && value != "none" {
		s.problem(variable, "is neither gzip nor none "+ignored)
	}
	if value, variable := of("HEADERS"); value != "" && !arePairs(value) {
		s.problem(variable, "is not a list of name=value, so that some of it is ignored")
	}
	if value := os.Getenv("OTEL_RESOURCE_ATTRIBUTES"); value != "" && !arePairs(value) {
		s.problem("OTEL_RESOURCE_ATTRIBUTES", "is not a list of name=value, so that some of it is ignored")
	}
	sampler := strings.ToLower(strings.TrimSpace(os.Getenv(envSampler)))
	if sampler != "" && !slices.Contains([]string{
		"always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio",
	}, sampler) {
		s.problem(envSampler, "is not a sampler "+ignored)
	}
	if value := strings.TrimSpace(os.Getenv(envSamplerArg)); value != "" && strings.HasSuffix(sampler, "traceidratio") {
		if ratio, err := strconv.ParseFloat(value, 64); err != nil || !(ratio >= 0 && ratio <= 1) {
			s.problem(envSamplerArg, "is not a number from 0 to 1 "+ignored)
		}
	}
	for _, name := range []string{"OTEL_BSP_SCHEDULE_DELAY", "OTEL_BSP_EXPORT_TIMEOUT", "OTEL_BSP_MAX_QUEUE_SIZE", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE"} {
		if value := strings.TrimSpace(os.Getenv(name)); value != "" && !isNumber(value) {
			s.problem(name, "is not a number "+ignored)
		}
	}
}

func isNumber(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n >= 0
}

// arePairs reports whether a text is a list of name=value with values as URLs escape them.
func arePairs(text string) bool {
	for pair := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(pair, "=")
		_, err := url.PathUnescape(value)
		if !found || err != nil || strings.TrimSpace(name) == "" {
			return false
		}
	}
	return true
}
