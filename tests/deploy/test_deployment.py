"""The deployment files keep what they promise: locked down, drained, and with configurations that the product loads."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest
import yaml

from policies import load_policy
from proxy.config import Flags, load_settings
from proxy.limits import Limits

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
MARGIN_SECONDS = 10
Document = dict[str, Any]


def _documents(path: Path) -> list[Document]:
    return [document for document in yaml.safe_load_all(path.read_text()) if document]


ALL = [(path.name, document) for path in sorted(KUBERNETES.glob("*.yaml")) for document in _documents(path)]
WORKLOADS = {name: document for name, document in ALL if document["kind"] == "Deployment"}
CONFIGS = {
    document["metadata"]["name"]: document["data"]["callgate.yaml"]
    for _, document in ALL
    if document["kind"] == "ConfigMap" and "callgate.yaml" in document["data"]
}
POLICIES = {
    document["metadata"]["name"]: document["data"]
    for _, document in ALL
    if document["kind"] == "ConfigMap" and "policy.yaml" in document["data"]
}
COMPOSE: Document = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
each_workload = pytest.mark.parametrize("file", WORKLOADS)


def _pod(file: str) -> Document:
    pod: Document = WORKLOADS[file]["spec"]["template"]["spec"]
    return pod


def _gate(file: str) -> Document:
    containers = [*_pod(file).get("initContainers", []), *_pod(file)["containers"]]
    (gate,) = [container for container in containers if container["name"] == "callgate"]
    return dict(gate)


def _volume(file: str, name: str) -> Document:
    (volume,) = [volume for volume in _pod(file)["volumes"] if volume["name"] == name]
    return dict(volume)


def _settings(file: str, folder: Path) -> Any:
    return _load_settings(CONFIGS[_volume(file, "config")["configMap"]["name"]], folder)


def _load_settings(text: str, folder: Path) -> Any:
    path = folder / "callgate.yaml"
    path.write_text(text)
    return load_settings(Flags(config=path))


def _bytes(quantity: str) -> int:
    units = {"Mi": 1 << 20, "Gi": 1 << 30, "m": 1 << 20}
    (unit,) = [unit for unit in units if quantity.endswith(unit)]
    return int(quantity.removesuffix(unit)) * units[unit]


def _mounted(folder: Path, data: dict[str, str]) -> Path:
    """A ConfigMap as the kubelet mounts it: files are links into `..data`, itself a link that is swapped as one."""
    revision = folder / "..2026_01_01_00_00_00.1"
    revision.mkdir(parents=True)
    (folder / "..data").symlink_to(revision.name)
    for name, text in data.items():
        (revision / name).write_text(text)
        (folder / name).symlink_to(f"..data/{name}")
    folder.chmod(stat.S_IRWXU | stat.S_IRWXG | stat.S_IRWXO | stat.S_ISVTX)
    return folder


def test_kustomization_names_files_that_are_there() -> None:
    """`kubectl apply -k` finds each resource, and each object has a kind, a version and a name."""
    (kustomization,) = _documents(KUBERNETES / "kustomization.yaml")

    assert [name for name in kustomization["resources"] if not (KUBERNETES / name).is_file()] == []
    assert [one for _, one in ALL if one["kind"] != "Kustomization" and not one["metadata"]["name"]] == []


def test_no_secret_is_kept_in_the_repository() -> None:
    """The manifests refer to a secret and hold none; every credential of a configuration is a file."""
    assert [name for name, document in ALL if document["kind"] == "Secret"] == []
    assert {"agent.yaml", "gateway.yaml"} == set(WORKLOADS)
    for text in (*CONFIGS.values(), (DEPLOY / "compose/config/callgate.yaml").read_text()):
        document = yaml.safe_load(text)
        keys = [document["session_header"]["jwt"]["key"], *(one["key"] for one in document["upstreams"].values())]
        assert all(key.startswith("${file:/run/secrets/") and key.endswith("}") for key in keys)


def test_the_sidecar_is_native() -> None:
    """The gate is an init container that restarts always: ready before the agent starts, stopped after it has ended."""
    (gate,) = _pod("agent.yaml")["initContainers"]

    assert (gate["name"], gate["restartPolicy"]) == ("callgate", "Always")
    assert gate["startupProbe"]["exec"]["command"][0] == "python"
    assert "lifecycle" not in gate  # a hook would run at once, and not when the agent has ended


@each_workload
def test_containers_are_locked_down(file: str) -> None:
    """No container runs as root, gains privileges, keeps a capability, or writes to its root file system."""
    pod = _pod(file)

    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] > 0
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    for container in [*pod.get("initContainers", []), *pod["containers"]]:
        expected = {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "runAsNonRoot": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["securityContext"] == expected


@each_workload
def test_the_state_lives_on_a_claim(file: str, tmp_path: Path) -> None:
    """State survives the pod, in a folder of the gate's own inside the volume that stays closed to its group."""
    state = _volume(file, "state")["persistentVolumeClaim"]["claimName"]
    claims = {document["metadata"]["name"] for _, document in ALL if document["kind"] == "PersistentVolumeClaim"}
    (mount,) = [mount for mount in _gate(file)["volumeMounts"] if mount["name"] == "state"]

    assert state in claims
    assert _settings(file, tmp_path).state.parent == Path(mount["mountPath"])
    assert _pod(file)["securityContext"]["fsGroupChangePolicy"] == "OnRootMismatch"


@each_workload
def test_one_process_a_state_folder(file: str) -> None:
    """Limits count what one folder has seen, so a roll-out never runs two pods beside each other."""
    spec = WORKLOADS[file]["spec"]

    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})


@each_workload
def test_everything_else_is_mounted_read_only(file: str) -> None:
    """Policy, configuration and secrets cannot be written, are no subPath (it would never change), and no variable."""
    gate = _gate(file)
    writable = {mount["name"] for mount in gate["volumeMounts"] if not mount.get("readOnly")}

    assert writable == {"state", "tmp"}
    assert [mount for mount in gate["volumeMounts"] if "subPath" in mount] == []
    assert "env" not in gate
    assert _volume(file, "policy")["configMap"]["name"] in POLICIES
    assert _volume(file, "secrets")["secret"]["defaultMode"] == 0o440


@each_workload
def test_mounts_match_the_configuration(file: str, tmp_path: Path) -> None:
    """The configuration names the paths that the pod mounts, and the file that `serve` is given is among them."""
    settings, gate = _settings(file, tmp_path), _gate(file)
    mounts = {mount["name"]: mount["mountPath"] for mount in gate["volumeMounts"]}

    assert str(settings.policy) == mounts["policy"]
    assert gate["args"] == ["serve", "--config", f"{mounts['config']}/callgate.yaml"]
    assert mounts["secrets"] == "/run/secrets/callgate"


@each_workload
def test_the_pod_outlives_its_drain(file: str, tmp_path: Path) -> None:
    """The grace period is longer than the hook and the drain limit, so that no exchange is cut by a kill."""
    hook = _gate(file).get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
    drain = _settings(file, tmp_path).limits.drain_ms_max / 1000

    assert _pod(file)["terminationGracePeriodSeconds"] >= hook + drain + MARGIN_SECONDS


@each_workload
def test_memory_is_above_what_the_gate_may_hold(file: str, tmp_path: Path) -> None:
    """The limit of the container is above the limit of the gate: it refuses new work before the kernel kills it."""
    memory = _bytes(_gate(file)["resources"]["limits"]["memory"])

    assert memory >= 1.5 * _settings(file, tmp_path).limits.bytes_in_flight_max
    assert set(_gate(file)["resources"]["requests"]) == {"cpu", "memory"}


@each_workload
@pytest.mark.parametrize(
    ("probe", "path"), [("startupProbe", "/readyz"), ("readinessProbe", "/readyz"), ("livenessProbe", "/healthz")]
)
def test_probes_ask_the_admin_listener(file: str, probe: str, path: str, tmp_path: Path) -> None:
    """Each probe runs in the container and asks the admin listener where the configuration puts it: on loopback."""
    admin = _settings(file, tmp_path).admin.listen
    command = _gate(file)[probe]["exec"]["command"]

    assert command[:2] == ["python", "-c"]
    assert f"'http://{admin.host}:{admin.port}{path}'" in command[2]
    assert admin.host == "127.0.0.1"
    compile(command[2], probe, "exec")


@pytest.mark.parametrize("name", [*CONFIGS, "compose"])
def test_the_product_loads_each_configuration(name: str, tmp_path: Path) -> None:
    """Every callgate.yaml here is one that `serve` accepts, with limits within its own bounds."""
    text = CONFIGS.get(name) or (DEPLOY / "compose/config/callgate.yaml").read_text()

    settings = _load_settings(text, tmp_path)

    assert settings.upstreams["anthropic"].key is not None
    assert settings.session_header is not None
    assert settings.limits != Limits()


@pytest.mark.parametrize("name", [*POLICIES, "compose"])
def test_the_product_loads_each_policy(name: str, tmp_path: Path) -> None:
    """Every policy here loads, as the folder of links that a ConfigMap is, and names who may ask."""
    folder = DEPLOY / "compose/policy"
    folder = _mounted(tmp_path / "policy", POLICIES[name]) if name in POLICIES else folder

    policy = load_policy(folder)

    assert policy.name == "refund-desk"
    assert list(policy.identities) == ["support-bot"]
    assert policy.tool("process_refund") is not None


def test_a_swapped_config_map_is_another_revision(tmp_path: Path) -> None:
    """When the kubelet swaps `..data`, the same path is read as the new policy, whole."""
    data = POLICIES["callgate-policy"]
    folder = _mounted(tmp_path / "policy", data)
    before = load_policy(folder)
    after = folder / "..2026_01_01_00_00_00.2"
    after.mkdir()
    (after / "policy.yaml").write_text(data["policy.yaml"].replace("500.00 USD", "250.00 USD"))
    (folder / "..swap").symlink_to(after.name)
    (folder / "..swap").replace(folder / "..data")

    assert load_policy(folder).revision != before.revision


def test_a_listener_beyond_loopback_has_identities(tmp_path: Path) -> None:
    """Where others than the pod can connect, the policy that is served says who may."""
    open_listeners = {
        name for name, text in CONFIGS.items() if _load_settings(text, tmp_path).listen.host != "127.0.0.1"
    }

    assert open_listeners == {"callgate-gateway-config"}
    assert all("identities:" in data["policy.yaml"] for data in POLICIES.values())


def test_the_provider_key_is_mounted_by_the_gate_alone() -> None:
    """The agent gets the gate's token; it mounts no secret, so a call that goes round the gate has no key."""
    (agent,) = _pod("agent.yaml")["containers"]
    variables = {one["name"]: one for one in agent["env"]}

    assert "volumeMounts" not in agent
    assert variables["ANTHROPIC_API_KEY"]["valueFrom"]["secretKeyRef"]["key"] == "agent-token"
    assert variables["ANTHROPIC_BASE_URL"]["value"] == "http://127.0.0.1:8080"
    assert not _pod("agent.yaml").get("shareProcessNamespace")


def test_agents_reach_only_the_gateway() -> None:
    """With the gate in a pod of its own, agents may reach it and the name server, and no address beside."""
    policies = {one["metadata"]["name"]: one["spec"] for _, one in ALL if one["kind"] == "NetworkPolicy"}
    agents = policies["agents-through-the-gateway"]
    targets = [target for rule in agents["egress"] for target in rule["to"]]

    assert [target for target in targets if "ipBlock" in target] == []
    assert {"podSelector": {"matchLabels": {"app": "callgate"}}} in targets
    assert all(rule.get("to") and rule.get("ports") for spec in policies.values() for rule in spec["egress"])
    assert all("Egress" in spec["policyTypes"] for spec in policies.values())
    assert "no NetworkPolicy lets the" in (KUBERNETES / "network-policy.yaml").read_text()


def test_network_policies_select_pods_that_exist() -> None:
    """The label that a NetworkPolicy selects is carried by the workload it is written for."""
    labels = [document["spec"]["template"]["metadata"]["labels"] for document in WORKLOADS.values()]
    policies = {one["metadata"]["name"]: one["spec"] for _, one in ALL if one["kind"] == "NetworkPolicy"}

    for name in ("support-agent", "callgate-gateway"):
        assert policies[name]["podSelector"]["matchLabels"] in labels


def test_compose_locks_the_gate_down() -> None:
    """In compose the gate has a read-only root, no capability, a numeric user, and writes only its state and /tmp."""
    gate = COMPOSE["services"]["callgate"]

    assert gate["read_only"] is True
    assert gate["cap_drop"] == ["ALL"]
    assert gate["security_opt"] == ["no-new-privileges:true"]
    assert all(part.isdecimal() and int(part) > 0 for part in gate["user"].split(":"))
    assert [volume["target"] for volume in gate["volumes"] if not volume.get("read_only")] == ["/var/lib/callgate"]
    assert [mount.partition(":")[0] for mount in gate["tmpfs"]] == ["/tmp"]
    assert "environment" not in gate
    assert gate["healthcheck"]["test"][0] == "CMD"


def test_compose_keeps_the_agent_inside() -> None:
    """The agent's only network has no way out; its base URL is the gate; it waits until the gate is healthy."""
    agent, gate = COMPOSE["services"]["agent"], COMPOSE["services"]["callgate"]

    assert agent["networks"] == ["inside"]
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    assert set(gate["networks"]) == {"inside", "outside"}
    assert agent["depends_on"] == {"callgate": {"condition": "service_healthy"}}
    assert agent["environment"]["ANTHROPIC_BASE_URL"] == "http://callgate:8080"
    assert "ports" not in gate


def test_compose_matches_its_configuration(tmp_path: Path) -> None:
    """Grace, memory, probe, policy folder and secrets fit the callgate.yaml and the policy that are mounted."""
    gate = COMPOSE["services"]["callgate"]
    texts = [(DEPLOY / "compose" / part).read_text() for part in ("config/callgate.yaml", "policy/policy.yaml")]
    settings = _load_settings(texts[0], tmp_path)
    named = {text.partition("}")[0] for one in texts for text in one.split("${file:/run/secrets/")[1:]}
    targets = {volume["target"]: volume["source"] for volume in gate["volumes"]}

    assert int(gate["stop_grace_period"].removesuffix("s")) >= settings.limits.drain_ms_max / 1000 + MARGIN_SECONDS
    assert _bytes(gate["mem_limit"]) >= 1.5 * settings.limits.bytes_in_flight_max
    assert f"http://{settings.admin.listen.host}:{settings.admin.listen.port}/readyz" in gate["healthcheck"]["test"][-1]
    assert targets[str(settings.policy)] == "./compose/policy"
    assert named == set(gate["secrets"]) == set(COMPOSE["secrets"])
