package magnum

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// A rule says whether a text can be the value of a label; else what is expected.
type rule func(text string) (expected string)

// label is a label of Magnum.
type label struct {
	rule rule
	// old is the name that it had before.
	old string
	// addon is true for what a chart does with an addon, and not with the cluster. A
	// chart without addons takes none but the value off.
	addon bool
	off   string
}

// labels are all that mean something here.
var labels = map[string]label{
	"api_master_lb_allowed_cidrs":       {rule: isCIDRs},
	"auto_healing_enabled":              {rule: isBool},
	"auto_scaling_enabled":              {rule: isBool},
	"boot_volume_size":                  {rule: isCount},
	"boot_volume_type":                  {rule: isText},
	"csi_cinder_allow_volume_expansion": {rule: isBool, addon: true},
	"csi_cinder_availability_zone":      {rule: isText, addon: true},
	"csi_cinder_fstype":                 {rule: isText, addon: true},
	"csi_cinder_reclaim_policy":         {rule: isOneOf("Retain", "Delete"), addon: true},
	"csi_cinder_volume_binding_mode":    {rule: isOneOf("WaitForFirstConsumer", "Immediate"), addon: true},
	"etcd_blockdevice_size":             {rule: isCount, old: "etcd_volume_size"},
	"etcd_blockdevice_type":             {rule: isOneOf("volume", "local")},
	"etcd_blockdevice_volume_az":        {rule: isText},
	"etcd_blockdevice_volume_type":      {rule: isText, old: "etcd_volume_type"},
	"extra_network_names":               {rule: isNames, old: "extra_network_name"},
	"fixed_subnet_cidr":                 {rule: isCIDR},
	"keystone_auth_enabled":             {rule: isBool, addon: true, off: "false"},
	"kube_dashboard_enabled":            {rule: isBool, addon: true, off: "false"},
	"master_lb_floating_ip_enabled":     {rule: isBool},
	"max_node_count":                    {rule: isCount},
	"min_node_count":                    {rule: isCount},
	"monitoring_enabled":                {rule: isBool, addon: true, off: "false"},
	"octavia_lb_algorithm":              {rule: isOneOf("ROUND_ROBIN", "LEAST_CONNECTIONS", "SOURCE_IP", "SOURCE_IP_PORT"), addon: true},
	"octavia_lb_healthcheck":            {rule: isBool, addon: true},
	"octavia_provider":                  {rule: isText},
}

// replaced are labels of Magnum that an argument stands for here.
var replaced = map[string]string{
	"capi_helm_chart_version": "the version of a chart is chart.version, or that of the one at chart.path",
	"kube_tag":                "the version of Kubernetes is kubernetes_version and image.kube_version",
	"availability_zone":       "the zone of machines is failure_domain of the cluster's node groups",
}

// safe is what values may consist of: they become arguments and names elsewhere. Cinder's own volume type is __DEFAULT__.
var safe = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._/ -]*$`)

// Labels are checked labels by their present names.
type Labels map[string]string

// ReadLabels checks labels. The attribute is where they are given.
func ReadLabels(given map[string]string, attribute string, ps *vnfm.Problems) Labels {
	out := Labels{}
	refuse := func(name, summary, detail string) {
		*ps = append(*ps, vnfm.Problem{Attribute: attribute, Key: name, Summary: summary, Detail: detail})
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		present := presentName(name)
		known, ok := labels[present]
		if !ok {
			detail := "the known labels are " + strings.Join(slices.Sorted(maps.Keys(labels)), ", ")
			if instead, isReplaced := replaced[name]; isReplaced {
				detail = instead
			}
			refuse(name, fmt.Sprintf("there is no label %q here", name), detail)
			continue
		}
		if expected := known.rule(given[name]); expected != "" {
			refuse(name, fmt.Sprintf("label %q cannot be %q", name, given[name]), expected+" is expected")
			continue
		}
		if _, both := given[present]; both && name != present {
			continue
		}
		out[present] = given[name]
	}
	return out
}

// presentName is the name that a label has today.
func presentName(name string) string {
	for present, l := range labels {
		if l.old == name {
			return present
		}
	}
	return name
}

// withDefaults adds the labels of a template that a cluster does not set.
func (l Labels) withDefaults(template Labels) Labels {
	out := maps.Clone(template)
	maps.Copy(out, l)
	return out
}

func (l Labels) boolean(name string, fallback bool) bool {
	text, ok := l[name]
	if !ok {
		return fallback
	}
	value, _ := parseBool(text)
	return value
}

func (l Labels) text(name, fallback string) string {
	if text, ok := l[name]; ok {
		return text
	}
	return fallback
}

func (l Labels) count(name string, fallback int64) int64 {
	n, err := strconv.ParseInt(l[name], 10, 64)
	if err != nil {
		return fallback
	}
	return n
}

// parseBool reads what OpenStack accepts as a boolean.
func parseBool(text string) (value, ok bool) {
	switch strings.ToLower(text) {
	case "1", "t", "true", "on", "y", "yes":
		return true, true
	case "0", "f", "false", "off", "n", "no":
		return false, true
	default:
		return false, false
	}
}

func isBool(text string) string {
	if _, ok := parseBool(text); !ok {
		return "true or false"
	}
	return ""
}

func isCount(text string) string {
	if n, err := strconv.ParseInt(text, 10, 32); err != nil || n < 0 {
		return "a whole number"
	}
	return ""
}

func isText(text string) string {
	if !safe.MatchString(text) {
		return "a text of letters, digits, spaces and . _ / -"
	}
	return ""
}

func isNames(text string) string {
	if len(strings.Fields(text)) == 0 || !safe.MatchString(text) {
		return "one or more names with spaces between them"
	}
	return ""
}

func isOneOf(values ...string) rule {
	return func(text string) string {
		if !slices.Contains(values, text) {
			return strings.Join(values, " or ")
		}
		return ""
	}
}

func isCIDR(text string) string {
	if _, err := netip.ParsePrefix(text); err != nil {
		return "an address block such as 10.0.0.0/24"
	}
	return ""
}

func isCIDRs(text string) string {
	for _, each := range list(text) {
		if expected := isCIDR(each); expected != "" {
			return expected + ", or several with commas between them,"
		}
	}
	return ""
}

// list splits at commas.
func list(text string) []string {
	var out []string
	for _, each := range strings.Split(text, ",") {
		out = append(out, strings.TrimSpace(each))
	}
	return out
}
