package cluster

import (
	"fmt"
	"strconv"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/proxy"
)

// The processes of a lab.
const (
	ProcessServe             = "serve"
	processEtcd              = "etcd"
	processAPIServer         = "kube-apiserver"
	processControllerManager = "kube-controller-manager"
	processScheduler         = "kube-scheduler"
	processKwok              = "kwok"
)

// processes are in the order of starting; they are stopped in the opposite one.
func processes() []string {
	return []string{ProcessServe, processEtcd, processAPIServer, processControllerManager, processScheduler, processKwok}
}

// controlPlane are the processes whose version is that of Kubernetes.
func controlPlane() []string {
	return []string{processAPIServer, processControllerManager, processScheduler}
}

const (
	auditPolicyFile = "audit-policy.yaml"
	egressFile      = "egress.yaml"
	kwokFile        = "kwok.yaml"

	serviceRange   = "10.96.0.0/16"
	serviceIP      = "10.96.0.1"
	frontProxyUser = "front-proxy-client"
)

// auditPolicy logs who asked for what, at the end of each request. The control plane itself is left out: what remains
// can be counted as the requests of the clients under test.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: None
  users:
  - system:apiserver
  - system:kube-controller-manager
  - system:kube-scheduler
  - ` + userKwok + `
  - ` + userService + `
- level: None
  userGroups:
  - system:nodes
  - system:serviceaccounts:kube-system
  - system:serviceaccounts:capi-system
  - system:serviceaccounts:capi-kubeadm-bootstrap-system
  - system:serviceaccounts:capi-kubeadm-control-plane-system
  - system:serviceaccounts:capd-system
  - system:serviceaccounts:capo-system
- level: Metadata
`

// egressConfig sends the API server to the lab's egress proxy for everything that is in the cluster. The programs of a
// lab run in its directory: so does this name.
const egressConfig = `apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
- name: cluster
  connection:
    proxyProtocol: HTTPConnect
    transport: {uds: {udsName: ` + layout.EgressSocket + `}}
`

// arguments are the flags of a program, after its name.
func arguments(name string, dir layout.Dir, state *layout.State) []string {
	ports := state.Ports
	switch name {
	case ProcessServe:
		return []string{"--dir", string(dir)}
	case processEtcd:
		client, peer := "http://"+layout.Address(ports.EtcdClient()), "http://"+layout.Address(ports.EtcdPeer())
		return []string{
			"--name=lab",
			"--data-dir=" + dir.Path("etcd"),
			"--listen-client-urls=" + client,
			"--advertise-client-urls=" + client,
			"--listen-peer-urls=" + peer,
			"--initial-advertise-peer-urls=" + peer,
			"--initial-cluster=lab=" + peer,
			// A lab is thrown away: no need to survive a power cut.
			"--unsafe-no-fsync",
			"--quota-backend-bytes=2147483648",
			"--log-level=warn",
		}
	case processAPIServer:
		return apiServerArguments(dir, state)
	case processControllerManager:
		return append(controlPlaneArguments(dir.Kubeconfig(kubeconfigControllerManager), ports.ControllerManager()),
			"--service-account-private-key-file="+dir.PKI("service-accounts.key"),
			"--root-ca-file="+dir.PKI("ca.crt"),
			"--cluster-signing-cert-file="+dir.PKI("ca.crt"),
			"--cluster-signing-key-file="+dir.PKI("ca.key"),
			"--use-service-account-credentials=true",
			// Without leases the node life cycle would call every node NotReady after five minutes.
			"--controllers=*,-node-lifecycle-controller",
		)
	case processScheduler:
		return controlPlaneArguments(dir.Kubeconfig(kubeconfigScheduler), ports.Scheduler())
	case processKwok:
		return []string{
			"--kubeconfig=" + dir.Kubeconfig(kubeconfigKwok),
			"--config=" + dir.Path(kwokFile),
			"--manage-all-nodes=true",
			"--node-ip=127.0.0.1",
			"--node-port=" + strconv.Itoa(ports.Kubelet()),
			"--node-lease-duration-seconds=0",
			"--server-address=" + layout.Address(ports.Kwok()),
		}
	default:
		return nil
	}
}

func apiServerArguments(dir layout.Dir, state *layout.State) []string {
	arguments := []string{
		"--etcd-servers=http://" + layout.Address(state.Ports.EtcdClient()),
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(state.Ports.APIServer()),
		// 127.0.0.1 is not a valid address of an Endpoints object.
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=" + serviceRange,
		"--allow-privileged=true",
		"--authorization-mode=Node,RBAC",
		// It would taint new nodes until the node life cycle, which does not run, finds them ready.
		"--disable-admission-plugins=TaintNodesByCondition",

		"--tls-cert-file=" + dir.PKI("kube-apiserver.crt"),
		"--tls-private-key-file=" + dir.PKI("kube-apiserver.key"),
		"--client-ca-file=" + dir.PKI("ca.crt"),
		"--token-auth-file=" + dir.PKI("tokens.csv"),

		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + dir.PKI("service-accounts.pub"),
		"--service-account-signing-key-file=" + dir.PKI("service-accounts.key"),

		"--kubelet-certificate-authority=" + dir.PKI("ca.crt"),
		"--kubelet-client-certificate=" + dir.PKI("kubelet-client.crt"),
		"--kubelet-client-key=" + dir.PKI("kubelet-client.key"),
		"--kubelet-preferred-address-types=InternalIP",
		"--egress-selector-config-file=" + dir.Path(egressFile),

		"--requestheader-client-ca-file=" + dir.PKI("front-proxy-ca.crt"),
		"--requestheader-allowed-names=" + frontProxyUser,
		"--requestheader-username-headers=" + proxy.HeaderUser,
		"--requestheader-group-headers=" + proxy.HeaderGroup,
		"--requestheader-extra-headers-prefix=" + proxy.HeaderExtraPrefix,
		"--proxy-client-cert-file=" + dir.PKI("front-proxy-client.crt"),
		"--proxy-client-key-file=" + dir.PKI("front-proxy-client.key"),
	}
	if !state.Audit {
		return arguments
	}
	return append(arguments,
		"--audit-policy-file="+dir.Path(auditPolicyFile),
		"--audit-log-path="+dir.AuditLog(),
		"--audit-log-format=json",
		// One event a batch: it is in the file a moment after the request, and the request does not wait for it.
		"--audit-log-mode=batch",
		"--audit-log-batch-max-size=1",
		"--audit-log-maxsize=256",
		"--audit-log-maxbackup=1",
	)
}

// controlPlaneArguments are common to kube-controller-manager and kube-scheduler. Their client limits are raised so that
// a test measures the client under test and not their pace.
func controlPlaneArguments(kubeconfig string, port int) []string {
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--leader-elect=false",
		"--kube-api-qps=1000",
		"--kube-api-burst=2000",
	}
}
