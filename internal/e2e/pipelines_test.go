//go:build unix

package e2e_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// platform is a pipeline of the examples, with what its platform keeps between two jobs.
type platform struct {
	testing.TB
	tools tools
	// path is the PATH of the runners, which begins with the directory of the program under test.
	path string
	// example is the directory of the configuration.
	example string
	// backend replaces that of the configuration, empty where the platform's own is there.
	backend string
	// variables are those of the project, environment what the platform gives each job.
	variables, environment map[string]string
	jobs                   map[string]pipelineJob
	// kept is what the platform keeps: artifacts and, where backend is set, the state.
	kept string
}

// pipelineJob is a job as the platform runs it.
type pipelineJob struct {
	lines     []string
	artifacts []string
	// needs is the job whose artifacts it gets.
	needs string
}

// run runs a job on a new runner, and returns what it wrote.
func (p *platform) run(name string, extra ...string) string {
	p.Helper()
	job, ok := p.jobs[name]
	require.True(p, ok, "no job %s", name)
	m := newModule(p.TB, p.tools)
	require.NoError(p, os.CopyFS(m.dir, os.DirFS(p.example)))
	acctest.ForgetRuns(p, m.dir)
	if p.backend != "" {
		require.NoError(p, os.WriteFile(filepath.Join(m.dir, "backend_override.tf"), []byte(p.backend), 0o600))
		if _, err := os.Stat(filepath.Join(p.kept, "terraform.tfstate")); err == nil {
			m.take(p.kept, "terraform.tfstate")
		}
	}
	if job.needs != "" {
		m.take(p.kept, p.jobs[job.needs].artifacts...)
	}
	for key, value := range p.variables {
		m.env = append(m.env, key+"="+value)
	}
	for key, value := range p.environment {
		m.env = append(m.env, key+"="+os.Expand(value, func(name string) string { return p.variables[name] }))
	}
	m.env = append(append(m.env, extra...), "PATH="+p.path)
	m.user = newUser()
	if m.user != 0 {
		reachable(p, m.tools.cliConfig, filepath.Join(filepath.SplitList(p.path)[0], "terraform"), p.variables["TF_VAR_package"])
	}
	user := &syscall.SysProcAttr{Credential: m.credential()}
	var output strings.Builder
	for _, line := range job.lines {
		ctx, cancel := context.WithTimeout(p.Context(), runLimit)
		cmd := exec.CommandContext(ctx, "sh", "-ec", line) //nolint:gosec // a line of an example
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = m.dir, m.env, &output, &output, user
		err := cmd.Run()
		cancel()
		require.NoError(p, err, "job %s: %s\n%s", name, line, output.String())
	}
	files := job.artifacts
	if p.backend != "" && name == "apply" {
		files = append([]string{"terraform.tfstate"}, files...)
	}
	kept := &module{TB: p.TB, dir: p.kept}
	kept.take(m.dir, files...)
	return output.String()
}

// shownAsJSON is what a job does whose platform shows the changes of a plan, or checks them.
const shownAsJSON = "terraform show -json plan >shown.json && grep -q planned_values shown.json"

// life leads the instance through its life: planned and applied, planned without a change, planned to be destroyed and destroyed.
func (p *platform) life(destroy string) {
	p.Helper()
	plan := p.jobs["plan"]
	p.jobs["plan"] = pipelineJob{lines: append(slices.Clone(plan.lines), shownAsJSON), artifacts: plan.artifacts, needs: plan.needs}
	p.run("plan")
	p.jobs["plan"] = plan
	p.run("apply")
	if out := p.run("plan"); !strings.Contains(out, "No changes.") {
		p.Errorf("the plan after the apply says\n%s", out)
	}
	p.run("plan", destroy)
	if out := p.run("apply"); !strings.Contains(out, "3 destroyed") {
		p.Errorf("the last apply says\n%s", out)
	}
}

// gitlabJobs reads the jobs of a .gitlab-ci.yml, its variables, and the audiences of the tokens that jobs get by their variables.
func gitlabJobs(t testing.TB, path string) (jobs map[string]pipelineJob, variables, tokens map[string]string) {
	t.Helper()
	type job struct {
		Script        []string
		Needs         []string
		ResourceGroup string `json:"resource_group"`
		Artifacts     struct{ Paths []string }
	}
	var file struct {
		Variables map[string]string
		Default   struct {
			IDTokens map[string]struct{ Aud string } `json:"id_tokens"`
		}
		Plan, Apply job
	}
	readYAML(t, path, &file)
	jobs, tokens = map[string]pipelineJob{}, map[string]string{}
	for variable, token := range file.Default.IDTokens {
		tokens[variable] = token.Aud
	}
	for name, j := range map[string]job{"plan": file.Plan, "apply": file.Apply} {
		require.NotEmpty(t, j.ResourceGroup, "two pipelines could run the job %s at once", name)
		jobs[name] = pipelineJob{lines: j.Script, artifacts: j.Artifacts.Paths, needs: strings.Join(j.Needs, " ")}
	}
	return jobs, file.Variables, tokens
}

// githubJobs reads the jobs of a workflow. Steps that check out, install and carry artifacts are what the test does itself.
func githubJobs(t testing.TB, path string) (jobs map[string]pipelineJob, variables map[string]string) {
	t.Helper()
	var file struct {
		Env         map[string]string
		Concurrency struct{ Group string }
		Jobs        map[string]struct {
			Needs string
			Steps []struct {
				Uses, Run string
				With      map[string]any
				Env       map[string]string
			}
		}
	}
	readYAML(t, path, &file)
	require.NotEmpty(t, file.Concurrency.Group)
	jobs = map[string]pipelineJob{}
	for name, j := range file.Jobs {
		var job pipelineJob
		for _, step := range j.Steps {
			action, _, _ := strings.Cut(step.Uses, "@")
			switch action {
			case "":
				job.lines = append(job.lines, step.Run)
				// No two steps give one variable two values here: one environment serves all.
				maps.Copy(file.Env, step.Env)
			case "actions/upload-artifact":
				paths, _ := step.With["path"].(string)
				job.artifacts = strings.Fields(paths)
			case "actions/download-artifact":
				job.needs = j.Needs
			case "actions/checkout", "hashicorp/setup-terraform":
			default:
				t.Fatalf("job %s uses %s", name, step.Uses)
			}
		}
		jobs[name] = job
	}
	return jobs, file.Env
}

func readYAML(t testing.TB, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path) //nolint:gosec // a file of the examples
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(data, into))
}

// githubVariables replaces the expressions of a workflow.
func githubVariables(t testing.TB, env, values map[string]string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, value := range env {
		expression, found := strings.CutPrefix(value, "${{ ")
		if !found {
			out[name] = value
			continue
		}
		expression = strings.TrimSuffix(expression, " }}")
		known, ok := values[expression]
		require.True(t, ok, "the workflow has the expression %s", expression)
		out[name] = known
	}
	return out
}

// TestAccPipelines runs the examples for GitLab, GitHub Actions and HCP Terraform as these run them: each job is on a new runner with
// a user and a HOME of its own, and gets the configuration and the artifacts that the files name, and nothing else.
func TestAccPipelines(t *testing.T) {
	t.Parallel()
	lab, built := requirements(t)
	built = built.mirrored(t)
	path := built.searchPath(t)
	for name, prepare := range map[string]func(t *testing.T, p *platform, lab labtest.Env, tokens map[string]string) (destroy string){
		"gitlab-ci": func(t *testing.T, p *platform, _ labtest.Env, tokens map[string]string) string {
			t.Helper()
			var audiences map[string]string
			p.jobs, p.environment, audiences = gitlabJobs(t, filepath.Join(p.example, ".gitlab-ci.yml"))
			for variable, audience := range audiences {
				p.variables[variable] = tokens[audience]
			}
			for key, value := range map[string]string{
				"CI_API_V4_URL": "https://gitlab.invalid/api/v4", "CI_PROJECT_ID": "1", "CI_JOB_TOKEN": "job",
			} {
				p.variables[key] = value
			}
			return "DESTROY=true"
		},
		"github-actions": prepareGitHub,
		"hcp-terraform": func(t *testing.T, p *platform, _ labtest.Env, tokens map[string]string) string {
			t.Helper()
			p.variables["TFC_WORKLOAD_IDENTITY_TOKEN_STORE"], p.variables["TFC_WORKLOAD_IDENTITY_TOKEN_EDGE"] = tokens["store"], tokens["edge"]
			p.jobs = map[string]pipelineJob{
				"plan":  {lines: []string{"terraform init -input=false", "terraform plan -input=false -out=plan ${DESTROY:+-destroy}"}, artifacts: []string{"plan", ".terraform.lock.hcl"}},
				"apply": {lines: []string{"terraform init -input=false", "terraform apply -input=false plan"}, needs: "plan"},
			}
			return "DESTROY=true"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := lab.Namespace(t)
			tokens := map[string]string{"store": lab.StoreToken(t, namespace, "vnf-runner"), "edge": lab.AdminToken}
			p := &platform{
				TB: t, tools: built, path: path, example: filepath.Join(labtest.Root(t), "examples", name), kept: t.TempDir(),
				backend: "terraform {\n  backend \"local\" {}\n}\n", variables: projectVariables(t, lab, namespace),
			}
			p.life(prepare(t, p, lab, tokens))
			expectNowhere(t, slices.Collect(maps.Values(tokens)), p.kept)
			if left := lab.Kubectl(t, "get", "namespaces", p.variables["TF_VAR_namespace"], "--ignore-not-found", "-o", "name"); left != "" {
				t.Errorf("left behind: %s", left)
			}
		})
	}
}

// prepareGitHub stands up the endpoint from which a job gets its OIDC tokens.
func prepareGitHub(t *testing.T, p *platform, lab labtest.Env, tokens map[string]string) string {
	t.Helper()
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, ok := tokens[r.URL.Query().Get("audience")]
		if !ok || r.Header.Get("Authorization") != "bearer request" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"count": 1, "value": token})
	}))
	t.Cleanup(issuer.Close)
	var env map[string]string
	local := p.backend
	p.jobs, env = githubJobs(t, filepath.Join(p.example, ".github/workflows/terraform.yml"))
	p.environment, p.backend = githubVariables(t, env, map[string]string{
		"vars.STORE": p.variables["TF_VAR_store"], "vars.EDGE": p.variables["TF_VAR_edge"], "vars.PACKAGE": p.variables["TF_VAR_package"],
		"vars.STATE_NAMESPACE": lab.Namespace(t), "secrets.STATE_KUBECONFIG": lab.ReadFile(t, lab.Kubeconfig), "inputs.destroy && 'true' || ''": "",
	}), ""
	if !p.tools.hasBackend(t, "kubernetes", "secret_suffix") {
		t.Log("this build of Terraform has no backend for Kubernetes: the state is in a file")
		p.backend = local
	}
	p.variables["ACTIONS_ID_TOKEN_REQUEST_URL"], p.variables["ACTIONS_ID_TOKEN_REQUEST_TOKEN"] = issuer.URL+"/?api-version=2.0", "request"
	return "DESTROY=true"
}

// projectVariables are the variables that a user sets in the project.
func projectVariables(t *testing.T, lab labtest.Env, namespace string) map[string]string {
	t.Helper()
	object := func(values map[string]string) string {
		data, err := json.Marshal(values)
		require.NoError(t, err)
		return string(data)
	}
	ca := lab.ReadFile(t, lab.CAFile)
	hello := acctest.CopyPackage(t, "hello")
	return map[string]string{
		"TF_VAR_store":     object(map[string]string{"endpoint": lab.Endpoint, "ca_certificate": ca, "namespace": namespace}),
		"TF_VAR_edge":      object(map[string]string{"endpoint": lab.Endpoint, "ca_certificate": ca}),
		"TF_VAR_package":   hello,
		"TF_VAR_namespace": namespace + "-vnf",
	}
}
