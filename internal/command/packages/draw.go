package packages

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
)

// mermaid draws a flavour as a flow chart of Mermaid: VDUs, virtual links, and an edge for each connection point. Nodes have numbers
// for ids, since names of a VNFD may be words of Mermaid.
func mermaid(f *flavour) string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	vdus, links := map[string]string{}, map[string]string{}
	for i, v := range f.VDUs {
		vdus[v.ID] = fmt.Sprintf("vdu%d", i)
		fmt.Fprintf(&b, "  %s[%s]\n", vdus[v.ID], mermaidText(v.ID+"<br>"+instances(v.Min, v.Max)))
	}
	for i, l := range f.VirtualLinks {
		links[l.ID] = fmt.Sprintf("link%d", i)
		fmt.Fprintf(&b, "  %s([%s])\n", links[l.ID], mermaidText(strings.TrimSuffix(l.ID+"<br>"+l.CIDR, "<br>")))
	}
	for i, c := range f.ConnectionPoints {
		from, to := vdus[c.VDU], links[c.VirtualLink]
		if from == "" && to == "" {
			continue
		}
		if to == "" {
			to = fmt.Sprintf("outside%d", i)
			fmt.Fprintf(&b, "  %s((outside))\n", to)
		}
		if from == "" {
			from = fmt.Sprintf("point%d", i)
			fmt.Fprintf(&b, "  %s((%s))\n", from, mermaidText(c.ID))
		}
		fmt.Fprintf(&b, "  %s ---|%s| %s\n", from, mermaidText(c.ID), to)
	}
	return b.String()
}

// mermaidText quotes a text. Mermaid has entity codes for what would end it.
func mermaidText(text string) string {
	return `"` + strings.NewReplacer(`"`, "#quot;", "#", "#35;", "\n", " ").Replace(text) + `"`
}

// Sizes of a drawing in pixels.
const (
	margin    = 24
	boxWidth  = 168
	boxHeight = 54
	gap       = 32
	linkStep  = 46
	pointStep = 40
)

// svg draws a flavour: the VDUs in a row, below them each virtual link as a line, and a line from VDU to link for each connection
// point. A VDU is as wide as its connection points need.
func svg(f *flavour) string {
	points := map[string][]connectionPoint{}
	for _, c := range f.ConnectionPoints {
		points[c.VDU] = append(points[c.VDU], c)
	}
	links := slices.Clone(f.VirtualLinks)
	for _, c := range f.ConnectionPoints {
		known := slices.ContainsFunc(links, func(l virtualLink) bool { return l.ID == c.VirtualLink })
		if c.VDU != "" && !known && (c.VirtualLink != "" || c.External) {
			links = append(links, virtualLink{ID: cmp.Or(c.VirtualLink, outside)})
		}
	}
	links = slices.CompactFunc(links, func(a, b virtualLink) bool { return a.ID == b.ID })
	d := &drawing{top: margin + boxHeight + gap}
	x := margin
	for _, v := range f.VDUs {
		own := points[v.ID]
		width := max(boxWidth, (len(own)+1)*pointStep)
		d.box(x, margin, width, v.ID, strings.TrimSuffix(v.Kind+" "+v.Workload, " ")+", "+instances(v.Min, v.Max))
		for i, c := range own {
			for j, l := range links {
				if l.ID == cmp.Or(c.VirtualLink, outside) {
					d.point(x+(i+1)*width/(len(own)+1), j, c.ID)
				}
			}
		}
		x += width + gap
	}
	width := max(x-gap+margin, 2*margin+boxWidth)
	for j, l := range links {
		d.link(width, j, strings.TrimSuffix(l.ID+"  "+l.CIDR, "  "))
	}
	height := d.top + len(links)*linkStep + margin
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="13">
<title>%s</title>
<rect width="100%%" height="100%%" fill="#ffffff"/>
%s</svg>
`, width, height, width, height, escaped("Deployment flavour "+f.ID), d.text.String())
}

// outside is where an external connection point without a virtual link leads.
const outside = "outside"

type drawing struct {
	text strings.Builder
	// top is where the first link is.
	top int
}

func (d *drawing) box(x, y, width int, title, line string) {
	fmt.Fprintf(&d.text, `<rect x="%d" y="%d" width="%d" height="%d" rx="6" fill="#eef3fb" stroke="#3b5b92"/>`+"\n", x, y, width, boxHeight)
	fmt.Fprintf(&d.text, `<text x="%d" y="%d" text-anchor="middle" font-weight="bold" fill="#1c2b45">%s</text>`+"\n", x+width/2, y+23, escaped(short(title, width/8)))
	fmt.Fprintf(&d.text, `<text x="%d" y="%d" text-anchor="middle" fill="#1c2b45">%s</text>`+"\n", x+width/2, y+42, escaped(short(line, width/7)))
}

func (d *drawing) link(width, index int, name string) {
	y := d.y(index)
	fmt.Fprintf(&d.text, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#2f7d5b" stroke-width="3"/>`+"\n", margin, y, width-margin, y)
	fmt.Fprintf(&d.text, `<text x="%d" y="%d" fill="#2f7d5b">%s</text>`+"\n", margin, y+16, escaped(name))
}

func (d *drawing) point(x, index int, name string) {
	y := d.y(index)
	fmt.Fprintf(&d.text, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#3b5b92"><title>%s</title></line>`+"\n", x, margin+boxHeight, x, y, escaped(name))
	fmt.Fprintf(&d.text, `<circle cx="%d" cy="%d" r="5" fill="#3b5b92"><title>%s</title></circle>`+"\n", x, y, escaped(name))
}

func (d *drawing) y(index int) int { return d.top + index*linkStep }

// short cuts a text to so many characters.
func short(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}

func escaped(text string) string {
	var b strings.Builder
	// The builder never fails.
	_ = xml.EscapeText(&b, []byte(text))
	return b.String()
}
