package forms

import "embed"

// embedded are the charts that need no download, each in a directory under charts/.
//
//go:embed all:charts
var embedded embed.FS
