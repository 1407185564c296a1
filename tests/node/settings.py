"""Writes what the programs of a node read: their configuration, and who may speak to whom.

Settings that are there because of this kind of machine say so; the others are those of any cluster.
"""

import json

import trustme

from tests.cluster.control_plane import OPERATOR_NAMESPACE
from tests.cluster.credentials import ADMIN, write_audit_policy, write_kubeconfig, write_signing_key, write_tokens
from tests.node.layout import DNS, DOMAIN, PODS, RUNTIME_SOCKET, NodeLayout
from tests.node.machine import CNI

BRIDGE = {
    "cniVersion": "1.0.0",
    "name": "pods",
    "plugins": [
        {
            "type": "bridge",
            "bridge": "cni0",
            "isGateway": True,
            "hairpinMode": True,
            "ipam": {"type": "host-local", "ranges": [[{"subnet": str(PODS)}]], "routes": [{"dst": "0.0.0.0/0"}]},
        },
        {"type": "portmap", "capabilities": {"portMappings": True}},
    ],
}

# CoreDNS asks for no more; with kubeadm's own settings for names of the cluster.
DNS_RIGHTS = {
    "apiVersion": "v1",
    "kind": "List",
    "items": [
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": DNS},
            "rules": [
                {"apiGroups": [""], "resources": ["services", "pods", "namespaces"], "verbs": ["list", "watch"]},
                {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["list", "watch"]},
            ],
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": DNS},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": DNS},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": DNS}],
        },
    ],
}


def write_settings(layout: NodeLayout, pause: str) -> None:
    """`pause` is the name of the image that holds a pod's network."""
    write_signing_key(layout.signing_key)
    write_audit_policy(layout.audit_policy, namespace=OPERATOR_NAMESPACE)
    _write_users(layout)
    _write_certificates(layout)
    layout.runtime_config.write_text(_runtime(layout, pause))
    layout.cni.mkdir()
    (layout.cni / "pods.conflist").write_text(json.dumps(BRIDGE, indent=2))
    layout.kubelet_config.write_text(json.dumps(_kubelet(layout), indent=2))
    layout.resolver.write_text(f"nameserver {layout.address}\n")
    layout.hosts.write_text(f"127.0.0.1 localhost\n{layout.address} {layout.name}\n")
    layout.corefile.write_text(_corefile(layout))


def _write_users(layout: NodeLayout) -> None:
    tokens = write_tokens(layout.tokens, layout.users)
    for user, token in tokens.items():
        path = layout.admin_kubeconfig if user == ADMIN else layout.kubeconfig(user)
        write_kubeconfig(path, server=layout.url, authority=layout.authority, token=token)


def _write_certificates(layout: NodeLayout) -> None:
    """For `kubectl logs` and `exec`: the kubelet answers the API server and nobody else."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(layout.kubelet_authority))
    user = "kube-apiserver"
    client = authority.issue_cert(user, common_name=user, organization_name="system:masters")
    layout.kubelet_client.touch(mode=0o600)
    client.private_key_and_cert_chain_pem.write_to_path(str(layout.kubelet_client))


def _runtime(layout: NodeLayout, pause: str) -> str:
    return f"""version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  # Without CAP_SYS_RESOURCE, which virtual machines and containers may lack, a pod may not be made less of a target
  # for the kernel's OOM killer than we are.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{CNI}"
    conf_dir = "{layout.cni}"
"""


def _kubelet(layout: NodeLayout) -> dict[str, object]:
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": layout.address,
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(layout.kubelet_authority)},
        },
        "authorization": {"mode": "Webhook"},
        "containerRuntimeEndpoint": f"unix://{RUNTIME_SOCKET}",
        "clusterDNS": [layout.address],
        "clusterDomain": DOMAIN,
        "resolvConf": str(layout.resolver),
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{layout.name}",
        # The machine has other work, and a disk that is not ours to judge. An image that is removed to make room could
        # not be pulled again.
        "enforceNodeAllocatable": [],
        "evictionHard": {"memory.available": "100Mi"},
        "imageGCHighThresholdPercent": 100,
        "failSwapOn": False,
    }


def _corefile(layout: NodeLayout) -> str:
    return f""".:53 {{
    bind {layout.address}
    errors
    kubernetes {DOMAIN} in-addr.arpa ip6.arpa {{
        kubeconfig {layout.kubeconfig(DNS)}
        pods insecure
        ttl 30
    }}
    cache 30 {{
        disable success {DOMAIN}
        disable denial {DOMAIN}
    }}
}}
"""
