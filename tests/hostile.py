#!/usr/bin/env python3
"""Runs the program on hostile input: nothing may end by a signal or a panic, take more than a second or 200 MB, or write
anything raw.

    tests/hostile.py [PROGRAM] [--rounds N] [--seed N]

PROGRAM is target/release/schedscope unless another is named; limits are those of a release build, and ten times as much for
any other. Fixed inputs come first, then N rounds of random ones (200 by default). Exits with 1 where something was found.
"""
import argparse, gzip, io, json, os, random, resource, subprocess, sys, tarfile, tempfile, time, unicodedata, zipfile

parser = argparse.ArgumentParser()
parser.add_argument("program", nargs="?", default=os.path.join(os.path.dirname(__file__), "../target/release/schedscope"))
parser.add_argument("--rounds", type=int, default=200)
parser.add_argument("--seed", type=int, default=1)
options = parser.parse_args()
program = os.path.abspath(options.program)
slack = 1 if "/release/" in program else 10
HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
NASTY = ["\x1b[2J", "\x07", "\n", "\r", "\0", "\x7f", "\x85", "\x9b31m", "\u202e", "\u2066", "\u200b", "\u2028", "\U000e0041", "`", "|", "<b>", "é", "節", "a", "/", " "]
found = 0


def raw(text):
    return [c for c in text if c != "\n" and (unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") and c not in "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u08e2\u0890\u0891\U000110bd\U000110cd")]


def run(name, args, cwd, stdin=None):
    global found
    begin = time.monotonic()
    command = [program, *args]
    child = subprocess.Popen(["/usr/bin/env", "time", "-f", "MAXRSS %M", *command] if have_time else command, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    try:
        out, err = child.communicate(stdin or b"", timeout=60 * slack)
    except subprocess.TimeoutExpired:
        child.kill()
        out, err = child.communicate()
        err += b"TIMEOUT"
    took = time.monotonic() - begin
    problems = []
    text = err.decode("utf-8", "replace")
    if have_time and "MAXRSS" in text:
        text, _, memory = text.rpartition("MAXRSS ")
        if int(memory.split()[0]) > 200_000 * (1 if slack == 1 else 2):
            problems.append(f"{int(memory.split()[0]) // 1000} MB")
    if child.returncode not in (0, 1, 2, 3):
        problems.append(f"exit code {child.returncode}")
    if "broke off" in text or "panicked" in text:
        problems.append("panic")
    if took > slack:
        problems.append(f"{took:.1f} s")
    for stream in (out.decode("utf-8", "replace"), text.replace("Command exited with non-zero status", "")):
        if raw(stream):
            problems.append(f"raw {raw(stream)[0]!r}")
    if problems:
        found += 1
        print(f"{name}: {' '.join(map(repr, args))}: {', '.join(problems)}", flush=True)


have_time = subprocess.run(["/usr/bin/env", "time", "-f", "%M", "true"], capture_output=True).returncode == 0
folder = tempfile.mkdtemp()
env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "XDG_CONFIG_HOME": folder, "XDG_STATE_HOME": "/dev/null"}


def write(name, content):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    return name


def pod(name, **more):
    spec = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}], **more.pop("spec", {})}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": "default", **more.pop("metadata", {})}, "spec": spec, "status": {"phase": "Pending", **more}}


NODE = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}


def cluster(*objects):
    return json.dumps({"kind": "List", "apiVersion": "v1", "items": [NODE, *objects]})


# Long single strings, on the screen and in text.
message = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "x" * 1_000_000}]
write("message.json", cluster(pod("p", conditions=message)))
write("annotation.json", cluster(pod("p", metadata={"annotations": {"a": "y" * 5_000_000}})))
write("name.json", cluster(pod("p" * 100_000), pod("q")))
write("marks.json", cluster(pod("e" + "\u0301" * 100_000), pod("q")))
for name in ["message", "annotation", "name", "marks"]:
    for keys in ["", "1 i", "c 6", "y"]:
        run(name, ["open", f"{name}.json", "--print", f"{name}{len(keys)}.txt", "--keys", keys], folder)
    run(name, ["explain", "--pending", "--from", f"{name}.json"], folder)
# Configurations.
for name, text in {
    "deep": "[" * 80_000,
    "profiles": HEAD + "profiles:\n" + "".join(f"- {{schedulerName: s{i}}}\n" for i in range(35_000)),
    "same": HEAD + "profiles:\n" + "- {schedulerName: a}\n" * 40_000,
    "unknown": HEAD + "".join(f"k{i}: 1\n" for i in range(80_000)),
    "plugins": HEAD + "profiles:\n- plugins:\n    score:\n      enabled:\n" + "".join(f"      - {{name: P{i}}}\n" for i in range(40_000)),
    "aliases": "a: &a [" + "x," * 200_000 + "x]\n" + "".join(f"b{i}: *a\n" for i in range(40_000)),
    "laughs": "a: &a [x]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(12)),
}.items():
    write(f"{name}.yaml", text)
    run(name, ["explain", "payments", "-n", "shop", "--demo", "payments", "--config", f"{name}.yaml"], folder)
    run(name, ["explain", "--pending", "--from", f"{name}.yaml"], folder)
for device in ["/dev/zero", "/dev/urandom"]:
    run("device", ["explain", "payments", "-n", "shop", "--demo", "payments", "--config", device], folder)
    run("device", ["run", "--demo", "payments", "--ops", device], folder)
# Operations, sessions, themes, expressions.
write("ops.json", json.dumps([{"op": "advance", "seconds": 2**64 - 1}] * 1000))
run("ops", ["run", "--demo", "payments", "--ops", "ops.json"], folder)
for verb in ["", "drain " + "n" * 60_000, "drain " + "n " * 30_000, "lose =", "lose \x1b[2J=\x07", "add 999999999999999999999 like worker-a1",
             "patch pod shop/payments " + "{" * 60_000, "gate " + "A=true," * 10_000, "weights " + "NodeName=1 " * 5_000, "taint worker-a1 :-"]:
    run("verb", ["run", "--demo", "payments", "--what-if", verb], folder)
write("session", gzip.compress(b'{"format":"schedscope session","x":"' + b" " * 100_000_000))
run("session", ["open", "session", "--print", "session.txt"], folder)
write("cel.json", json.dumps({"kind": "DeviceClass", "apiVersion": "resource.k8s.io/v1", "metadata": {"name": "c"}, "spec": {"selectors": [{"cel": {"expression": "(" * 500_000}}]}}))
run("cel", ["explain", "--pending", "--from", "cel.json"], folder)
os.makedirs(os.path.join(folder, "schedscope/themes"), exist_ok=True)
for name, text in {"toml": "a = " + "[" * 80_000, "keys": "[keys.global]\n" + "".join(f"k{i} = 'x'\n" for i in range(50_000)), "dots": "a" + ".a" * 80_000 + " = 1"}.items():
    write("schedscope/config.toml", text)
    run(f"config {name}", ["demo", "payments", "--print", f"c{name}.txt"], folder)
    os.remove(os.path.join(folder, "schedscope/config.toml"))
    write("schedscope/themes/mine.toml", text)
    run(f"theme {name}", ["demo", "payments", "--theme", "mine", "--print", f"t{name}.txt"], folder)
    os.remove(os.path.join(folder, "schedscope/themes/mine.toml"))

# Lists out of all measure: their products must not decide how long an answer takes.
TERM = {"topologyKey": "k", "labelSelector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}
IS_A = {"matchExpressions": [{"key": "k", "operator": "In", "values": ["a"]}]}


def nodes(count, **allocatable):
    return [{**NODE, "metadata": {"name": f"n{i}", "labels": {"k": "z"}}, "status": {"allocatable": {"cpu": "4", "pods": "10", **allocatable}}} for i in range(count)]


def required(kind, terms):
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}


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
    write(f"{name}.json", cluster(*objects))
    for args in [["explain", "p"], ["explain", "p", "--fixes"], ["explain", "--pending"], ["run"], ["run", "--what-if", "capacity default/p"]]:
        run(name, [*args, "--from", f"{name}.json"], folder)
keys = ",".join(f"k{i}: a" for i in range(20_000))
for name, text in {
    "merged": f"kind: Pod\nmetadata: {{name: p, labels: &l {{{keys}}}, annotations: {{<<: [{','.join(['*l'] * 100_000)}]}}}}\n",
    "listed": f"kind: List\nx: &l {{{keys}}}\nitems:\n" + "- *l\n" * 100_000,
}.items():
    write(f"{name}.yaml", text)
    run(name, ["explain", "p", "--from", f"{name}.yaml"], folder)
    run(name, ["live", "--kubeconfig", f"{name}.yaml"], folder)
run("device", ["explain", "p", "--kubeconfig", "/dev/zero"], folder)

# Random ones.
random.seed(options.seed)


def nasty():
    return "".join(random.choice(NASTY) for _ in range(random.randrange(1, 12)))


def mutated(data):
    data = bytearray(data)
    for _ in range(random.randrange(1, 20)):
        at = random.randrange(len(data))
        match random.randrange(4):
            case 0: data[at] = random.randrange(256)
            case 1: del data[at:at + random.randrange(50)]
            case 2: data[at:at] = data[at:at + random.randrange(200)]
            case _: data[at:at] = nasty().encode()
        if not data:
            data = bytearray(b"x")
    return bytes(data)


for number in range(options.rounds):
    base = cluster(pod(nasty(), metadata={"labels": {nasty(): nasty()}}, conditions=[{"type": "PodScheduled", "status": "False", "message": nasty()}]), pod("q")).encode()
    name = f"r{number}" + random.choice([".json", ".yaml", "", ".txt"])
    match random.randrange(5):
        case 0: content = base
        case 1: content = mutated(base)
        case 2:
            stream = io.BytesIO()
            with tarfile.open(fileobj=stream, mode="w:gz") as tar:
                info = tarfile.TarInfo(nasty().replace("\0", "0") + ".json")
                info.size = len(base)
                tar.addfile(info, io.BytesIO(base))
            content = stream.getvalue() if random.random() < 0.5 else mutated(stream.getvalue())
        case 3:
            stream = io.BytesIO()
            with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr(nasty().replace("\0", "0") + ".yaml", base)
            content = stream.getvalue() if random.random() < 0.5 else mutated(stream.getvalue())
        case _: content = mutated((HEAD + "profiles: [{schedulerName: a, plugins: {score: {enabled: [{name: '*'}]}}}]\n").encode())
    write(name, content)
    # A path of slashes alone is the root directory, which is not a small input.
    argument = nasty().replace("\0", "").lstrip("/") or "x"
    for args in random.sample([
        ["explain", "q", "--from", name], ["explain", "--pending", "-A", "--from", name, "-o", random.choice(["text", "wide", "json", "yaml", "markdown"])],
        ["run", "--from", name, "-o", random.choice(["text", "json"])], ["capture", "-", "--from", name], ["capture", "-", "--redact", "--from", name],
        ["explain", "q", "--demo", "payments", "--config", name], ["run", "--demo", "payments", "--ops", name], ["open", name, "--print", f"{number}.txt"],
        ["explain", "x", "--kubeconfig", name], ["explain", argument, "--from", name], [argument], ["explain", "q", "--from", argument],
        ["demo", "payments", "--print", f"k{number}.txt", "--keys", argument], ["explain", "q", "--demo", "payments", "--feature-gates", argument],
    ], 3):
        run(f"round {number}", args, folder)

print(f"{found} found in {folder}" if found else "nothing found")
sys.exit(1 if found else 0)
