#!/usr/bin/env python3
"""Measures how the cost of each command grows with the cluster: processor time and peak memory at several numbers of nodes, with 23 pods
a node and 200 pending pods. Writes the figures as JSON, a table in Markdown, and a picture with both scales logarithmic.

    benches/growth.py [--sizes 500,1000,5000,15000,65000] [--program PATH] [--folder DIR] [--figures FILE] [--picture FILE] [--draw]

The clusters are written to DIR, at most one at a time: 1.4 GB at 65,000 nodes. --draw draws the picture from the figures that are there.
"""
import argparse, json, math, os, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PODS_OF_NODE = 23
PENDING = 200

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--sizes", default="500,1000,5000,15000,65000")
parser.add_argument("--program", default=os.path.join(HERE, "../target/release/schedscope"))
parser.add_argument("--folder", default=tempfile.gettempdir())
parser.add_argument("--figures", default=os.path.join(HERE, "growth.json"))
parser.add_argument("--picture", default=os.path.join(HERE, "../docs/growth.svg"))
parser.add_argument("--draw", action="store_true")
options = parser.parse_args()

POD = "shop/waiting-0"
COMMANDS = {
    "explain": ["explain", POD],
    "explain -A --pending": ["explain", "-A", "--pending"],
    "run": ["run"],
    "open, first screen": ["open", "--print", "{folder}/screen.txt"],
}


def node(index):
    name = f"node-{index}"
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"zone-{index % 3}", "pool": "general"}
    resources = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    return {"kind": "Node", "apiVersion": "v1", "metadata": {"name": name, "uid": name, "labels": labels},
            "status": {"capacity": resources, "allocatable": resources, "conditions": [{"type": "Ready", "status": "True"}],
                       "nodeInfo": {"kubeletVersion": "v1.36.2"}}}


def pod(name, app, cpu, priority, on):
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"app-{app}", "uid": f"app-{app}", "controller": True}
    requests = {"cpu": cpu, "memory": "256Mi"}
    spec = {"containers": [{"name": "app", "image": f"app-{app % 40}:1", "resources": {"requests": requests}}], "priority": priority,
            "schedulerName": "default-scheduler", "terminationGracePeriodSeconds": 30, "restartPolicy": "Always",
            "tolerations": [{"key": f"node.kubernetes.io/{kind}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
                            for kind in ("not-ready", "unreachable")]}
    status = {"phase": "Pending"}
    if on:
        spec["nodeName"] = on
        status = {"phase": "Running", "startTime": "2026-11-01T00:00:00Z", "conditions": [{"type": "PodScheduled", "status": "True"}]}
    metadata = {"name": name, "namespace": "shop", "uid": name, "creationTimestamp": "2026-11-01T00:00:00Z",
                "labels": {"app": f"app-{app}"}, "ownerReferences": [owner]}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": spec, "status": status}


def cluster(nodes, path):
    """Writes a cluster whose nodes are nine tenths full; one of ten pending pods fits only where others are evicted."""
    with open(path, "w") as file:
        file.write('{"kind":"List","apiVersion":"v1","items":[')
        write = lambda value: file.write("," + json.dumps(value, separators=(",", ":")))
        file.write(json.dumps({"kind": "PodDisruptionBudget", "apiVersion": "policy/v1", "metadata": {"name": "app-1", "namespace": "shop"},
                               "spec": {"selector": {"matchLabels": {"app": "app-1"}}, "maxUnavailable": 1},
                               "status": {"disruptionsAllowed": 1}}))
        for index in range(nodes):
            write(node(index))
        for index in range(nodes * PODS_OF_NODE):
            write(pod(f"pod-{index}", index // 50, "625m", index % 5 * 10, f"node-{index % nodes}"))
        for index in range(PENDING):
            preempts = index % 10 == 0
            write(pod(f"waiting-{index}", -1 - index // 20, "4" if preempts else "500m", 1000 if preempts else 0, ""))
        file.write("]}")


def measured(words):
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):
        sys.exit(f"{' '.join(words)} ends with {child.returncode}")
    return {"seconds": round(usage.ru_utime + usage.ru_stime, 2), "megabytes": round(usage.ru_maxrss / 1000)}


def draw(figures, path):
    """Draws a line for each command, and one of n log n to compare with."""
    sizes = sorted(int(size) for size in figures)
    rows = {name: [(size, figures[str(size)][name]["seconds"]) for size in sizes if name in figures[str(size)]] for name in COMMANDS}
    values = [seconds for row in rows.values() for _, seconds in row]
    low, high = math.floor(math.log10(max(min(values), 0.01))), math.ceil(math.log10(max(values)))
    left, right, top, bottom = 60, 620, 20, 340
    x = lambda size: left + (right - left) * math.log(size / sizes[0]) / math.log(sizes[-1] / sizes[0])
    y = lambda seconds: bottom - (bottom - top) * (math.log10(max(seconds, 0.01)) - low) / (high - low)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 380" font-family="sans-serif" font-size="13">',
           '<rect width="860" height="380" fill="#ffffff"/>']
    for power in range(low, high + 1):
        out.append(f'<path d="M{left} {y(10**power):.1f}H{right}" stroke="#dddddd"/>')
        out.append(f'<text x="{left - 8}" y="{y(10**power) + 4:.1f}" text-anchor="end">{10**power:g} s</text>')
    for size in sizes:
        out.append(f'<text x="{x(size):.1f}" y="{bottom + 20}" text-anchor="middle">{size:,}</text>')
    out.append(f'<text x="{(left + right) / 2}" y="{bottom + 38}" text-anchor="middle">nodes, with {PODS_OF_NODE} pods each</text>')
    first = rows["explain"][-1]
    linear = [(size, first[1] * size * math.log(size) / (first[0] * math.log(first[0]))) for size in sizes]
    points = " ".join(f"{x(size):.1f},{y(seconds):.1f}" for size, seconds in linear if seconds >= 10**low)
    out.append(f'<polyline points="{points}" fill="none" stroke="#999999" stroke-dasharray="4 4"/>')
    labels = sorted(((row[-1][1], name) for name, row in rows.items()), reverse=True)
    places, last = {}, -100
    for seconds, name in labels:
        last = places[name] = max(y(seconds) + 4, last + 16)
    for name, color in zip(rows, ("#1f77b4", "#d62728", "#2ca02c", "#9467bd")):
        points = " ".join(f"{x(size):.1f},{y(seconds):.1f}" for size, seconds in rows[name])
        out.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"/>')
        out.append(f'<text x="{right + 8}" y="{places[name]:.1f}" fill="{color}">{name}, {rows[name][-1][1]:g} s</text>')
    out.append(f'<text x="{right + 8}" y="{last + 20:.1f}" fill="#777777">dashed: n log n</text></svg>')
    with open(path, "w") as file:
        file.write("\n".join(out) + "\n")


def table(figures):
    sizes = sorted(int(size) for size in figures)
    print("| nodes | pods | JSON | " + " | ".join(COMMANDS) + " |")
    print("| --- " * (3 + len(COMMANDS)) + "|")
    for size in sizes:
        of = figures[str(size)]
        cells = [f"{of[name]['seconds']:g} s, {of[name]['megabytes']:,} MB" if name in of else "-" for name in COMMANDS]
        print(f"| {size:,} | {of['pods']:,} | {of['file']:,} MB | " + " | ".join(cells) + " |")


if options.draw:
    figures = json.load(open(options.figures))
else:
    figures = {}
    for size in (int(size) for size in options.sizes.split(",")):
        path = os.path.join(options.folder, f"growth-{size}.json")
        cluster(size, path)
        pods = size * PODS_OF_NODE + PENDING
        found = figures[str(size)] = {"pods": pods, "file": round(os.path.getsize(path) / 1e6)}
        for name, words in COMMANDS.items():
            words = [word.format(folder=options.folder) for word in words]
            if os.path.exists(words[-1]):
                os.remove(words[-1])
            found[name] = measured([options.program, *words, *([path] if words[0] == "open" else ["--from", path])])
            print(f"{size} nodes, {name}: {found[name]}", file=sys.stderr, flush=True)
        os.remove(path)
        with open(options.figures, "w") as file:
            json.dump(figures, file, indent=1)
            file.write("\n")
table(figures)
draw(figures, options.picture)
