package controllers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/stages"
)

// The ports that the containers of Cluster API's managers have, by their names.
const (
	portWebhooks = "webhook-server"
	portHealth   = "healthz"
)

// certificateFolder is where the containers have the certificate of their webhooks.
const certificateFolder = "/tmp/k8s-webhook-server/serving-certs"

// tokenSeconds is how long the token of a program is valid: as long as its pod, which it is bound to.
const tokenSeconds = int64(10 * 365 * 24 * 60 * 60)

// Program is one that runs for a pod.
type Program struct {
	// Name is that of the program, Namespace, Pod and UID are those of the pod.
	Name      string         `json:"name"`
	Namespace string         `json:"namespace"`
	Pod       string         `json:"pod"`
	UID       types.UID      `json:"uid"`
	Process   process.Record `json:"process"`
	// Ports are those of this machine by the names of the container's.
	Ports map[string]int `json:"ports"`
}

// programFile is the file of a program that says what runs, in the folder of all that it reads.
const programFile = "program.json"

func folderOf(dir layout.Dir, uid types.UID) string { return dir.Path("programs", string(uid)) }

func logName(program string) string { return "capi-" + program }

// ListPrograms returns the programs that a lab has started and not ended.
func ListPrograms(dir layout.Dir) ([]*Program, error) {
	files, err := filepath.Glob(filepath.Join(folderOf(dir, "*"), programFile))
	if err != nil {
		return nil, fmt.Errorf("looking for the programs of the lab: %w", err)
	}
	var all []*Program
	for _, file := range files {
		data, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		program := &Program{}
		if err == nil {
			err = json.Unmarshal(data, program)
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		all = append(all, program)
	}
	return all, nil
}

// StopPrograms ends all programs of a lab, whose Programs must not run any more.
func StopPrograms(ctx context.Context, dir layout.Dir) error {
	all, err := ListPrograms(dir)
	if err != nil {
		return err
	}
	for _, program := range all {
		err = errors.Join(err, program.stop(ctx, dir))
	}
	return err
}

func (p *Program) stop(ctx context.Context, dir layout.Dir) error {
	if err := p.Process.Kill(ctx); err != nil {
		return fmt.Errorf("ending program %s of pod %s/%s: %w", p.Name, p.Namespace, p.Pod, err)
	}
	if err := os.RemoveAll(folderOf(dir, p.UID)); err != nil {
		return fmt.Errorf("removing the files of pod %s/%s: %w", p.Namespace, p.Pod, err)
	}
	return nil
}

// start starts the program of a container. Its arguments are the container's; what follows them is different outside of a
// cluster, and the last of two equal flags counts.
func (p *Programs) start(ctx context.Context, pod *corev1.Pod, name string, container *corev1.Container) (*Program, error) {
	path := filepath.Join(p.Folder, name)
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("the lab has no program for image %s: build it with `make bin/capi`: %w", container.Image, err)
	}
	folder := folderOf(p.Dir, pod.UID)
	certificates, err := p.mount(ctx, pod, container, folder)
	if err != nil {
		return nil, err
	}
	kubeconfig, err := p.kubeconfig(ctx, pod, folder)
	if err != nil {
		return nil, err
	}
	ports, err := layout.FreePorts(ctx, 3)
	if err != nil {
		return nil, err
	}
	program := &Program{
		Name: name, Namespace: pod.Namespace, Pod: pod.Name, UID: pod.UID,
		Ports: map[string]int{portWebhooks: ports[0], portHealth: ports[1]},
	}
	spec := process.Spec{
		Path: path,
		Args: append(container.Args,
			"--kubeconfig="+kubeconfig,
			// Its lock would be in the namespace of the pod that it does not find itself in.
			"--leader-elect=false",
			"--webhook-cert-dir="+certificates,
			"--webhook-port="+strconv.Itoa(ports[0]),
			"--health-addr="+layout.Address(ports[1]),
			"--diagnostics-address=0",
		),
		Dir:     folder,
		LogFile: p.Dir.Log(logName(name)),
	}
	if name == stages.ProgramInMemory {
		workloads, claim, err := layout.KeepRange(ctx, p.Dir)
		if err != nil {
			return nil, err
		}
		defer claim.Close() //nolint:errcheck // The program has a copy.
		file, err := claim.File()
		if err != nil {
			return nil, fmt.Errorf("handing over the ports of the workload clusters in memory: %w", err)
		}
		defer file.Close() //nolint:errcheck // The program has a copy.
		spec.Files = []*os.File{file}
		spec.Args = append(spec.Args, "--debug-port="+strconv.Itoa(ports[2]),
			"--first-port="+strconv.Itoa(workloads.First()), "--last-port="+strconv.Itoa(workloads.Last()))
	} else {
		spec.Args = append(spec.Args, "--kube-api-qps=1000", "--kube-api-burst=2000")
	}
	if program.Process, err = process.StartDetached(spec); err != nil {
		return nil, err
	}
	// Written at once: should this process be killed, the next one knows what runs.
	data, err := json.Marshal(program)
	if err == nil {
		err = layout.WriteFile(filepath.Join(folder, programFile), data)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("noting program %s: %w", name, err), program.stop(ctx, p.Dir))
	}
	p.Log.InfoContext(ctx, "started", "program", name, "pod", pod.Name, "pid", program.Process.PID)
	return program, nil
}

// mount writes the Secrets that a container mounts, and returns the folder of the certificate of its webhooks.
func (p *Programs) mount(ctx context.Context, pod *corev1.Pod, container *corev1.Container, folder string) (certificates string, err error) {
	names := map[string]string{}
	for _, volume := range pod.Spec.Volumes {
		if volume.Secret != nil {
			names[volume.Name] = volume.Secret.SecretName
		}
	}
	for _, mount := range container.VolumeMounts {
		name, ok := names[mount.Name]
		if !ok {
			continue
		}
		secret, err := p.Client.CoreV1().Secrets(pod.Namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return "", fmt.Errorf("mounting volume %s: %w", mount.Name, err)
		}
		target := filepath.Join(folder, "volumes", mount.Name)
		if err := os.MkdirAll(target, 0o700); err != nil {
			return "", fmt.Errorf("mounting volume %s: %w", mount.Name, err)
		}
		for key, value := range secret.Data {
			if err := layout.WriteFile(filepath.Join(target, key), value); err != nil {
				return "", err
			}
		}
		if filepath.Clean(mount.MountPath) == certificateFolder {
			certificates = target
		}
	}
	if certificates == "" {
		return "", fmt.Errorf("container %s mounts no Secret at %s: its webhooks have no certificate", container.Name, certificateFolder)
	}
	return certificates, nil
}

// kubeconfig writes how the program reaches the API server: as the service account of its pod.
func (p *Programs) kubeconfig(ctx context.Context, pod *corev1.Pod, folder string) (path string, err error) {
	seconds := tokenSeconds
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: &seconds,
		BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID},
	}}
	account := pod.Spec.ServiceAccountName
	token, err := p.Client.CoreV1().ServiceAccounts(pod.Namespace).CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("requesting a token of service account %s: %w", account, err)
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["lab"] = &clientcmdapi.Cluster{Server: p.Server, CertificateAuthorityData: p.Authority}
	config.AuthInfos[account] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	config.Contexts["lab"] = &clientcmdapi.Context{Cluster: "lab", AuthInfo: account, Namespace: pod.Namespace}
	config.CurrentContext = "lab"
	data, err := clientcmd.Write(*config)
	if err != nil {
		return "", fmt.Errorf("encoding the kubeconfig of service account %s: %w", account, err)
	}
	path = filepath.Join(folder, "kubeconfig")
	return path, layout.WriteFile(path, data)
}
