package connect

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
)

// Apply connects a node to the registries of connections and removes all other connections that an earlier Apply made. It can be
// repeated after an interruption at any instant, and changes nothing on a node that is up to date. changed lists the changes; report
// gets each one as it is made.
func Apply(ctx context.Context, client *remote.Client, connections []Connection, report func(line string)) (changed []string, err error) {
	w := &worker{client: client, report: report}
	if err := w.apply(ctx, connections); err != nil {
		return w.changed, fmt.Errorf("connecting %s to its registries: %w", client.Name(), err)
	}
	return w.changed, nil
}

func (w *worker) apply(ctx context.Context, connections []Connection) error {
	n, err := w.look(ctx)
	if err != nil {
		return err
	}
	p, err := planFor(n, connections)
	if err != nil {
		return err
	}
	if p.files, err = w.differing(ctx, p.files); err != nil {
		return err
	}
	pending := p.pending(n)
	// This record is written before the changes, so that the next run after a kill finds all files that may be ours and the actions
	// that services still need.
	if len(p.files)+len(p.gone)+len(pending) > 0 {
		between := n.record.with(p.record)
		between.Pending = pending
		if err := w.writeRecord(ctx, n, between); err != nil {
			return err
		}
	}
	for _, f := range p.files {
		if err := w.write(ctx, f); err != nil {
			return err
		}
	}
	if len(p.gone) > 0 {
		if err := w.do(ctx, "remove the former connections to registries", append([]string{"remove_all"}, p.gone...)...); err != nil {
			return err
		}
		for _, name := range p.gone {
			w.note("removed " + name)
		}
	}
	for _, a := range pending {
		if err := w.act(ctx, n, p, a); err != nil {
			return err
		}
	}
	return w.writeRecord(ctx, n, p.record)
}

// differing returns the files of the plan that differ from the node.
func (w *worker) differing(ctx context.Context, files []wanted) ([]wanted, error) {
	var ours []string
	for _, f := range files {
		if f.ours {
			ours = append(ours, f.path)
		}
	}
	if len(ours) == 0 {
		return files, nil
	}
	out, err := w.ask(ctx, "compare the connections to registries", nil, append([]string{"sums"}, ours...)...)
	if err != nil {
		return nil, err
	}
	present := strings.Split(strings.TrimSpace(out), "\n")
	return slices.DeleteFunc(files, func(f wanted) bool {
		return f.ours && slices.Contains(present, fmt.Sprintf("%s=%o %x", f.path, f.mode, sha256.Sum256(f.content)))
	}), nil
}

func (w *worker) note(line string) {
	w.changed = append(w.changed, line)
	w.report(line)
}

// writeRecord writes the record if it differs, and removes an empty one.
func (w *worker) writeRecord(ctx context.Context, n *node, r record) error {
	if r.empty() {
		if _, there := n.files[recordFile]; !there {
			return nil
		}
		delete(n.files, recordFile)
		err := w.do(ctx, "remove the record of registries", "remove_all", recordFile)
		return err
	}
	if bytes.Equal(n.files[recordFile].content, r.text()) {
		return nil
	}
	_, err := w.client.WriteFile(ctx, remote.File{Path: recordFile, Content: r.text(), Mode: secretMode, Sudo: true, MkdirAll: true})
	if err != nil {
		return err
	}
	n.files[recordFile] = file{content: r.text()}
	return nil
}

// write writes or removes one file. It leaves the configuration of containerd unchanged if containerd rejects the new one.
func (w *worker) write(ctx context.Context, f wanted) error {
	if f.content == nil {
		if err := w.do(ctx, "remove "+f.path, "remove_all", f.path); err != nil {
			return err
		}
		w.note("removed " + f.path)
		return nil
	}
	if f.after == restartContainerd {
		taken, err := w.ask(ctx, "have containerd read its new configuration", bytes.NewReader(f.content), "try")
		if err != nil {
			return fmt.Errorf("%s is unchanged, because containerd rejects it with config_path: %w", f.path, err)
		}
		if settings, err := readContainerd(taken); err != nil || settings.configPath == "" {
			return fmt.Errorf("%s is unchanged, because containerd does not read config_path from it; set it there to %q by hand", f.path, containerdCerts)
		}
	}
	_, err := w.client.WriteFile(ctx, remote.File{Path: f.path, Content: f.content, Mode: f.mode, Owner: f.owner, Sudo: true, MkdirAll: true})
	if err != nil {
		return err
	}
	w.note("wrote " + f.path)
	return nil
}

// act restarts or reloads a service.
func (w *worker) act(ctx context.Context, n *node, p *plan, a action) error {
	verb, unit, _ := strings.Cut(string(a), " ")
	err := w.service(ctx, verb, unit)
	switch {
	case err != nil && a == restartContainerd:
		return w.undo(ctx, n, err)
	case err != nil:
		return err
	case a == reloadDocker:
		return w.dockerTook(ctx, p)
	}
	return nil
}

func (w *worker) service(ctx context.Context, verb, unit string) error {
	if err := w.do(ctx, verb+" "+unit, verb, unit); err != nil {
		if log, failed := w.client.Run(ctx, command("read the log of "+unit, nil, "log", unit)); failed == nil {
			err = fmt.Errorf("%w; the end of its log:\n%s", err, strings.TrimSpace(log.Stdout))
		}
		return err
	}
	w.note(verb + "ed " + unit)
	return nil
}

// undo restores the configuration with which containerd last ran.
func (w *worker) undo(ctx context.Context, n *node, cause error) error {
	former, there := n.files[containerdConfig]
	if !there {
		if err := w.do(ctx, "remove "+containerdConfig, "remove_all", containerdConfig); err != nil {
			return fmt.Errorf("%w; the former state is not restored: %w", cause, err)
		}
	} else if _, err := w.client.WriteFile(ctx, remote.File{Path: containerdConfig, Content: former.content, Mode: former.mode, Owner: former.owner, Sudo: true}); err != nil {
		return fmt.Errorf("%w; the former %s is not restored: %w", cause, containerdConfig, err)
	}
	if err := w.do(ctx, "restart containerd with its former configuration", "restart", "containerd"); err != nil {
		return fmt.Errorf("%w; its former %s is back, and it does not run with that either: %w", cause, containerdConfig, err)
	}
	return fmt.Errorf("containerd runs with its former configuration again, since it did not with the new one: %w", cause)
}

// dockerTook checks that Docker has read its daemon.json: Docker ignores the file if one of its settings is also an argument of
// dockerd.
func (w *worker) dockerTook(ctx context.Context, p *plan) error {
	out, err := w.ask(ctx, "ask Docker which registries it speaks HTTP to", nil, "insecure")
	if err != nil {
		return err
	}
	present := strings.Fields(out)
	for _, server := range p.record.Insecure {
		if !slices.Contains(present, server) {
			return fmt.Errorf("Docker has read %s again and still refuses to speak HTTP to %s: see journalctl -u docker; a setting that is also an argument of dockerd keeps it from reading the file", //nolint:staticcheck // A name.
				daemonConfig, server)
		}
	}
	return nil
}
