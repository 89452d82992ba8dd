package vnfm

import (
	"slices"
	"time"
)

// OperationType is the type of an LCM operation occurrence (SOL003 5.5.2.13).
type OperationType string

// The LCM operation types.
const (
	OpInstantiate   OperationType = "INSTANTIATE"
	OpScale         OperationType = "SCALE"
	OpScaleToLevel  OperationType = "SCALE_TO_LEVEL"
	OpChangeFlavour OperationType = "CHANGE_FLAVOUR"
	OpOperate       OperationType = "OPERATE"
	OpHeal          OperationType = "HEAL"
	OpChangePackage OperationType = "CHANGE_VNFPKG"
	OpModifyInfo    OperationType = "MODIFY_INFO"
	OpChangeExtConn OperationType = "CHANGE_EXT_CONN"
	OpTerminate     OperationType = "TERMINATE"
)

// OperationState is the state of an LCM operation occurrence (SOL003 5.6.2).
type OperationState string

// The states of an LCM operation occurrence.
const (
	StateStarting    OperationState = "STARTING"
	StateProcessing  OperationState = "PROCESSING"
	StateCompleted   OperationState = "COMPLETED"
	StateFailedTemp  OperationState = "FAILED_TEMP"
	StateFailed      OperationState = "FAILED"
	StateRollingBack OperationState = "ROLLING_BACK"
	StateRolledBack  OperationState = "ROLLED_BACK"
)

// transitions are the arrows of the state machine of SOL003 5.6.2.
var transitions = map[OperationState][]OperationState{
	StateStarting:    {StateProcessing, StateRolledBack},
	StateProcessing:  {StateCompleted, StateFailedTemp},
	StateFailedTemp:  {StateProcessing, StateRollingBack, StateFailed},
	StateRollingBack: {StateRolledBack, StateFailedTemp},
}

// CanBecome reports whether the state machine has an arrow from s to next.
func (s OperationState) CanBecome(next OperationState) bool {
	return slices.Contains(transitions[s], next)
}

// Final reports whether an operation in this state is over.
func (s OperationState) Final() bool {
	return s == StateCompleted || s == StateFailed || s == StateRolledBack
}

// Operation is an LCM operation occurrence.
type Operation struct {
	ID         string `json:"id"`
	InstanceID string `json:"instance_id"`
	// Instance is the name that the instance had. It is for operations whose instance is gone.
	Instance string         `json:"instance,omitempty"`
	Type     OperationType  `json:"type"`
	State    OperationState `json:"state"`
	// Run says who has run it last: user, host, process and the page of the CI run.
	Run string `json:"run,omitempty"`
	// Parameters are those of the request, without secrets.
	Parameters map[string]any `json:"parameters,omitempty"`
	// Progress is the last line that the driver said.
	Progress       string    `json:"progress,omitempty"`
	Error          string    `json:"error,omitempty"`
	StartedAt      time.Time `json:"started_at"`
	StateEnteredAt time.Time `json:"state_entered_at"`
	// Attempts counts the starts and resumptions of the operation.
	Attempts int `json:"attempts"`
	// Notes are what the driver keeps until the operation is over, by its own keys.
	Notes map[string]string `json:"notes,omitempty"`
	// ReportedAt is when the operation failed last and the store got a Report of it; zero when it has none.
	ReportedAt time.Time `json:"reported_at,omitzero"`
}

// Progress is what a running operation says.
type Progress struct {
	// Instance is the name of the instance, or what else the operation works on.
	Instance  string
	Operation Operation
	// Line is a step or what is waited for; empty when the operation has entered its state.
	Line string
}
