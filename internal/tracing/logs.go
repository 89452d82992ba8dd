package tracing

import (
	"context"
	"sync/atomic"

	"github.com/hashicorp/terraform-plugin-log/tflog"
)

// Subsystem is a part of the log with a level of its own.
type Subsystem string

// The subsystems. Those of calls of Terraform are logged by the plugin framework.
const (
	Calls      Subsystem = ""
	Operations Subsystem = "operations"
	Hooks      Subsystem = "hooks"
	Kubernetes Subsystem = "kubernetes"
	OpenStack  Subsystem = "openstack"
	Downloads  Subsystem = "downloads"
	Registries Subsystem = "registries"
	SSH        Subsystem = "ssh"
	Store      Subsystem = "store"
)

// Subsystems are all that the log has.
var Subsystems = []Subsystem{Operations, Hooks, Kubernetes, OpenStack, Downloads, Registries, SSH, Store}

// envLevel begins the variables for the level of a subsystem, as the plugin framework names them.
const envLevel = "TF_LOG_PROVIDER_VNF"

// durationField is the field of a line that says how long something took. Fields are set for each line by itself: the library masks the
// fields of a logger where they are, so that two lines at the same time must not have them in common.
const durationField = "duration_ms"

// logging is set when somebody asks for logs.
var logging atomic.Bool

// SetLogging has spans logged. It is called before anything else.
func SetLogging(asked bool) { logging.Store(asked) }

// WithLogs returns a context with which the subsystems are logged, each from its own level on; ctx itself when nobody asks for logs.
func WithLogs(ctx context.Context) context.Context {
	if !logging.Load() {
		return ctx
	}
	for _, s := range Subsystems {
		ctx = tflog.NewSubsystem(ctx, string(s), tflog.WithLevelFromEnv(envLevel, string(s)), tflog.WithRootFields())
	}
	return ctx
}

// MaskLogs returns a context with which texts are replaced in the logs of all subsystems.
func MaskLogs(ctx context.Context, texts ...string) context.Context {
	if !logging.Load() {
		return ctx
	}
	for _, s := range Subsystems {
		ctx = tflog.SubsystemMaskLogStrings(ctx, string(s), texts...)
		ctx = tflog.SubsystemMaskMessageStrings(ctx, string(s), texts...)
	}
	return ctx
}

// Log logs what people follow, at level INFO.
func Log(ctx context.Context, s Subsystem, message string, fields map[string]any) {
	if logging.Load() {
		ctx = tflog.SubsystemSetField(ctx, string(s), "subsystem", string(s))
		tflog.SubsystemInfo(ctx, string(s), message, fields)
	}
}
