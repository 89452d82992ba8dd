#!/usr/bin/env python3
"""A stand-in of kubeadm 1.33, and of kubectl where that would need containers.

It takes the commands, flags and configurations that kubeadm takes and refuses others; those that it does not play it refuses
as well. What it makes is the real thing without containers: etcd, API servers, controllers, with certificates, bootstrap
tokens and encrypted certificates as kubeadm has them. KWOK plays kubelets.
"""
import base64
import glob
import hashlib
import ipaddress
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import time

VERSION = "v1.33.1"
CONFIG = "/etc/kubernetes"
PKI = CONFIG + "/pki"
ADMIN = CONFIG + "/admin.conf"
ETCD_DATA = "/var/lib/etcd"
UNITS = ["kubelet", "kwok", "kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd"]
# What masters share, as upload-certs does.
SHARED = ["ca.crt", "ca.key", "sa.pub", "sa.key", "etcd/ca.crt", "etcd/ca.key"]
RECORD = "/var/log/kubeadm-calls.jsonl"

# The flags of commands: those that take a value have "=". More are those that kubeadm knows and this does not play.
COMMON = ["--v="]
FLAGS = {
    "init": ["--config=", "--skip-token-print", "--upload-certs"],
    "init phase upload-certs": ["--config=", "--upload-certs", "--kubeconfig=", "--skip-certificate-key-print"],
    "join": ["--config="],
    "reset": ["--force", "--skip-phases="],
    "token create": ["--ttl=", "--print-join-command", "--kubeconfig="],
    "version": ["--output="],
}
SHORT = {"-f": "--force", "-o": "--output", "-v": "--v"}
RESET_PHASES = ["preflight", "remove-etcd-member", "cleanup-node"]

ARGS = [{"name": "", "value": ""}]
REGISTRATION = {
    "name": "", "criSocket": "", "taints": None, "kubeletExtraArgs": ARGS, "ignorePreflightErrors": None,
    "imagePullPolicy": "", "imagePullSerial": None,
}
API_ENDPOINT = {"advertiseAddress": "", "bindPort": 0}
COMPONENT = {"extraArgs": ARGS, "extraVolumes": None, "extraEnvs": None}
SCHEMA = {
    "InitConfiguration": {
        "bootstrapTokens": None, "dryRun": None, "nodeRegistration": REGISTRATION, "localAPIEndpoint": API_ENDPOINT,
        "certificateKey": "", "skipPhases": None, "patches": None, "timeouts": None,
    },
    "JoinConfiguration": {
        "dryRun": None, "nodeRegistration": REGISTRATION, "caCertPath": "", "skipPhases": None, "patches": None, "timeouts": None,
        "discovery": {
            "bootstrapToken": {"token": "", "apiServerEndpoint": "", "caCertHashes": [""], "unsafeSkipCAVerification": None},
            "file": {"kubeConfigPath": ""}, "tlsBootstrapToken": "",
        },
        "controlPlane": {"localAPIEndpoint": API_ENDPOINT, "certificateKey": ""},
    },
    "ClusterConfiguration": {
        "etcd": None, "networking": {"serviceSubnet": "", "podSubnet": "", "dnsDomain": ""}, "kubernetesVersion": "",
        "controlPlaneEndpoint": "", "apiServer": dict(COMPONENT, certSANs=[""]), "controllerManager": COMPONENT,
        "scheduler": COMPONENT, "dns": None, "proxy": None, "certificatesDir": "", "imageRepository": "", "featureGates": None,
        "clusterName": "", "encryptionAlgorithm": "", "certificateValidityPeriod": "", "caCertificateValidityPeriod": "",
    },
}


def fail(text):
    sys.exit("error: " + text)


def run(*args, stdin=None, check=True, env=None):
    """Runs a program and returns what it prints."""
    done = subprocess.run(args, input=stdin, capture_output=True, text=True, env=dict(os.environ, **(env or {})))
    if check and done.returncode:
        fail("%s: %s" % (" ".join(args[:3]), (done.stderr or done.stdout).strip()))
    return done.stdout if check else done


def kubectl(*args, config=ADMIN, stdin=None, check=True):
    return run("lab-kubectl", "--kubeconfig", config, *args, stdin=stdin, check=check)


def write(path, text, mode=0o600):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w") as f:
        f.write(text)


def read(path):
    with open(path) as f:
        return f.read()


def eventually(what, try_it, seconds=120):
    """Tries until it answers."""
    deadline = time.time() + seconds
    while True:
        got = try_it()
        if got:
            return got
        if time.time() > deadline:
            fail("timed out waiting for " + what)
        time.sleep(0.5)


# The command line and the configuration.

def parse(words):
    """The command, its flags and its other arguments."""
    command, flags = [], {}
    words = list(words)
    while words and not words[0].startswith("-"):
        command.append(words.pop(0))
    name = " ".join(command)
    if name not in FLAGS:
        fail('unknown command "%s" for "kubeadm", or one that the stand-in does not play' % name)
    known = FLAGS[name] + COMMON
    while words:
        flag, equals, value = words.pop(0).partition("=")
        flag = SHORT.get(flag, flag)
        if flag + "=" in known:
            if not equals:
                if not words:
                    fail("flag needs an argument: " + flag)
                value = words.pop(0)
        elif flag not in known or equals:
            fail("unknown flag: %s, or one that the stand-in does not play" % flag)
        flags[flag] = value
    return name, flags


def conform(value, schema, at):
    """Refuses what a configuration of kubeadm cannot have."""
    if schema is None or value is None:
        return
    if isinstance(schema, dict):
        if not isinstance(value, dict):
            fail("%s is no object" % at)
        for key, inner in value.items():
            if key not in schema:
                fail('unknown field "%s.%s"' % (at, key))
            conform(inner, schema[key], at + "." + key)
    elif isinstance(schema, list):
        if not isinstance(value, list):
            fail("%s is no list" % at)
        for n, inner in enumerate(value):
            conform(inner, schema[0], "%s[%d]" % (at, n))
    elif not isinstance(value, type(schema)):
        fail("%s is %r" % (at, value))


def configuration(path, *kinds):
    """The documents of a file, by kind. kubectl reads the YAML, and adds a label to show it."""
    if not path:
        fail("the stand-in needs --config")
    if os.stat(path).st_mode & 0o077:
        fail("others can read " + path)
    text = run("lab-kubectl", "label", "--local", "-f", path, "-o", "json", "kubeadm=")
    found = {}
    while text.strip():
        doc, end = json.JSONDecoder().raw_decode(text.lstrip())
        text = text.lstrip()[end:]
        del doc["metadata"]
        version, kind = doc.pop("apiVersion"), doc.pop("kind")
        if version != "kubeadm.k8s.io/v1beta4" or kind not in kinds or kind in found:
            fail("the configuration may not have %s of %s" % (kind, version))
        conform(doc, SCHEMA[kind], kind)
        found[kind] = doc
    if kinds[0] not in found:
        fail("no %s in the configuration" % kinds[0])
    return found


def address(text):
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        fail("%r is no address" % text)


def preflight(*absent):
    for path in absent:
        if glob.glob(path):
            fail("[preflight] Some fatal errors occurred: %s is there already" % path)


# Certificates.

def key(name, rsa=False):
    path = "%s/%s.key" % (PKI, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if rsa:
        run("openssl", "genrsa", "-out", path, "2048")
    else:
        run("openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path)
    os.chmod(path, 0o600)
    return path


def authority(name, subject):
    run("openssl", "req", "-x509", "-new", "-key", key(name), "-subj", subject, "-days", "3650", "-out", "%s/%s.crt" % (PKI, name),
        "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,digitalSignature,keyEncipherment,keyCertSign")


def sign(name, by, subject, usage, names=()):
    at, ca = PKI + "/" + name, PKI + "/" + by
    run("openssl", "req", "-new", "-key", key(name), "-subj", subject, "-out", at + ".csr")
    alternatives = []
    for n in dict.fromkeys(names):
        try:
            alternatives.append("IP:" + str(ipaddress.ip_address(n)))
        except ValueError:
            alternatives.append("DNS:" + n)
    write(at + ".ext", "extendedKeyUsage=%s\n%s" % (usage, "subjectAltName=" + ",".join(alternatives) if names else ""))
    run("openssl", "x509", "-req", "-in", at + ".csr", "-CA", ca + ".crt", "-CAkey", ca + ".key", "-set_serial", "0x" + secrets.token_hex(8),
        "-days", "3650", "-extfile", at + ".ext", "-out", at + ".crt")
    os.remove(at + ".csr")
    os.remove(at + ".ext")


def digest_of(certificate):
    """The hash of the public key of a certificate, as joins pin it."""
    public = run("openssl", "x509", "-noout", "-pubkey", stdin=certificate)
    der = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "der"], input=public.encode(), capture_output=True, check=True).stdout
    return "sha256:" + hashlib.sha256(der).hexdigest()


def kubeconfig(server, authority_pem, user):
    encoded = base64.b64encode(authority_pem.encode()).decode()
    # One field a line, as kubeadm writes it.
    lines = ["apiVersion: v1", "kind: Config", "clusters:", "- cluster:", "    certificate-authority-data: " + encoded,
             "    server: https://" + server, "  name: kubernetes", "contexts:", "- context:", "    cluster: kubernetes",
             "    user: kubernetes-admin", "  name: kubernetes-admin@kubernetes", "current-context: kubernetes-admin@kubernetes",
             "users:", "- name: kubernetes-admin", "  user:"]
    return "\n".join(lines + ["    %s: %s" % item for item in user.items()]) + "\n"


def certificate_user(name):
    def pem(kind):
        return base64.b64encode(read("%s/%s.%s" % (PKI, name, kind)).encode()).decode()
    return {"client-certificate-data": pem("crt"), "client-key-data": pem("key")}


def own_certificates(cluster, node, at):
    """Certificates and configurations of one master."""
    service = str(next(ipaddress.ip_network(cluster["networking"]["serviceSubnet"]).hosts()))
    endpoint = cluster["controlPlaneEndpoint"].rpartition(":")[0].strip("[]")
    names = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local", node, service, at, endpoint]
    sign("apiserver", "ca", "/CN=kube-apiserver", "serverAuth", names + cluster.get("apiServer", {}).get("certSANs", []))
    sign("admin", "ca", "/O=system:masters/CN=kubernetes-admin", "clientAuth")
    sign("etcd/server", "etcd/ca", "/CN=" + node, "serverAuth,clientAuth", [node, "localhost", at, "127.0.0.1"])
    ca = read(PKI + "/ca.crt")
    write(ADMIN, kubeconfig(cluster["controlPlaneEndpoint"], ca, certificate_user("admin")))
    # Those of the control plane speak to the API server beside them.
    write(CONFIG + "/controller-manager.conf", kubeconfig(bracketed(at) + ":6443", ca, certificate_user("admin")))


def bracketed(host):
    return "[%s]" % host if ":" in host else host


# etcd.

def etcd(path, body, at="127.0.0.1", check=True):
    """Asks a member of etcd."""
    pki = PKI + "/etcd/"
    done = run("curl", "-sf", "--noproxy", "*", "--max-time", "30", "--cacert", pki + "ca.crt", "--cert", pki + "server.crt", "--key", pki + "server.key",
               "-d", json.dumps(body), "https://%s:2379/v3/%s" % (bracketed(at), path), check=False)
    if done.returncode and check:
        fail("etcd at %s does not answer %s: curl ended with %d" % (at, path, done.returncode))
    return json.loads(done.stdout) if done.returncode == 0 else None


def peer(at):
    return "https://%s:2380" % bracketed(at)


# Units of systemd.

def unit(name, command, kind="simple"):
    write("/etc/systemd/system/%s.service" % name, """[Unit]
Description=%s
[Service]
Type=%s
ExecStart=%s
Restart=always
RestartSec=1s
TimeoutStartSec=120
TimeoutStopSec=3s
[Install]
WantedBy=multi-user.target
""" % (name, kind, command), 0o644)
    run("systemctl", "daemon-reload")
    run("systemctl", "enable", "--quiet", name)
    run("systemctl", "start", "--no-block", name)


def start_etcd(node, at, members):
    pki = PKI + "/etcd/"
    initial = ",".join("%s=%s" % (name, peer(a)) for name, a in members)
    unit("etcd", "/usr/local/bin/etcd --name %s --data-dir %s" % (node, ETCD_DATA)
         + " --listen-client-urls https://127.0.0.1:2379,https://%(at)s:2379 --advertise-client-urls https://%(at)s:2379"
           " --listen-peer-urls https://%(at)s:2380 --initial-advertise-peer-urls https://%(at)s:2380" % {"at": bracketed(at)}
         + " --initial-cluster %s --initial-cluster-state %s" % (initial, "new" if len(members) == 1 else "existing")
         + "".join(" --%scert-file=%sserver.crt --%skey-file=%sserver.key --%strusted-ca-file=%sca.crt --%sclient-cert-auth" % (p, pki, p, pki, p, pki, p)
                   for p in ["", "peer-"]), "notify")
    eventually("etcd", lambda: etcd("maintenance/status", {}, check=False))


def start_control_plane(cluster, node, at):
    """Starts what kubeadm starts as static pods, and notes these where kubeadm does."""
    local = CONFIG + "/controller-manager.conf"
    pki = PKI
    unit("kube-apiserver", "/usr/local/bin/kube-apiserver --etcd-servers=https://127.0.0.1:2379 --etcd-cafile=%(pki)s/etcd/ca.crt"
         " --etcd-certfile=%(pki)s/etcd/server.crt --etcd-keyfile=%(pki)s/etcd/server.key --secure-port=6443 --advertise-address=%(at)s"
         " --service-cluster-ip-range=%(services)s --client-ca-file=%(pki)s/ca.crt --tls-cert-file=%(pki)s/apiserver.crt"
         " --tls-private-key-file=%(pki)s/apiserver.key --service-account-issuer=https://kubernetes.default.svc.cluster.local"
         " --service-account-key-file=%(pki)s/sa.pub --service-account-signing-key-file=%(pki)s/sa.key --authorization-mode=Node,RBAC"
         " --enable-bootstrap-token-auth=true --disable-admission-plugins=TaintNodesByCondition --cert-dir=%(pki)s/own"
         % {"pki": pki, "at": at, "services": cluster["networking"]["serviceSubnet"]})
    unit("kube-controller-manager", "/usr/local/bin/kube-controller-manager --kubeconfig=%(local)s --use-service-account-credentials=true"
         " --controllers=*,-node-lifecycle-controller --cluster-signing-cert-file=%(pki)s/ca.crt --cluster-signing-key-file=%(pki)s/ca.key"
         " --root-ca-file=%(pki)s/ca.crt --service-account-private-key-file=%(pki)s/sa.key --cert-dir=%(pki)s/own --secure-port=0"
         % {"pki": pki, "local": local})
    unit("kube-scheduler", "/usr/local/bin/lab run kube-scheduler --kubeconfig=%s --secure-port=0" % local)
    unit("kwok", "/usr/local/bin/lab run kwok --kubeconfig=%s --config=/usr/local/share/kubeadm/stages.yaml --manage-all-nodes=true"
                 " --node-lease-duration-seconds=0" % local)
    for name in ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"]:
        write("%s/manifests/%s.yaml" % (CONFIG, name), "# unit %s of systemd\n" % name)
    eventually("the API server", lambda: kubectl("get", "--raw", "/readyz", config=local, check=False).returncode == 0)
    # As a client from outside does.
    eventually("the API server at " + cluster["controlPlaneEndpoint"], lambda: kubectl("get", "--raw", "/readyz", check=False).returncode == 0, 20)


# What is in the cluster.

def apply(*objects, config=ADMIN):
    kubectl("apply", "-f", "-", config=config, stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))


def thing(kind, name, namespace="kube-system", version="v1", **fields):
    return dict({"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": namespace}}, **fields)


def binding(name, namespace, group, *rules):
    rbac = "rbac.authorization.k8s.io"
    role, bound = ("Role", "RoleBinding") if namespace else ("ClusterRole", "ClusterRoleBinding")
    return [thing(role, name, namespace, rbac + "/v1", rules=list(rules)),
            thing(bound, name, namespace, rbac + "/v1", roleRef={"apiGroup": rbac, "kind": role, "name": name},
                  subjects=[{"apiGroup": rbac, "kind": "Group", "name": group}])]


def rule(resource, *verbs, names=None):
    out = {"apiGroups": [""], "resources": [resource], "verbs": list(verbs)}
    return dict(out, resourceNames=names) if names else out


BOOTSTRAPPERS = "system:bootstrappers:kubeadm:default-node-token"


def publish(cluster):
    """What those who join read."""
    ca = read(PKI + "/ca.crt")
    info = json.dumps({"server": cluster["controlPlaneEndpoint"], "ca": ca})
    apply(thing("ConfigMap", "kubeadm-config", data={"ClusterConfiguration": json.dumps(cluster)}),
          thing("ConfigMap", "cluster-info", "kube-public", data={"kubeconfig": info}),
          *binding("kubeadm:bootstrap-signer-clusterinfo", "kube-public", "system:unauthenticated", rule("configmaps", "get", names=["cluster-info"])),
          *binding("kubeadm:nodes-kubeadm-config", "kube-system", BOOTSTRAPPERS, rule("configmaps", "get", names=["kubeadm-config"]),
                   rule("secrets", "get", names=["kubeadm-certs"])),
          # Here kubelets register by their token, and not by the certificate that they get for it.
          *binding("kubeadm:node-registration", "", BOOTSTRAPPERS, rule("nodes", "get", "create", "patch")))


def register(node, ip, master, config):
    """What the kubelet does when it starts."""
    labels = {"kubernetes.io/hostname": node, "kubernetes.io/os": "linux"}
    spec = {}
    if master:
        labels["node-role.kubernetes.io/control-plane"] = ""
        spec["taints"] = [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]
    apply({"apiVersion": "v1", "kind": "Node", "spec": spec, "metadata": {
        "name": node, "labels": labels, "annotations": {"kwok.x-k8s.io/node": "kubeadm", "kubespray/address": ip}}}, config=config)
    unit("kubelet", "/bin/sleep infinity")
    write(CONFIG + "/kubelet.conf", read(config))


def mirror(node, at):
    """The pod that is etcd: others find its member by it."""
    pod = thing("Pod", "etcd-" + node, spec={"nodeName": node, "hostNetwork": True, "containers": [{"name": "etcd", "image": "etcd"}]})
    pod["metadata"].update(labels={"component": "etcd", "tier": "control-plane"}, annotations={
        "kubernetes.io/config.mirror": "-", "kubernetes.io/config.source": "file", "kubernetes.io/config.hash": "-",
        "kubeadm.kubernetes.io/etcd.advertise-client-urls": "https://%s:2379" % bracketed(at)})
    apply(pod)


def cipher(data, secret, *more):
    done = subprocess.run(["openssl", "enc", "-aes-256-cbc", "-pbkdf2", "-pass", "env:KEY", *more], input=data, capture_output=True,
                          env=dict(os.environ, KEY=secret))
    if done.returncode:
        fail("the certificates cannot be decrypted: the certificate key is another one")
    return done.stdout


def upload_certificates(quiet):
    secret = secrets.token_hex(32)
    data = {}
    for name in SHARED:
        sealed = cipher(read(PKI + "/" + name).encode(), secret)
        data[name.replace("/", "-")] = base64.b64encode(sealed).decode()
    apply(thing("Secret", "kubeadm-certs", data=data))
    print('[upload-certs] Storing the certificates in Secret "kubeadm-certs" in the "kube-system" Namespace')
    if not quiet:
        print("[upload-certs] Using certificate key:\n" + secret)


# The commands.

def registration(doc):
    node = doc["nodeRegistration"]
    name = node["name"]
    if not re.fullmatch(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?", name):
        fail("nodeRegistration.name is %r" % name)
    args = {a["name"]: a["value"] for a in node.get("kubeletExtraArgs", [])}
    return name, address(args["node-ip"])


def cluster_of(docs):
    cluster = docs["ClusterConfiguration"]
    if cluster["kubernetesVersion"] != VERSION:
        fail("this kubeadm makes clusters of version %s, not %s" % (VERSION, cluster["kubernetesVersion"]))
    for field in ["serviceSubnet", "podSubnet"]:
        ipaddress.ip_network(cluster["networking"][field])
    if not re.fullmatch(r".+:[0-9]+", cluster["controlPlaneEndpoint"]):
        fail("controlPlaneEndpoint is %r" % cluster["controlPlaneEndpoint"])
    return cluster


def init(flags):
    docs = configuration(flags.get("--config"), "InitConfiguration", "ClusterConfiguration")
    cluster, (node, ip) = cluster_of(docs), registration(docs["InitConfiguration"])
    at = address(docs["InitConfiguration"]["localAPIEndpoint"]["advertiseAddress"])
    preflight(CONFIG + "/manifests/*.yaml", ETCD_DATA + "/*", CONFIG + "/*.conf")
    print("[init] Using Kubernetes version: " + VERSION)
    authority("ca", "/CN=kubernetes")
    authority("etcd/ca", "/CN=etcd-ca")
    run("openssl", "rsa", "-in", key("sa", rsa=True), "-pubout", "-out", PKI + "/sa.pub")
    own_certificates(cluster, node, at)
    start_etcd(node, at, [(node, at)])
    start_control_plane(cluster, node, at)
    register(node, ip, True, ADMIN)
    mirror(node, at)
    publish(cluster)
    if "--upload-certs" in flags:
        upload_certificates(False)
    made = new_token("24h")
    print("Your Kubernetes control-plane has initialized successfully!")
    if "--skip-token-print" not in flags:
        print(join_command(cluster, made))


def seconds(text):
    match = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?", text)
    if not text or not match:
        fail("%r is no duration" % text)
    h, m, s = (int(n or 0) for n in match.groups())
    return h * 3600 + m * 60 + s


def new_token(ttl):
    name, secret = secrets.token_hex(3), secrets.token_hex(8)
    until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds(ttl)))
    apply(thing("Secret", "bootstrap-token-" + name, type="bootstrap.kubernetes.io/token", stringData={
        "token-id": name, "token-secret": secret, "expiration": until, "usage-bootstrap-authentication": "true",
        "usage-bootstrap-signing": "true", "auth-extra-groups": BOOTSTRAPPERS}))
    return name + "." + secret


def join_command(cluster, made):
    return "kubeadm join %s --token %s --discovery-token-ca-cert-hash %s" % (cluster["controlPlaneEndpoint"], made, digest_of(read(PKI + "/ca.crt")))


def held(config):
    return json.loads(json.loads(kubectl("-n", "kube-system", "get", "configmap", "kubeadm-config", "-o", "json", config=config))["data"]["ClusterConfiguration"])


def token_create(flags):
    made = new_token(flags.get("--ttl", "24h"))
    print(join_command(held(ADMIN), made) if "--print-join-command" in flags else made)


def upload_phase(flags):
    cluster_of(configuration(flags.get("--config"), "InitConfiguration", "ClusterConfiguration"))
    if "--upload-certs" not in flags:
        print("[upload-certs] Skipping phase. Please see --upload-certs")
        return
    upload_certificates("--skip-certificate-key-print" in flags)


def discover(found):
    """The cluster that a token is of, and whose certificate is pinned."""
    if not re.fullmatch(r"[a-z0-9]{6}\.[a-z0-9]{16}", found["token"]):
        fail("the token is not of the form abcdef.0123456789abcdef")
    raw = run("curl", "-skf", "--noproxy", "*", "--max-time", "10", "https://%s/api/v1/namespaces/kube-public/configmaps/cluster-info" % found["apiServerEndpoint"])
    info = json.loads(json.loads(raw)["data"]["kubeconfig"])
    if digest_of(info["ca"]) not in found["caCertHashes"]:
        fail("cluster CA found in cluster-info ConfigMap is invalid: none of the public keys \"%s\" are pinned" % digest_of(info["ca"]))
    return info


def join(flags):
    doc = configuration(flags.get("--config"), "JoinConfiguration")["JoinConfiguration"]
    node, ip = registration(doc)
    preflight(CONFIG + "/kubelet.conf", PKI + "/ca.crt", CONFIG + "/manifests/*.yaml")
    found = doc["discovery"]["bootstrapToken"]
    info = discover(found)
    config = CONFIG + "/bootstrap-kubelet.conf"
    write(config, kubeconfig(info["server"], info["ca"], {"token": found["token"]}))
    print("[preflight] Reading configuration from the \"kubeadm-config\" ConfigMap in namespace \"kube-system\"")
    cluster = held(config)
    ready = kubectl("get", "node", node, "--ignore-not-found", "-o", 'jsonpath={.status.conditions[?(@.type=="Ready")].status}', config=config)
    if ready == "True":
        fail('a Node with name "%s" and status "Ready" already exists in the cluster. You must delete the existing Node or change the name of this new joining Node' % node)
    write(PKI + "/ca.crt", info["ca"], 0o644)
    master = doc.get("controlPlane")
    if master:
        preflight(ETCD_DATA + "/*")
        at = address(master["localAPIEndpoint"]["advertiseAddress"])
        sealed = json.loads(kubectl("-n", "kube-system", "get", "secret", "kubeadm-certs", "-o", "json", config=config))["data"]
        for name in SHARED:
            write(PKI + "/" + name, cipher(base64.b64decode(sealed[name.replace("/", "-")]), master["certificateKey"], "-d").decode())
        own_certificates(cluster, node, at)
        pods = json.loads(kubectl("-n", "kube-system", "get", "pods", "-l", "component=etcd,tier=control-plane", "-o", "json"))["items"]
        others = [p["metadata"]["annotations"]["kubeadm.kubernetes.io/etcd.advertise-client-urls"] for p in pods]
        first = next((o for o in (u[len("https://"):-len(":2379")].strip("[]") for u in others) if etcd("maintenance/status", {}, o, check=False)), None)
        if not first:
            fail("no member of etcd answers of " + ", ".join(others))
        members = etcd("cluster/member/list", {}, first)["members"]
        if not any(peer(at) in m["peerURLs"] for m in members):
            members = etcd("cluster/member/add", {"peerURLs": [peer(at)]}, first)["members"]
        start_etcd(node, at, [(m.get("name") or node, m["peerURLs"][0][len("https://"):-len(":2380")].strip("[]")) for m in members])
        start_control_plane(cluster, node, at)
    register(node, ip, bool(master), ADMIN if master else config)
    if master:
        mirror(node, at)
    os.remove(config)
    print("This node has joined the cluster" + (" and a new control plane instance was created" if master else ""))


def reset(flags):
    skipped = [p for p in flags.get("--skip-phases", "").split(",") if p]
    for phase in skipped:
        if phase not in RESET_PHASES:
            fail("reset has no phase " + phase)
    if "--force" not in flags:
        fail("aborted: nobody has confirmed it")
    if "remove-etcd-member" not in skipped and os.path.exists(CONFIG + "/manifests/etcd.yaml"):
        fail("the stand-in does not play phase remove-etcd-member")
    for name in UNITS:
        if os.path.exists("/etc/systemd/system/%s.service" % name):
            run("systemctl", "disable", "--now", "--quiet", name)
            os.remove("/etc/systemd/system/%s.service" % name)
    run("systemctl", "daemon-reload")
    for path in [CONFIG + "/manifests", PKI, ETCD_DATA, "/var/lib/kubelet"]:
        shutil.rmtree(path, ignore_errors=True)
    for path in glob.glob(CONFIG + "/*.conf"):
        os.remove(path)
    print("[reset] The reset process does not remove CNI configuration")


def version(flags):
    if flags.get("--output") != "short":
        fail("the stand-in plays version -o short")
    print(VERSION)


# kubectl exec needs a kubelet and a container.

ETCDCTL = {"--endpoints": "https://127.0.0.1:2379", "--cacert": PKI + "/etcd/ca.crt", "--cert": PKI + "/etcd/server.crt", "--key": PKI + "/etcd/server.key"}


def kubectl_exec(words):
    at = words.index("--")
    options, command = words[:at], words[at + 1:]
    if options[:3] != ["--namespace", "kube-system", "exec"] or len(options) != 4 or command[0] != "etcdctl":
        fail("the stand-in of kubectl exec plays etcdctl in the pod of etcd: " + " ".join(words))
    pod, flags = options[3], dict(w.split("=", 1) for w in command[1:] if w.startswith("--"))
    kubectl("-n", "kube-system", "get", "pod", pod, config=os.environ.get("KUBECONFIG", ""))
    here = re.search(r" --name (\S+) ", read("/etc/systemd/system/etcd.service")).group(1)
    if pod != "etcd-" + here or flags != ETCDCTL:
        fail("pod %s is not on this node, which has etcd-%s, or etcdctl is called with other flags: %s" % (pod, here, flags))
    verb = [w for w in command[1:] if not w.startswith("--")]
    if verb == ["member", "list"]:
        for m in etcd("cluster/member/list", {})["members"]:
            name, clients = m.get("name", ""), ",".join(m.get("clientURLs", []))
            print(", ".join(["%x" % int(m["ID"]), "started" if name else "unstarted", name, ",".join(m["peerURLs"]), clients, str(m.get("isLearner", False)).lower()]))
    elif verb[:2] == ["member", "remove"] and len(verb) == 3:
        etcd("cluster/member/remove", {"ID": str(int(verb[2], 16))})
        print("Member %s removed from cluster" % verb[2])
    else:
        fail("the stand-in does not play etcdctl " + " ".join(verb))


def main():
    if os.path.basename(sys.argv[0]) == "kubectl":
        if "exec" in sys.argv[1:]:
            kubectl_exec(sys.argv[1:])
            return
        os.execvp("lab-kubectl", ["kubectl", *sys.argv[1:]])
    if os.geteuid():
        fail("user is not running as root")
    with open(RECORD, "a") as record:
        record.write(json.dumps(sys.argv[1:]) + "\n")
    os.umask(0o077)
    name, flags = parse(sys.argv[1:])
    {"init": init, "init phase upload-certs": upload_phase, "join": join, "reset": reset, "token create": token_create, "version": version}[name](flags)


main()
