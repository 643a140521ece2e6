"""docs/operations.md, Clusters: its commands and manifest, by what Spark says of them."""

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from ontoweir.cli import make_parser
from tests.paths import ROOT

SECTION = (
    (ROOT / "docs" / "operations.md")
    .read_text(encoding="utf-8")
    .split("## Clusters\n")[1]
    .split("\n## ")[0]
)
MODEL = "io.fabric8.kubernetes.api.model."
TYPES = {
    **{k: f"{MODEL}{k}" for k in ("ServiceAccount", "PersistentVolumeClaim")},
    **{k: f"{MODEL}rbac.{k}" for k in ("Role", "RoleBinding")},
    "Deployment": f"{MODEL}apps.Deployment",
}
OPEN = ("spark.executorEnv.", "spark.kubernetes.executor.volumes.")
"""How settings begin whose names go on as the user likes."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", SECTION, re.DOTALL)


def manifest() -> dict[str, dict[str, Any]]:
    (text,) = blocks("yaml")
    return {document["kind"]: document for document in yaml.safe_load_all(text)}


def driver() -> dict[str, Any]:
    (container,) = manifest()["Deployment"]["spec"]["template"]["spec"]["containers"]
    return dict(container)


def commands() -> Iterator[list[str]]:
    """The arguments of every `ontoweir run` of the section."""
    for text in blocks("sh"):
        for line in text.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if "ontoweir" in words:
                yield words[words.index("ontoweir") + 1 :]
    yield [*driver()["command"][1:], *driver()["args"]]


def settings(arguments: list[str]) -> dict[str, str]:
    """What `--spark` says, as the command line reads it."""
    read = make_parser("run").parse_args(arguments)
    return dict(pair.split("=", 1) for pair in read.spark)


def java(spark: SparkSession) -> Any:
    """Java's classes."""
    assert spark._jvm is not None
    return spark._jvm


def module(spark: SparkSession, name: str) -> Any:
    return java(spark).java.lang.Class.forName(f"{name}$").getField("MODULE$").get(None)


def java_conf(spark: SparkSession, given: Mapping[str, str]) -> Any:
    conf = java(spark).org.apache.spark.SparkConf(False)
    for key, text in given.items():
        conf.set(key, text)
    return conf


def refused(spark: SparkSession, given: Mapping[str, str]) -> list[str]:
    """The settings that Spark's register does not know, or whose values it cannot read."""
    for name in ("deploy.k8s.Config", "deploy.yarn.config.package"):
        module(spark, f"org.apache.spark.{name}")  # which registers them
    register = module(spark, "org.apache.spark.internal.config.ConfigEntry")
    found = []
    for key, text in given.items():
        if key.startswith(OPEN) or key == "spark.master":
            continue
        entry = register.findEntry(key)
        try:
            assert entry is not None
            java_conf(spark, {key: text}).get(entry)
        except Exception:
            found.append(key)
    return found


def executor_pod(spark: SparkSession, given: Mapping[str, str]) -> dict[str, Any]:
    """The pod that Spark makes for an executor; its container under `container`."""
    jvm, none, place = java(spark), module(spark, "scala.None"), "org.apache.spark"
    conf = java_conf(spark, {**given, "spark.app.name": "test", "spark.app.id": "test"})
    of_executor = module(spark, f"{place}.deploy.k8s.KubernetesConf")
    executor = of_executor.createExecutorConf(conf, "1", "test", none, 0)
    register = module(spark, f"{place}.internal.config.ConfigEntry")
    secret = register.findEntry("spark.authenticate.secret.file")
    manager = jvm.org.apache.spark.SecurityManager(conf, none, secret)
    profile = module(spark, f"{place}.resource.ResourceProfile").getOrCreateDefaultProfile(conf)
    builder = jvm.org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBuilder()
    pod = builder.buildFromFeatures(executor, manager, None, profile).pod()
    as_yaml = jvm.io.fabric8.kubernetes.client.utils.Serialization.asYaml
    made = yaml.safe_load(as_yaml(pod.pod()))
    return {**made, "container": yaml.safe_load(as_yaml(pod.container()))}


def unknown(held: Any, kind: Any, place: str = "") -> list[str]:
    """The fields of a manifest that a type of Kubernetes (as JSON is read to it) has not."""
    if isinstance(held, list):
        return [x for n, one in enumerate(held) for x in unknown(one, kind, f"{place}[{n}]")]
    if not isinstance(held, dict) or not kind.toString().startswith(f"class {MODEL}"):
        return []  # a number or text, or a mapping of names that are the user's
    fields = {}
    for field in kind.getDeclaredFields():
        for noted in field.getDeclaredAnnotations():
            read = re.search(r'JsonProperty\(.*?"(\w+)"', noted.toString())
            if read is not None:
                fields[read[1]] = field.getGenericType()
    found = []
    for name, value in held.items():
        if name not in fields:
            found.append(f"{place}.{name}")
            continue
        typed, named = fields[name], [(f"{place}.{name}", value)]
        while "<" in typed.toString():  # a list, or a mapping of names that are the user's
            if typed.toString().startswith("java.util.Map<"):
                named = [(f"{at}.{key}", one) for at, held in named for key, one in held.items()]
            typed = typed.getActualTypeArguments()[-1]
        found += [x for at, one in named for x in unknown(one, typed, at)]
    return found


def java_type(spark: SparkSession, kind: str) -> Any:
    return java(spark).java.lang.Class.forName(TYPES[kind])


def test_every_command_is_read_and_spark_knows_its_settings(spark: SparkSession) -> None:
    read = [settings(arguments) for arguments in commands()]
    assert len(read) == 3  # a standalone cluster, YARN, Kubernetes
    for given in read:
        assert given
        assert refused(spark, given) == []
    wrong = {"spark.executor.coress": "2", "spark.executor.memory": "1 potato"}
    assert refused(spark, wrong) == list(wrong)


@pytest.mark.parametrize("kind", TYPES)
def test_the_manifest_has_the_fields_that_kubernetes_has(spark: SparkSession, kind: str) -> None:
    held, typed = manifest()[kind], java_type(spark, kind)
    assert unknown(held, typed) == []
    wrong = {**held, "metadata": {"nmae": "x"}, "spek": {}}
    assert unknown(wrong, typed) == [".metadata.nmae", ".spek"]


def test_a_field_of_a_container_that_there_is_not_is_found(spark: SparkSession) -> None:
    held = manifest()["Deployment"]
    (container,) = held["spec"]["template"]["spec"]["containers"]
    container["volumeMounts"][0]["mountPth"] = container["volumeMounts"][0].pop("mountPath")
    (found,) = unknown(held, java_type(spark, "Deployment"))
    assert found == ".spec.template.spec.containers[0].volumeMounts[0].mountPth"


def test_all_kinds_are_held_to_a_type() -> None:
    assert manifest().keys() == TYPES.keys()


def test_executors_mount_what_the_driver_mounts(spark: SparkSession) -> None:
    """The pod that Spark makes, and the driver's."""
    container, claims = driver(), manifest()["PersistentVolumeClaim"]
    arguments = [*container["command"][1:], *container["args"]]
    pod, read = executor_pod(spark, settings(arguments)), make_parser("run").parse_args(arguments)
    template = manifest()["Deployment"]["spec"]["template"]["spec"]
    (mine,) = container["volumeMounts"]
    (volume,) = template["volumes"]
    mounts = {m["mountPath"]: m["name"] for m in pod["container"]["volumeMounts"]}
    claimed = {
        v["name"]: v["persistentVolumeClaim"]["claimName"]
        for v in pod["spec"]["volumes"]
        if "persistentVolumeClaim" in v
    }
    claim = claims["metadata"]["name"]
    assert claimed == {mounts[mine["mountPath"]]: claim}
    assert volume == {"name": mine["name"], "persistentVolumeClaim": {"claimName": claim}}
    for place in (read.checkpoint, read.output, arguments[1]):
        assert str(place).startswith(f"{mine['mountPath']}/")
    assert pod["container"]["image"] == container["image"]
    assert pod["container"]["args"] == ["executor"]


def test_executors_find_the_driver_which_may_ask_for_them(spark: SparkSession) -> None:
    whole, container = manifest(), driver()
    arguments = [*container["command"][1:], *container["args"]]
    given = settings(arguments)
    deployed = whole["Deployment"]["spec"]
    named = {v["name"]: v["valueFrom"]["fieldRef"]["fieldPath"] for v in container["env"]}
    assert named == {"POD_IP": "status.podIP", "POD_NAME": "metadata.name"}
    assert given["spark.kubernetes.driver.pod.name"] == "$(POD_NAME)"
    found = {
        **given,
        "spark.driver.host": given["spark.driver.host"].replace("$(POD_IP)", "1.2.3.4"),
    }
    variables = executor_pod(spark, found)["container"]["env"]
    (url,) = [v["value"] for v in variables if v["name"] == "SPARK_DRIVER_URL"]
    assert "@1.2.3.4:" in url
    assert deployed["selector"]["matchLabels"] == deployed["template"]["metadata"]["labels"]
    account = whole["ServiceAccount"]["metadata"]["name"]
    assert deployed["template"]["spec"]["serviceAccountName"] == account
    assert [s["name"] for s in whole["RoleBinding"]["subjects"]] == [account]
    assert whole["RoleBinding"]["roleRef"]["name"] == whole["Role"]["metadata"]["name"]
    cores = int(given["spark.executor.instances"]) * int(given["spark.executor.cores"])
    assert make_parser("run").parse_args(arguments).parts % cores == 0  # as the page says
