"""The manifests in deploy/ match the schemas of the programs that read them, and their commands exist."""

import json
import re
import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer
import yaml

from tacit.cli.main import app

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
SCHEMA = json.loads((ROOT / "tests" / "schemas" / "rayjob.json").read_text())


def documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((DEPLOY / name).read_text()))


def ray_job() -> dict[str, Any]:
    return next(document for document in documents("kuberay-job.yaml") if document["kind"] == "RayJob")


def test_the_cluster_file_is_what_ray_reads() -> None:
    """Checked against the schema that Ray's own launcher uses."""
    spec = find_spec("ray")
    if spec is None or spec.origin is None:
        pytest.skip("ray is not installed")
    schema = json.loads((Path(spec.origin).parent / "autoscaler" / "ray-schema.json").read_text())
    (cluster,) = documents("ray-cluster.yaml")
    jsonschema.validate(cluster, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**cluster, "worker": 2}, schema)


def test_the_ray_job_is_what_kuberay_reads() -> None:
    jsonschema.validate(ray_job(), SCHEMA)
    cluster = ray_job()["spec"]["rayClusterSpec"]
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        pod = group["template"]["spec"]
        volumes = {volume["name"] for volume in pod.get("volumes", ())}
        assert {mount["name"] for one in pod["containers"] for mount in one.get("volumeMounts", ())} == volumes
    claims = [one["metadata"]["name"] for one in documents("kuberay-job.yaml") if one["kind"] == "PersistentVolumeClaim"]
    assert [cluster["headGroupSpec"]["template"]["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"]] == claims


@pytest.mark.parametrize("wrong", [{"entrypoint": 3}, {"entryPoint": "tacit"}, {"backoffLimit": "ten"}])
def test_the_schema_refuses_what_kuberay_would(wrong: dict[str, Any]) -> None:
    job = ray_job()
    job["spec"] |= wrong
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(job, SCHEMA)


@pytest.mark.parametrize("name", ["ray-cluster.yaml", "kuberay-job.yaml"])
def test_commands_in_manifests_are_commands(name: str) -> None:
    text = re.sub(r"\\?\n#?\s+", " ", (DEPLOY / name).read_text())
    found = re.search(r"(tacit train .*?--gpus-per-worker 1)", text)
    assert found is not None
    command: Any = typer.main.get_command(app)
    with command.commands["train"].make_context("tacit train", shlex.split(found[1])[2:]):
        pass


def test_the_version_of_ray_is_the_one_that_is_tested() -> None:
    pinned = re.search(r"^ray==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert pinned is not None
    assert ray_job()["spec"]["rayClusterSpec"]["rayVersion"] == pinned[1]
