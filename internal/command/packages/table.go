package packages

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// table is a topology for people.
func table(t *topology) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s by %s\n", cmp.Or(t.ProductName, "(no product name)"), cmp.Or(t.SoftwareVersion, "(no version)"), cmp.Or(t.Provider, "(no provider)"))
	facts := [][]string{
		{"VNFD", t.VNFDID + ", version " + cmp.Or(t.VNFDVersion, "none")},
		{"digest", t.Digest},
		{"signed", signedBy(t)},
		{"files", strconv.Itoa(t.Files) + ", " + strconv.Itoa(len(t.KubernetesFiles)) + " with Kubernetes manifests"},
		{"for VNFMs", orNone(t.VNFMInfo)},
	}
	columns(&b, "  ", facts)
	for i := range t.Flavours {
		t.Flavours[i].write(&b, t.Flavours[i].ID == t.DefaultFlavour)
	}
	return b.String()
}

func signedBy(t *topology) string {
	switch {
	case t.Signer != "":
		return "by " + t.Signer + " (" + t.SecurityOption + ")"
	case t.SecurityOption != "":
		return t.SecurityOption + ", not verified"
	default:
		return "no"
	}
}

func (f *flavour) write(b *strings.Builder, isDefault bool) {
	fmt.Fprintf(b, "\nDeployment flavour %s", f.ID)
	if isDefault {
		b.WriteString(" (default)")
	}
	b.WriteString("\n")
	section := func(head []string, rows [][]string) {
		if len(rows) > 0 {
			b.WriteString("\n")
			columns(b, "  ", slices.Concat([][]string{head}, rows))
		}
	}
	var rows [][]string
	for _, v := range f.VDUs {
		rows = append(rows, []string{v.ID, strings.TrimSuffix(v.Kind+" "+v.Workload, " "), instances(v.Min, v.Max), orNone(v.Aspects), v.demands(), orNone(v.Images)})
	}
	section([]string{"VDU", "KIND", "INSTANCES", "SCALED BY", "DEMANDS", "IMAGES"}, rows)
	rows = nil
	for _, c := range f.ConnectionPoints {
		where := cmp.Or(c.VirtualLink, "-")
		if c.External {
			where = strings.TrimPrefix(where+", external", "-, ")
		}
		rows = append(rows, []string{c.ID, cmp.Or(c.VDU, "-"), where})
	}
	section([]string{"CONNECTION POINT", "VDU", "VIRTUAL LINK"}, rows)
	rows = nil
	for _, l := range f.VirtualLinks {
		rows = append(rows, []string{l.ID, cmp.Or(l.CIDR, "-")})
	}
	section([]string{"VIRTUAL LINK", "CIDR"}, rows)
	rows = nil
	for _, c := range f.Charts {
		rows = append(rows, []string{c.ID, c.File, orNone(c.VDUs)})
	}
	section([]string{"HELM CHART", "FILE", "VDUS"}, rows)
	rows = nil
	for _, a := range f.Aspects {
		rows = append(rows, []string{a.ID, "0.." + strconv.Itoa(a.MaxLevel), a.steps()})
	}
	section([]string{"SCALING ASPECT", "LEVELS", "A STEP ADDS"}, rows)
	rows = nil
	for _, l := range f.Levels {
		name := l.ID
		if name == f.DefaultLevel {
			name += " (default)"
		}
		rows = append(rows, []string{name, numbers(l.Instances)})
	}
	section([]string{"INSTANTIATION LEVEL", "INSTANCES"}, rows)
	rows = nil
	for _, o := range f.Operations {
		rows = append(rows, []string{o.Name, cmp.Or(o.Implementation, "-"), cmp.Or(o.File, "-")})
	}
	section([]string{"OPERATION", "IMPLEMENTATION", "FILE"}, rows)
}

// columns writes rows in columns, without blanks at the ends of lines.
func columns(b *strings.Builder, indent string, rows [][]string) {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		// The writer fails when the builder does, which never happens.
		_, _ = fmt.Fprintln(w, indent+strings.Join(row, "\t"))
	}
	_ = w.Flush()
	for line := range strings.Lines(text.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
}

func instances(low, high int) string {
	switch {
	case high == 0:
		return strconv.Itoa(low) + "..."
	case low == high:
		return strconv.Itoa(low)
	default:
		return strconv.Itoa(low) + ".." + strconv.Itoa(high)
	}
}

func (v *vdu) demands() string {
	var out []string
	if v.CPUs > 0 {
		out = append(out, strconv.FormatFloat(v.CPUs, 'g', -1, 64)+" CPU")
	}
	if v.MemoryBytes > 0 {
		out = append(out, strconv.FormatInt(v.MemoryBytes>>20, 10)+" MiB")
	}
	return orNone(append(out, v.Storages...))
}

func (a *aspect) steps() string {
	var out []string
	for _, step := range a.Steps {
		out = append(out, numbers(step))
	}
	return strings.Join(out, "; then ")
}

// numbers renders numbers of instances by VDU.
func numbers(of map[string]int) string {
	out := make([]string, 0, len(of))
	for _, id := range slices.Sorted(maps.Keys(of)) {
		out = append(out, id+" "+strconv.Itoa(of[id]))
	}
	return orNone(out)
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "-"
	}
	return strings.Join(list, ", ")
}
