package lcm_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// talker is a management driver that quotes its parameters, as programs do that it runs.
type talker struct{ worker }

func (d *talker) Run(ctx context.Context, call *vnfm.HookCall) error {
	site, _ := call.Params["site"].(map[string]any)
	password, _ := site["password"].(string)
	call.Recorder.Progress(ctx, "logging in with "+password)
	return errors.New("login as root with " + password + " failed")
}

// TestErrorsOfOperationsAreMasked has everybody quote the secrets of an operation. Its record
// has none of them, in whatever form.
func TestErrorsOfOperationsAreMasked(t *testing.T) {
	const (
		token    = "t0ken/of-the\"kubeconfig"
		header   = "header-token-of-the-test"
		password = "planted-secret"
		data     = "data-of-a-secret"
	)
	w, _, spec := newWorkerEnv(t)
	kubeconfig := "apiVersion: v1\nkind: Config\nusers:\n- name: admin\n  user:\n    token: 't0ken/of-the\"kubeconfig'\n    client-key-data: LS0tLS1wbGFudGVkLWtleS0tLS0t\n"
	v, _, err := w.RegisterVIM(t.Context(), "", vnfm.VIMSpec{
		Name: "file", Type: vnfm.VIMTypeKubernetes, Kubernetes: &vnfm.KubernetesConnection{}, Credentials: vnfm.Credentials{vnfm.CredentialKubeconfig: vnfm.Secret(kubeconfig)},
	})
	require.NoError(t, err)
	w.management = map[string]vnfm.ManagementDriver{vnfm.ArtifactBash: &talker{}}
	spec.VIMID = v.ID
	// Who logs in is not a secret, whatever else is the same text.
	spec.SecretParams = map[string]any{"site": map[string]any{"password": password, "root_password": "root"}}
	spec.Sink = &vnfm.CredentialsSink{URL: "https://192.0.2.1", Headers: map[string]vnfm.Secret{"Authorization": "Bearer " + header}}
	text := strings.Join([]string{
		"begin", token, `t0ken/of-the\"kubeconfig`, "t0ken%2Fof-the%22kubeconfig", base64.StdEncoding.EncodeToString([]byte(token)),
		"LS0tLS1wbGFudGVkLWtleS0tLS0t", "-----planted-key-----", header, password, base64.StdEncoding.EncodeToString([]byte(password)), data, "end",
	}, " ")
	w.driver.does("wrote apps/v1/Deployment b", func() error { return errors.New(text) })
	e := w.open(t)
	// An infra driver conceals the secrets of its own rendering.
	ctx := vnfm.WithConcealed(t.Context())
	vnfm.Conceal(ctx, data)
	_, err = e.Instantiate(ctx, spec)
	var failed *vnfm.OperationError
	require.ErrorAs(t, err, &failed)
	if text := err.Error(); !strings.Contains(text, "begin (sensitive)") || strings.Contains(text, token) || strings.Contains(text, password) {
		t.Errorf("the error says %s", text)
	}
	w.driver.fail = nil
	require.Error(t, second(w.open(t).Update(t.Context(), failed.Instance.ID, spec)), "the hook did not fail")
	// A termination has no request to know its secrets from.
	require.Error(t, w.open(t).Terminate(t.Context(), failed.Instance.ID, vnfm.TerminateSpec{}), "the hook did not fail")
	occs, err := w.open(t).Operations(t.Context(), failed.Instance.ID)
	require.NoError(t, err)
	var texts []string
	for _, occ := range occs {
		texts = append(texts, occ.Error, occ.Progress)
	}
	if all := strings.Join(texts, "\n"); !strings.Contains(all, "login as root with (sensitive) failed") || !strings.Contains(all, "logging in with (sensitive)") {
		t.Errorf("the operations say:\n%s", all)
	}
	reports := w.reports(t)
	require.NotEmpty(t, reports)
	if all := fmt.Sprint(reports); !strings.Contains(all, "login as root with (sensitive) failed") || !strings.Contains(all, "logging in with (sensitive)") {
		t.Errorf("the reports say:\n%s", all)
	}
	notIn(t, w.dir, token, `t0ken/of-the\"kubeconfig`, `t0ken/of-the\\\"kubeconfig`, "t0ken%2Fof-the%22kubeconfig", base64.StdEncoding.EncodeToString([]byte(token)),
		"LS0tLS1wbGFudGVkLWtleS0tLS0t", "planted-key", header, password, base64.StdEncoding.EncodeToString([]byte(password)), data)
}

// notIn looks for texts in the files of a store.
func notIn(t *testing.T, dir string, texts ...string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		for _, text := range texts {
			if strings.Contains(string(content), text) {
				t.Errorf("%s holds %q", filepath.Base(path), text)
			}
		}
		return err
	})
	require.NoError(t, err)
}
