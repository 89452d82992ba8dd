package helm

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"helm.sh/helm/v4/pkg/release/common"
	release "helm.sh/helm/v4/pkg/release/v1"
)

// SecretType is the type of the Secrets that Helm keeps releases in.
const SecretType = "helm.sh/release.v1" //nolint:gosec // no credential

// Status is the state of one revision of a release.
type Status = common.Status

// The states that a revision goes through.
const (
	Deployed       = common.StatusDeployed
	Failed         = common.StatusFailed
	Superseded     = common.StatusSuperseded
	Uninstalled    = common.StatusUninstalled
	Uninstalling   = common.StatusUninstalling
	PendingInstall = common.StatusPendingInstall
	PendingUpgrade = common.StatusPendingUpgrade
)

// maxDescription bounds what a record says of a failure.
const maxDescription = 1000

// Release is one revision of a release, as Helm keeps it.
type Release struct {
	record *release.Release
}

// Release makes the record of a new revision. First is when the release was first
// deployed, zero for now.
func (r *Rendering) Release(revision int, first time.Time, status Status, description string) *Release {
	now := time.Now()
	if first.IsZero() {
		first = now
	}
	return &Release{&release.Release{
		Name:      r.options.Release,
		Namespace: r.options.Namespace,
		Chart:     r.chart,
		Config:    plainMap(r.options.Values),
		Manifest:  r.manifest(),
		Hooks:     r.records(),
		Version:   revision,
		Info: &release.Info{
			FirstDeployed: first, LastDeployed: now, Status: status, Description: description, Notes: r.notes,
		},
		ApplyMethod: string(release.ApplyMethodServerSideApply),
	}}
}

// Revision is the number of the revision.
func (r *Release) Revision() int { return r.record.Version }

// Status is the state of the revision.
func (r *Release) Status() Status { return r.record.Info.Status }

// Description says how the revision came to its state.
func (r *Release) Description() string { return r.record.Info.Description }

// FirstDeployed is when the release was first deployed.
func (r *Release) FirstDeployed() time.Time { return r.record.Info.FirstDeployed }

// LastDeployed is when the revision was deployed.
func (r *Release) LastDeployed() time.Time { return r.record.Info.LastDeployed }

// Set changes the state of the revision.
func (r *Release) Set(status Status, description string) {
	if len(description) > maxDescription {
		description = description[:maxDescription] + "..."
	}
	r.record.Info.Status, r.record.Info.Description = status, description
}

// Manifest is the text of the objects of the revision.
func (r *Release) Manifest() string { return r.record.Manifest }

// part is something that a revision is of.
type part struct {
	name  string
	value any
}

// parts are what a revision is of, by the names that Helm's users know.
func (r *Release) parts() []part {
	values := r.record.Config
	if len(values) == 0 {
		// Helm leaves values out of a record that has none.
		values = nil
	}
	return []part{{"chart", r.record.Chart}, {"values", values}, {"manifest", r.record.Manifest}}
}

// Differing names what two revisions do not have in common: chart, values, manifest.
func (r *Release) Differing(other *Release) []string {
	var out []string
	theirs := other.parts()
	for i, p := range r.parts() {
		left, leftErr := json.Marshal(p.value)
		right, rightErr := json.Marshal(theirs[i].value)
		if leftErr != nil || rightErr != nil || !bytes.Equal(left, right) {
			out = append(out, p.name)
		}
	}
	return out
}

// Content is what the revision is of, for sums of it: two revisions that do not
// differ have the same. It holds values, which may be secrets.
func (r *Release) Content() ([]byte, error) {
	var b bytes.Buffer
	for _, p := range r.parts() {
		if err := json.NewEncoder(&b).Encode(p.value); err != nil {
			return nil, fmt.Errorf("encoding the %s of release %s: %w", p.name, r.record.Name, err)
		}
	}
	return b.Bytes(), nil
}

// SecretName is the name of the Secret that holds a revision.
func SecretName(name string, revision int) string {
	return fmt.Sprintf("sh.helm.release.v1.%s.v%d", name, revision)
}

// Labels are those by which Helm finds revisions.
func (r *Release) Labels() map[string]any {
	return map[string]any{
		"name": r.record.Name, "owner": "helm", "status": r.record.Info.Status.String(), "version": strconv.Itoa(r.record.Version),
		"modifiedAt": strconv.FormatInt(time.Now().Unix(), 10),
	}
}

// Selector selects the Secrets of all revisions of a release.
func Selector(name string) string { return "owner=helm,name=" + name }

// Encode returns the record as the Secret holds it under the key "release": JSON,
// compressed, in base64.
func (r *Release) Encode() (string, error) {
	text, err := json.Marshal(r.record)
	if err != nil {
		return "", fmt.Errorf("encoding revision %d of release %s: %w", r.record.Version, r.record.Name, err)
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := w.Write(text); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

// maxRecord bounds a record once it is unpacked.
const maxRecord = 32 << 20

// ErrNoRecord is what errors.Is finds in the errors of Decode.
var ErrNoRecord = errors.New("not a record of a release")

// Decode reads a record.
func Decode(text string) (*Release, error) {
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoRecord, err)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoRecord, err)
	}
	plain, err := io.ReadAll(io.LimitReader(unpacked, maxRecord))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoRecord, err)
	}
	out := &release.Release{}
	if err := json.Unmarshal(plain, out); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoRecord, err)
	}
	if out.Info == nil {
		out.Info = &release.Info{}
	}
	return &Release{out}, nil
}
