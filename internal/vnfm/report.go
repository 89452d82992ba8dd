package vnfm

import (
	"context"
	"time"
)

// Report is what the process that ran an operation knew when it failed. It holds no secret.
type Report struct {
	Operation Operation `json:"operation"`
	// Instance is the name of the instance.
	Instance string `json:"instance"`
	// Runner is the process, as people read it.
	Runner  string    `json:"runner"`
	TakenAt time.Time `json:"taken_at"`
	Error   string    `json:"error"`
	// Timeline has the states and steps of this run of the operation.
	Timeline []ReportLine `json:"timeline,omitempty"`
	// Sections are what drivers have seen and rendered.
	Sections []ReportSection `json:"sections,omitempty"`
	// Cut is set when something was left out for its size.
	Cut bool `json:"cut,omitempty"`
}

// ReportLine is a state or a step of an operation.
type ReportLine struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// ReportSection is one part of a report: a heading, and text as a program wrote it.
type ReportSection struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

// Witness is an InfraDriver that can say more of a failed operation than its error does.
type Witness interface {
	// Evidence says what is wrong with objects of an inventory on a VIM: states, conditions, events, ends of logs. It tells what it can
	// find within ctx, changes nothing and never fails.
	Evidence(ctx context.Context, v *VIM, credentials Credentials, items []InventoryItem) []ReportSection
}
