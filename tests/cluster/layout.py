"""Where the control plane's files and ports are, and the command line of each of its programs.

Everything keeps its data in one folder and listens on loopback only, or the API server on an address that is given.
"""

from dataclasses import dataclass
from pathlib import Path

from tests.cluster.binaries import Servers

STAGES = sorted((Path(__file__).parent / "stages").glob("*.yaml"))

# Far above what a test machine can do: a limit that a test sees is never the test cluster's own.
_FAST = ("--kube-api-qps=5000", "--kube-api-burst=10000")


@dataclass(frozen=True)
class Layout:
    binaries: Servers
    folder: Path
    port: int
    etcd_port: int
    peer_port: int
    address: str = "127.0.0.1"

    @property
    def url(self) -> str:
        return f"https://{self.address}:{self.port}"

    @property
    def certificates(self) -> Path:
        return self.folder / "certificates"

    @property
    def authority(self) -> Path:
        """The certificate that the API server makes for itself at its first start."""
        return self.certificates / "apiserver.crt"

    @property
    def signing_key(self) -> Path:
        return self.folder / "service-accounts.pem"

    @property
    def tokens(self) -> Path:
        return self.folder / "tokens.csv"

    @property
    def audit_policy(self) -> Path:
        return self.folder / "audit-policy.json"

    @property
    def audit_log(self) -> Path:
        return self.folder / "audit.log"

    @property
    def admin_kubeconfig(self) -> Path:
        return self.folder / "admin.kubeconfig"

    @property
    def home(self) -> Path:
        """The programs' $HOME: what a developer keeps in the real one must not change a test."""
        return self.folder / "home"

    @property
    def logs(self) -> Path:
        return self.folder / "logs"


Command = list[str | Path]


def etcd(layout: Layout) -> Command:
    client, peer = (f"http://127.0.0.1:{port}" for port in (layout.etcd_port, layout.peer_port))
    return [
        layout.binaries.etcd,
        f"--data-dir={layout.folder / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def apiserver(layout: Layout) -> Command:
    return [
        layout.binaries.kube_apiserver,
        f"--etcd-servers=http://127.0.0.1:{layout.etcd_port}",
        f"--bind-address={layout.address}",
        f"--advertise-address={layout.address}",
        # The address of loopback may not be in the Endpoints of the Service `kubernetes`.
        "--endpoint-reconciler-type=none",
        f"--secure-port={layout.port}",
        f"--cert-dir={layout.certificates}",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--authorization-mode=Node,RBAC",
        f"--token-auth-file={layout.tokens}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={layout.signing_key}",
        f"--service-account-signing-key-file={layout.signing_key}",
        "--allow-privileged=true",
        f"--audit-policy-file={layout.audit_policy}",
        f"--audit-log-path={layout.audit_log}",
        # A call is in the log before its answer ends; the log is one file.
        "--audit-log-mode=blocking",
        "--audit-log-maxsize=100000",
    ]


def controller_manager(layout: Layout) -> Command:
    return [
        layout.binaries.kube_controller_manager,
        f"--kubeconfig={layout.admin_kubeconfig}",
        "--leader-elect=false",
        "--secure-port=0",
        "--use-service-account-credentials",
        f"--service-account-private-key-file={layout.signing_key}",
        f"--root-ca-file={layout.authority}",
        "--concurrent-namespace-syncs=20",
        "--concurrent-gc-syncs=40",
        *_FAST,
    ]


def scheduler(layout: Layout) -> Command:
    return [
        layout.binaries.kube_scheduler,
        f"--kubeconfig={layout.admin_kubeconfig}",
        "--leader-elect=false",
        "--secure-port=0",
        *_FAST,
    ]


def kwok(layout: Layout, program: Path) -> Command:
    return [
        program,
        f"--kubeconfig={layout.admin_kubeconfig}",
        *(f"--config={file}" for file in STAGES),
        "--manage-all-nodes",
        "--node-lease-duration-seconds=40",
        "--node-ip=10.32.0.1",
        # Its default has 254 addresses; a job of a thousand workers needs a thousand different ones.
        "--cidr=10.64.0.1/12",
    ]
