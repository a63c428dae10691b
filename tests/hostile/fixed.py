"""Fixed input: long strings, configurations, operations, expressions, and lists out of all measure."""
import gzip, json, os

from .runner import HEAD, NODE, cluster, pod

TERM = {"topologyKey": "k", "labelSelector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}
IS_A = {"matchExpressions": [{"key": "k", "operator": "In", "values": ["a"]}]}


def nodes(count, **allocatable):
    return [{**NODE, "metadata": {"name": f"n{i}", "labels": {"k": "z"}}, "status": {"allocatable": {"cpu": "4", "pods": "10", **allocatable}}} for i in range(count)]


def required(kind, terms):
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}


def play(runner, rounds, seed):
    # Long single strings, on the screen and in text.
    message = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "x" * 1_000_000}]
    runner.write("message.json", cluster(pod("p", conditions=message)))
    runner.write("annotation.json", cluster(pod("p", metadata={"annotations": {"a": "y" * 5_000_000}})))
    runner.write("name.json", cluster(pod("p" * 100_000), pod("q")))
    runner.write("marks.json", cluster(pod("e" + "\u0301" * 100_000), pod("q")))
    for name in ["message", "annotation", "name", "marks"]:
        for keys in ["", "1 i", "c 6", "y"]:
            runner.run(name, ["open", f"{name}.json", "--print", f"{name}{len(keys)}.txt", "--keys", keys])
        runner.run(name, ["explain", "--pending", "--from", f"{name}.json"])
    # Configurations.
    for name, text in {
        "deep": "[" * 80_000,
        "profiles": HEAD + "profiles:\n" + "".join(f"- {{schedulerName: s{i}}}\n" for i in range(35_000)),
        "same": HEAD + "profiles:\n" + "- {schedulerName: a}\n" * 40_000,
        "unknown": HEAD + "".join(f"k{i}: 1\n" for i in range(80_000)),
        "plugins": HEAD + "profiles:\n- plugins:\n    score:\n      enabled:\n" + "".join(f"      - {{name: P{i}}}\n" for i in range(40_000)),
        "aliases": "a: &a [" + "x," * 200_000 + "x]\n" + "".join(f"b{i}: *a\n" for i in range(40_000)),
        "odd alias": HEAD + "profiles: [&_a {plugins: {multiPoint: {enabled: [" + ",".join(f"{{name: P{i}}}" for i in range(1_900)) + "]}}}" + ",*_a" * 1_900 + "]\n",
        "same extenders": HEAD + "extenders: [&a {urlPrefix: 'http://h', managedResources: [" + ",".join(f"{{name: a.b/{i}}}" for i in range(600)) + "]}" + ",*a" * 1_800 + "]\n",
        "managed": HEAD + "profiles:\n" + "".join(f"- {{schedulerName: s{i}}}\n" for i in range(1_900)) + "extenders:\n" + "".join(f"- {{urlPrefix: 'http://h', filterVerb: f, managedResources: [" + ",".join(f"{{name: a.b/{j}x{i}, ignoredByScheduler: true}}" for i in range(1_900)) + "]}\n" for j in range(8)),
        "laughs": "a: &a [x]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(12)),
    }.items():
        runner.write(f"{name}.yaml", text)
        runner.run(name, ["explain", "payments", "-n", "shop", "--demo", "payments", "--config", f"{name}.yaml"])
        runner.run(name, ["explain", "--pending", "--from", f"{name}.yaml"])
    for device in ["/dev/zero", "/dev/urandom"]:
        runner.run("device", ["explain", "payments", "-n", "shop", "--demo", "payments", "--config", device])
        runner.run("device", ["run", "--demo", "payments", "--ops", device])
    # Operations, sessions, themes, expressions.
    runner.write("ops.json", json.dumps([{"op": "advance", "seconds": 2**64 - 1}] * 1000))
    runner.run("ops", ["run", "--demo", "payments", "--ops", "ops.json"])
    for verb in ["", "drain " + "n" * 60_000, "drain " + "n " * 30_000, "lose =", "lose \x1b[2J=\x07", "add 999999999999999999999 like worker-a1",
                 "patch pod shop/payments " + "{" * 60_000, "gate " + "A=true," * 10_000, "weights " + "NodeName=1 " * 5_000, "taint worker-a1 :-"]:
        runner.run("verb", ["run", "--demo", "payments", "--what-if", verb])
    runner.write("session", gzip.compress(b'{"format":"schedscope session","x":"' + b" " * 100_000_000))
    runner.run("session", ["open", "session", "--print", "session.txt"])
    runner.write("cel.json", json.dumps({"kind": "DeviceClass", "apiVersion": "resource.k8s.io/v1", "metadata": {"name": "c"}, "spec": {"selectors": [{"cel": {"expression": "(" * 500_000}}]}}))
    runner.run("cel", ["explain", "--pending", "--from", "cel.json"])
    os.makedirs(os.path.join(runner.folder, "schedscope/themes"), exist_ok=True)
    for name, text in {"toml": "a = " + "[" * 80_000, "keys": "[keys.global]\n" + "".join(f"k{i} = 'x'\n" for i in range(50_000)), "dots": "a" + ".a" * 80_000 + " = 1"}.items():
        runner.write("schedscope/config.toml", text)
        runner.run(f"config {name}", ["demo", "payments", "--print", f"c{name}.txt"])
        os.remove(os.path.join(runner.folder, "schedscope/config.toml"))
        runner.write("schedscope/themes/mine.toml", text)
        runner.run(f"theme {name}", ["demo", "payments", "--theme", "mine", "--print", f"t{name}.txt"])
        os.remove(os.path.join(runner.folder, "schedscope/themes/mine.toml"))

    # Lists out of all measure: their products must not decide how long an answer takes.
    many = {
        "terms": [*nodes(500), pod("p", spec=required("nodeAffinity", {"nodeSelectorTerms": [IS_A] * 13_000}))],
        "preferred": [*nodes(800), pod("p", spec={"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": IS_A}] * 8_000}}})],
        "spread": [*nodes(300), *[pod(f"e{i}", spec={"nodeName": f"n{i % 300}"}, metadata={"labels": {"a": "c"}}) for i in range(1_500)],
                   pod("p", spec={"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "k", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": TERM["labelSelector"]}] * 4_500})],
        "anti": [*nodes(100), *[pod(f"e{i}", spec={"nodeName": f"n{i % 100}"}, metadata={"labels": {"b": "c"}}) for i in range(2_500)], pod("p", spec=required("podAntiAffinity", [TERM] * 5_000))],
        "ports": [*nodes(300), *[pod(f"e{i}", spec={"nodeName": f"n{i}", "containers": [{"name": "c", "ports": [{"hostPort": p} for p in range(1, 3_000)]}]}) for i in range(4)],
                  pod("p", spec={"containers": [{"name": "c", "ports": [{"hostPort": p, "hostIP": "10.0.0.1"} for p in range(3_001, 15_000)]}]})],
        "resources": [*nodes(1), pod("p", spec={"containers": [{"name": "c", "resources": {"requests": {f"example.com/r{i}": "1" for i in range(40_000)}}}]})],
        "volumes": [*nodes(50), pod("p", spec={"volumes": [{"name": f"v{i}", "persistentVolumeClaim": {"claimName": f"c{i}"}} for i in range(11_000)]})],
        "reasons": [*nodes(1), pod("p", conditions=[{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/9 nodes are available: " + "1 node(s) had untolerated taint {a: b}, " * 20_000}])],
        "room": [*nodes(500, cpu="9223372036854775", pods="9223372036854775807"), pod("p", spec={"containers": [{"name": "c"}]})],
    }
    for name, objects in many.items():
        runner.write(f"{name}.json", cluster(*objects))
        for args in [["explain", "p"], ["explain", "p", "--fixes"], ["explain", "--pending"], ["run"], ["run", "--what-if", "capacity default/p"]]:
            runner.run(name, [*args, "--from", f"{name}.json"])
    keys = ",".join(f"k{i}: a" for i in range(20_000))
    for name, text in {
        "merged": f"kind: Pod\nmetadata: {{name: p, labels: &l {{{keys}}}, annotations: {{<<: [{','.join(['*l'] * 100_000)}]}}}}\n",
        "listed": f"kind: List\nx: &l {{{keys}}}\nitems:\n" + "- *l\n" * 100_000,
    }.items():
        runner.write(f"{name}.yaml", text)
        runner.run(name, ["explain", "p", "--from", f"{name}.yaml"])
        runner.run(name, ["live", "--kubeconfig", f"{name}.yaml"])
    runner.run("device", ["explain", "p", "--kubeconfig", "/dev/zero"])
