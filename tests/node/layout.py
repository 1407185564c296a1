"""Where the files of the real cluster are, its addresses, and the command line of each program that makes a node.

All its files are in one folder below /var/lib. Its control plane's programs are those of the simulated cluster, with
the same flags where nothing depends on real nodes.
"""

from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path

from tests.cluster import layout as control_plane
from tests.cluster.binaries import NodeBinaries
from tests.cluster.layout import Command, Layout

NAME = "paddle-cluster"
PODS = ip_network("10.244.0.0/16")
SERVICES = ip_network("10.96.0.0/16")
DOMAIN = "cluster.local"
RUNTIME_SOCKET = Path("/run/containerd/containerd.sock")

# Who speaks to the API server beside the administrator, and each one's groups.
PROXY, DNS = "system:kube-proxy", "coredns"


@dataclass(frozen=True)
class NodeLayout(Layout):
    """`address` is the node's own, on which the API server, the kubelet and CoreDNS listen."""

    binaries: NodeBinaries
    name: str = NAME

    @property
    def kubelet_user(self) -> str:
        return f"system:node:{self.name}"

    @property
    def users(self) -> dict[str, str]:
        return {self.kubelet_user: "system:nodes", PROXY: "", DNS: ""}

    def kubeconfig(self, user: str) -> Path:
        return self.folder / f"{user.replace(':', '-')}.kubeconfig"

    @property
    def runtime_config(self) -> Path:
        return self.folder / "containerd.toml"

    @property
    def cni(self) -> Path:
        return self.folder / "cni"

    @property
    def kubelet_config(self) -> Path:
        return self.folder / "kubelet.json"

    @property
    def kubelet_authority(self) -> Path:
        """Signs for those whom the kubelet lets in: the API server."""
        return self.folder / "kubelet-clients.pem"

    @property
    def kubelet_client(self) -> Path:
        """The API server's certificate for the kubelet, with its key."""
        return self.folder / "apiserver-kubelet-client.pem"

    @property
    def resolver(self) -> Path:
        """What a node's /etc/resolv.conf would be; names of the world outside mean nothing here."""
        return self.folder / "resolv.conf"

    @property
    def hosts(self) -> Path:
        """The node's /etc/hosts, which pods on its network have, too: gloo asks for the address of its own host."""
        return self.folder / "hosts"

    @property
    def corefile(self) -> Path:
        return self.folder / "Corefile"

    def log(self, program: str) -> Path:
        return self.folder / "log" / f"{program}.log"


def folder(name: str) -> Path:
    return Path("/var/lib") / name


def commands(layout: NodeLayout) -> dict[str, Command]:
    """All programs by name, in the order in which they start."""
    return {
        "etcd": control_plane.etcd(layout),
        "kube-apiserver": _apiserver(layout),
        "kube-controller-manager": control_plane.controller_manager(layout),
        "kube-scheduler": control_plane.scheduler(layout),
        "coredns": [layout.binaries.coredns, "-conf", layout.corefile],
        "containerd": [Path("/usr/bin/containerd"), f"--config={layout.runtime_config}"],
        "kubelet": _kubelet(layout),
        "kube-proxy": _proxy(layout),
    }


def _apiserver(layout: NodeLayout) -> Command:
    return [
        *control_plane.apiserver(layout),
        # Pods find it behind the Service `kubernetes`.
        "--endpoint-reconciler-type=lease",
        "--enable-admission-plugins=NodeRestriction",
        f"--kubelet-client-certificate={layout.kubelet_client}",
        f"--kubelet-client-key={layout.kubelet_client}",
        "--kubelet-preferred-address-types=InternalIP",
    ]


def _kubelet(layout: NodeLayout) -> Command:
    return [
        layout.binaries.kubelet,
        f"--config={layout.kubelet_config}",
        f"--kubeconfig={layout.kubeconfig(layout.kubelet_user)}",
        f"--hostname-override={layout.name}",
        f"--node-ip={layout.address}",
    ]


def _proxy(layout: NodeLayout) -> Command:
    return [
        layout.binaries.kube_proxy,
        f"--kubeconfig={layout.kubeconfig(PROXY)}",
        f"--hostname-override={layout.name}",
        "--proxy-mode=iptables",
        f"--cluster-cidr={PODS}",
        # This is the machine's, not ours to change.
        "--conntrack-max-per-core=0",
    ]
