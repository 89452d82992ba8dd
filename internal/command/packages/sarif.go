package packages

// The parts of the Static Analysis Results Interchange Format, version 2.1.0 (OASIS), that code hosts read.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string    `json:"id"`
		ShortDescription sarifText `json:"shortDescription"`
		Help             sarifText `json:"help"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
)

// sarif returns the findings as a log, with all rules that packages are held against. Paths are those in the package.
func sarif(version string, found []finding) sarifLog {
	driver := sarifDriver{Name: "terraform-provider-vnf", Version: version}
	for _, rule := range rules() {
		driver.Rules = append(driver.Rules, sarifRule{rule.ID, sarifText{rule.Title}, sarifText{rule.Clause}})
	}
	results := make([]sarifResult, 0, len(found))
	for _, f := range found {
		result := sarifResult{RuleID: f.Rule.ID, Level: f.Severity, Message: sarifText{f.Summary}}
		if f.Detail != "" {
			result.Message.Text += ": " + f.Detail
		}
		if f.File != "" {
			at := sarifPhysical{Artifact: sarifArtifact{URI: f.File}}
			if f.Line > 0 {
				at.Region = &sarifRegion{f.Line, f.Column}
			}
			result.Locations = []sarifLocation{{at}}
		}
		results = append(results, result)
	}
	return sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{{sarifTool{driver}, results}}}
}
