package helm

import (
	"fmt"
	"path"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
)

// Functions of templates do not know which template calls them. So every file begins and ends
// with a call that gives nothing.
const (
	beginFile = "vnfBeginsFile"
	endFile   = "vnfEndsFile"
)

// markFiles adds these calls to the templates of a chart and its sub-charts, until restore is
// called.
func markFiles(c *chart.Chart) (restore func()) {
	before := c.Templates
	c.Templates = make([]*common.File, 0, len(before))
	for _, t := range before {
		if t == nil || strings.HasPrefix(path.Base(t.Name), "_") {
			c.Templates = append(c.Templates, t)
			continue
		}
		name := path.Join(c.ChartFullPath(), t.Name)
		marked := *t
		marked.Data = fmt.Appendf(nil, "{{ %s %q }}%s{{ %s }}", beginFile, name, t.Data, endFile)
		c.Templates = append(c.Templates, &marked)
	}
	restores := make([]func(), 0, len(c.Dependencies()))
	for _, d := range c.Dependencies() {
		restores = append(restores, markFiles(d))
	}
	return func() {
		c.Templates = before
		for _, r := range restores {
			r()
		}
	}
}

func (k *calls) begin(name string) string {
	k.files = append(k.files, name)
	return ""
}

func (k *calls) end() string {
	k.files = k.files[:max(0, len(k.files)-1)]
	return ""
}

// file is the file that is rendered. One that it includes is part of it: the same call there
// is another call, as with Helm.
func (k *calls) file() string {
	if len(k.files) == 0 {
		return ""
	}
	return k.files[0]
}
