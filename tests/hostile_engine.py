#!/usr/bin/env python3
"""Clusters of less than a megabyte on which parts of the engine work long, each with the commands that show it.

    tests/hostile_engine.py [PROGRAM] [NAME...]

Without an argument it measures `target/release/schedscope` on every case: size, seconds, peak memory, exit code.
`CASES` maps a name to a function that returns the objects and the lists of arguments; IN is the path of the dump.
"""
import json, os, resource, subprocess, sys, tempfile, time

PATIENCE, MEMORY = 30, 4 << 30
GANGS = ["--feature-gates", "GenericWorkload=true,GangScheduling=true"]


def node(name, pods=5000, cpu="64", **labels):
    status = {"allocatable": {"cpu": cpu, "memory": "256Gi", "pods": str(pods)}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def pod(name, on=None, priority=0, cpu=None, labels=None, **spec):
    container = {"name": "c", "image": "i"}
    if cpu:
        container["resources"] = {"requests": {"cpu": cpu}}
    spec = {"containers": [container], "priority": priority, **spec}
    if on:
        spec["nodeName"] = on
    meta = {"name": name, "namespace": "default", "uid": name, "labels": labels or {}}
    phase = "Running" if on else "Pending"
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": {"phase": phase}}


def device_class(name="c"):
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name}, "spec": {}}


def devices(name, amount, attributes=None):
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    listed = [{"name": f"d{i}", **({"attributes": attributes} if attributes else {})} for i in range(amount)]
    spec = {"driver": "d", "pool": pool, "allNodes": True, "devices": listed}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec}


def claim(name, requests):
    meta = {"name": name, "namespace": "default", "uid": name}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": meta, "spec": {"devices": {"requests": requests}}}


def request(name, count=1, expressions=()):
    exactly = {"deviceClassName": "c", "allocationMode": "ExactCount", "count": count}
    if expressions:
        exactly["selectors"] = [{"cel": {"expression": e}} for e in expressions]
    return {"name": name, "exactly": exactly}


def claiming(name, *claims):
    return pod(name, resourceClaims=[{"name": c, "resourceClaimName": c} for c in claims])


EXPLAIN = ["explain", "p", "--from", "IN"]
FIXES = ["explain", "p", "--fixes", "--from", "IN"]
PENDING = ["explain", "--pending", "-A", "--from", "IN"]
RUN = ["run", "--from", "IN"]


def cel(nodes=10, amount=60, selectors=10):
    """Selectors that each cost nearly as much as one may, on many devices and nodes."""
    heavy = "lists.range(90).all(a, lists.range(90).all(b, a + b >= 0)) && {} >= 0"
    wanted = request("r", 1, [heavy.format(i) for i in range(selectors - 1)] + ["false"])
    objects = [node(f"n{i}") for i in range(nodes)] + [device_class(), devices("s", amount), claim("c", [wanted]), claiming("p", "c")]
    return objects, [EXPLAIN]


def claims(nodes=4, amount=24, requests=8):
    """Claims that cannot be allocated, and whose search backtracks."""
    wanted = [request(f"r{i}", 3) for i in range(requests)] + [request("last", 1, ["false"])]
    objects = [node(f"n{i}") for i in range(nodes)] + [device_class(), devices("s", amount), claim("c", wanted), claiming("p", "c")]
    return objects, [EXPLAIN, FIXES]


def many_claims(amount=900):
    """Many claims of one pod, each with its own slice."""
    objects = [node(f"n{i}") for i in range(20)] + [device_class()]
    objects += [devices(f"s{i}", 1) for i in range(amount)]
    objects += [claim(f"c{i}", [request("r", 1, ["false"])]) for i in range(amount)]
    return objects + [claiming("p", *[f"c{i}" for i in range(amount)])], [EXPLAIN, FIXES]


def rbd(image, monitors=1):
    return {"name": image, "rbd": {"image": image, "pool": "p", "monitors": [f"m{i}" for i in range(monitors)]}}


def volumes(own=3500, others=3500):
    """A pod with many inline volumes beside a pod with as many others."""
    objects = [node("n")] + [pod(f"o{k}", "n", volumes=[rbd(f"o{k}-{i}") for i in range(others // 7)]) for k in range(7)]
    return objects + [pod("p", volumes=[rbd(f"p{i}") for i in range(own)])], [EXPLAIN, RUN, FIXES]


def monitors(amount=12000):
    """Two volumes of one image with many monitors, none in common."""
    of = lambda name, letter: {"name": name, "rbd": {"image": "i", "pool": "p", "monitors": [f"{letter}{i}" for i in range(amount)]}}
    pods = [pod("o", "n", volumes=[of("v", "a")]), pod("p", volumes=[of(f"v{k}", letter) for k, letter in enumerate("bcd")])]
    return [node("n")] + pods, [EXPLAIN]


def victims_with_volumes(amount=1200):
    """Many victims with a volume each below a pod with as many."""
    objects = [node("n", cpu="1")] + [pod(f"o{i}", "n", volumes=[rbd(f"o{i}")]) for i in range(amount)]
    return objects + [pod("p", priority=9, cpu="1", volumes=[rbd(f"p{i}") for i in range(amount)] + [rbd("o0")])], [EXPLAIN, FIXES]


def budgets(amount=1600, pods=1600):
    """Many budgets that all cover many pods, each of them with its own labels."""
    def budget(i):
        expression = {"key": f"k{i}", "operator": "DoesNotExist"}
        meta = {"name": f"b{i}", "namespace": "default"}
        status = {"disruptionsAllowed": 1}
        return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta,
                "spec": {"selector": {"matchExpressions": [expression]}}, "status": status}
    objects = [node("n", cpu="1")] + [budget(i) for i in range(amount)]
    objects += [pod(f"o{i}", "n", cpu="1m", labels={"own": str(i)}) for i in range(pods)]
    return objects + [pod("p", priority=9, cpu="1")], [EXPLAIN, PENDING, RUN]


def gang(pods=3000, nodes=50):
    """One gang of many pods."""
    group = {"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", "metadata": {"name": "g", "namespace": "default"},
             "spec": {"schedulingPolicy": {"gang": {"minCount": pods}}}}
    members = [pod(f"p{i}", cpu="1", schedulingGroup={"podGroupName": "g"}) for i in range(pods)]
    return [node(f"n{i}") for i in range(nodes)] + [group] + members, [RUN + GANGS]


def nominated(pods=2500, nodes=100):
    """Many preemptors that are nominated already."""
    def waiting(i):
        preemptor = pod(f"p{i}", priority=1 + i, cpu="1")
        preemptor["status"]["nominatedNodeName"] = f"n{i % nodes}"
        return preemptor
    return [node(f"n{i}", cpu="10") for i in range(nodes)] + [waiting(i) for i in range(pods)], [PENDING, RUN]


def preemptors(pods=1200, victims=1200, nodes=60):
    """Many preemptors and victims."""
    objects = [node(f"n{i}", cpu="2") for i in range(nodes)] + [pod(f"o{i}", f"n{i % nodes}", cpu="100m") for i in range(victims)]
    return objects + [pod(f"p{i}", priority=9, cpu="1") for i in range(pods)], [PENDING, RUN]


def ports(amount=12000):
    """A pod with many host ports beside a pod with as many."""
    def holder(name, on, first):
        held = pod(name, on)
        held["spec"]["containers"][0]["ports"] = [{"containerPort": 1, "hostPort": first + i} for i in range(amount)]
        return held
    objects = [node("n0"), node("n1"), holder("o", "n0", 1), holder("p", None, 20000)]
    whats = ["drain n0", "lose n0", "capacity default/p"]
    return objects, [EXPLAIN] + [["run", "--what-if", what, "--from", "IN"] for what in whats]


CASES = {f.__name__: f for f in (cel, claims, many_claims, volumes, monitors, victims_with_volumes, budgets, gang, nominated,
                                 preemptors, ports)}


def written(objects):
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}, separators=(",", ":"))


def measured(program, arguments, path):
    """Returns seconds, megabytes and how the program ended."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    begin = time.monotonic()
    command = [program] + [path if a == "IN" else a for a in arguments]
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, preexec_fn=limit)
        while True:
            done, status, usage = os.wait4(child.pid, os.WNOHANG)
            if done:
                break
            if time.monotonic() - begin > PATIENCE:
                child.kill()
                _, status, usage = os.wait4(child.pid, 0)
                break
            time.sleep(0.01)
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        said = errors.read(300).decode(errors="replace").strip()
    ended = child.returncode if child.returncode in (0, 1, 3) else f"{child.returncode} {said}"
    return usage.ru_utime + usage.ru_stime, time.monotonic() - begin, usage.ru_maxrss / 1024, ended


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    program = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "../target/release/schedscope")
    failed = False
    for name in sys.argv[2:] or CASES:
        objects, commands = CASES[name]()
        text = written(objects)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(text)
            file.flush()
            for arguments in commands:
                cpu, wall, megabytes, ended = measured(program, arguments, file.name)
                slow = cpu > 1 or megabytes > 200 or str(ended) not in "013"
                failed |= slow
                print(f"{'SLOW' if slow else 'ok  '} {name:22}{len(text) // 1000:5} KB {cpu:7.2f} s cpu {wall:7.2f} s {megabytes:6.0f} MB "
                      f"exit {ended}  {' '.join(arguments)}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
