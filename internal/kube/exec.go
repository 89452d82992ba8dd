package kube

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	// execLimit bounds one run of a program that prints credentials.
	execLimit = time.Minute
	// execGrace bounds the wait for the output of a program that has ended: a child process may
	// hold the output open.
	execGrace = time.Second
	// maxExecOutput is in bytes, far more than credentials have.
	maxExecOutput = 1 << 20
	// execInfo is the environment variable that passes the request to the program.
	execInfo = "KUBERNETES_EXEC_INFO"
)

// execPlugin is a program that prints credentials as an ExecCredential. It runs if the credentials
// have expired by their own timestamp or were rejected. Client-go's implementation does not fit: it
// copies the program's messages to standard error, where Terraform logs them, waits for the program
// without a limit, and quotes the output in errors.
type execPlugin struct {
	plugin  vnfm.ExecPlugin
	cluster *execCluster
	// turn is held by the request that runs the program, and guards last.
	turn chan struct{}
	last *identity
}

// execCluster describes the cluster to a program whose kubeconfig asks for this
// (provideClusterInfo).
type execCluster struct {
	Server        string `json:"server"`
	TLSServerName string `json:"tls-server-name,omitempty"`
	Insecure      bool   `json:"insecure-skip-tls-verify,omitempty"`
	CA            []byte `json:"certificate-authority-data,omitempty"`
	ProxyURL      string `json:"proxy-url,omitempty"`
}

// execCredential is the form of input and output, in all versions of the API.
type execCredential struct {
	Kind       string      `json:"kind"`
	APIVersion string      `json:"apiVersion"`
	Spec       execSpec    `json:"spec"`
	Status     *execStatus `json:"status,omitempty"`
}

type execSpec struct {
	Cluster     *execCluster `json:"cluster,omitempty"`
	Interactive bool         `json:"interactive"`
}

type execStatus struct {
	Expires     *time.Time `json:"expirationTimestamp,omitempty"`
	Token       string     `json:"token,omitempty"`
	Certificate string     `json:"clientCertificateData,omitempty"`
	Key         string     `json:"clientKeyData,omitempty"`
}

func newExecPlugin(plugin vnfm.ExecPlugin, cluster *execCluster) *execPlugin {
	return &execPlugin{plugin: plugin, cluster: cluster, turn: make(chan struct{}, 1)}
}

// String implements identitySource.
func (e *execPlugin) String() string { return fmt.Sprintf("the program %q", e.plugin.Command) }

func (e *execPlugin) current(ctx context.Context) (*identity, error) {
	return e.inTurn(ctx, func() bool { return e.last != nil && !e.last.expired() })
}

func (e *execPlugin) renewed(ctx context.Context, refused *identity) (*identity, error) {
	// Another request may have run the program since.
	who, err := e.inTurn(ctx, func() bool { return e.last != nil && e.last != refused })
	if err != nil || who.same(refused) {
		return nil, err
	}
	return who, nil
}

// inTurn returns the last identity if good reports true, and else runs the program. Requests take
// turns.
func (e *execPlugin) inTurn(ctx context.Context, good func() bool) (*identity, error) {
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if good() {
		return e.last, nil
	}
	who, err := e.run(ctx)
	if err != nil {
		return nil, err
	}
	e.last = who
	return who, nil
}

// run runs the program. Errors do not contain its output, which may be credentials.
func (e *execPlugin) run(ctx context.Context) (*identity, error) {
	asked, err := json.Marshal(execCredential{Kind: "ExecCredential", APIVersion: e.plugin.APIVersion, Spec: execSpec{Cluster: e.cluster}})
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, execLimit)
	defer cancel()
	var out limitedBuffer
	cmd := exec.CommandContext(limited, e.plugin.Command, e.plugin.Args...) //nolint:gosec // the user's configuration names the program
	// The program gets neither standard input nor standard error of the provider, which uses both
	// to talk to Terraform.
	cmd.Stdout, cmd.WaitDelay = &out, execGrace
	cmd.Env = os.Environ()
	for _, name := range slices.Sorted(maps.Keys(e.plugin.Env)) {
		cmd.Env = append(cmd.Env, name+"="+e.plugin.Env[name])
	}
	cmd.Env = append(cmd.Env, execInfo+"="+string(asked))
	err = cmd.Run()
	switch {
	case out.full:
		return nil, errors.New("it prints more than 1 MiB")
	case errors.Is(err, exec.ErrWaitDelay):
	case err != nil && limited.Err() != nil && ctx.Err() == nil:
		return nil, fmt.Errorf("it did not end within %s", execLimit)
	case err != nil:
		return nil, runError(err)
	}
	return e.parse(out.buffer.Bytes())
}

// runError returns the reason of a program's failure.
func runError(err error) error {
	const hint = "its output is not shown, since it may contain credentials: run it by hand to see it"
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		if code := ended.ExitCode(); code >= 0 {
			return fmt.Errorf("it ended with exit code %d; %s", code, hint)
		}
		return fmt.Errorf("it was ended by a signal; %s", hint)
	}
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return errors.New("there is no such program: install it on each machine where Terraform runs, or give its path")
	}
	if failed, ok := errors.AsType[*exec.Error](err); ok {
		return failed.Err
	}
	return withoutPath(err)
}

func (e *execPlugin) parse(out []byte) (*identity, error) {
	var c execCredential
	if json.Unmarshal(out, &c) != nil || c.Kind != "ExecCredential" {
		return nil, fmt.Errorf("it does not print an ExecCredential of %s as JSON", e.plugin.APIVersion)
	}
	if c.APIVersion != e.plugin.APIVersion {
		if !slices.Contains(vnfm.ExecAPIVersions(), c.APIVersion) {
			return nil, fmt.Errorf("it prints an ExecCredential of another version than %s", e.plugin.APIVersion)
		}
		return nil, fmt.Errorf("it prints an ExecCredential of %s: set api_version to that, instead of %s", c.APIVersion, e.plugin.APIVersion)
	}
	status := c.Status
	switch {
	case status == nil || status.Token == "" && status.Certificate == "" && status.Key == "":
		return nil, errors.New("the ExecCredential that it prints has neither a token nor a certificate in its status")
	case (status.Certificate == "") != (status.Key == ""):
		return nil, errors.New("the ExecCredential that it prints has only one of clientCertificateData and clientKeyData")
	}
	who := &identity{key: status.Key}
	if status.Expires != nil {
		who.expires = *status.Expires
	}
	var err error
	if status.Token != "" {
		if who.token, err = cleanToken(status.Token); err != nil {
			return nil, fmt.Errorf("the token in the ExecCredential that it prints %w", err)
		}
	}
	if status.Certificate != "" {
		pair, err := tls.X509KeyPair([]byte(status.Certificate), []byte(status.Key))
		if err != nil {
			return nil, fmt.Errorf("the certificate and the key in the ExecCredential that it prints cannot be used: %w", err)
		}
		who.certificate = &pair
	}
	return who, nil
}

// limitedBuffer rejects writes beyond maxExecOutput.
type limitedBuffer struct {
	buffer bytes.Buffer
	full   bool
}

// Write implements io.Writer.
func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.full = b.buffer.Len()+len(p) > maxExecOutput; b.full {
		return 0, io.ErrShortWrite
	}
	return b.buffer.Write(p)
}
