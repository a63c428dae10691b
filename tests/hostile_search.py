#!/usr/bin/env python3
"""Searches for small inputs that cost much: clusters of at most a megabyte that take more than a second or 200 MB.

    tests/hostile_search.py [PROGRAM] [--seconds N] [--seed N] [--finds FOLDER]
    tests/hostile_search.py [PROGRAM] --pairs COMMAND,...    tries each two dimensions together, grown to a megabyte
    tests/hostile_search.py [PROGRAM] --recipe FILE...       runs recipes that it wrote

Seconds are processor time of all threads together. It draws shapes of clusters (tests/hostile/shapes.py), grows each to a megabyte, runs a command on it, and changes those that
cost most. Each find is written as a recipe. Exits with 1 where something was found.
"""
import argparse, hashlib, itertools, json, os, random, resource, signal, subprocess, sys, tempfile, time

sys.dont_write_bytecode = True
from hostile import shapes

COMMANDS = {
    "explain": ["explain", "p0", "--from", "IN"], "json": ["explain", "p0", "-o", "json", "--from", "IN"],
    "pending": ["explain", "--pending", "-A", "--from", "IN"], "fixes": ["explain", "p0", "--fixes", "--from", "IN"],
    "fixes-json": ["explain", "p0", "--fixes", "-o", "json", "--from", "IN"],
    "compare": ["run", "--compare", "1.31", "--from", "IN"], "run": ["run", "--from", "IN"], "graceful": ["run", "--graceful", "--from", "IN"],
    "run-json": ["run", "-o", "json", "--from", "IN"], "run-brief": ["run", "-o", "yaml", "--brief", "--from", "IN"],
    "selector": ["explain", "-A", "--selector", "!none", "--from", "IN"], "pending-json": ["explain", "-A", "--pending", "-o", "json", "--from", "IN"], "yaml": ["explain", "p0", "-o", "yaml", "--all-nodes", "--from", "IN"],
    "drain": ["run", "--what-if", "drain n0", "--from", "IN"], "lose": ["run", "--what-if", "lose z=z", "--from", "IN"],
    "add": ["run", "--what-if", "add 3 like n0", "--from", "IN"], "capacity": ["run", "--what-if", "capacity default/p0", "--from", "IN"],
    "capture": ["capture", "-", "--from", "IN"], "redact": ["capture", "-", "--redact", "--from", "IN"],
    "print": ["open", "IN", "--print", "OUT"], "print-pod": ["open", "IN", "--pod", "default/p0", "--print", "OUT"],
    "info": ["info"], "all-nodes": ["explain", "p0", "--all-nodes", "--from", "IN"],
    "log": ["log", "LOG", "--from", "IN"], "odds": ["explain", "p0", "--odds", "--from", "IN"], "html": ["explain", "-A", "--pending", "-o", "html", "--from", "IN"],
    "manifest": ["explain", "-f", "MANIFEST", "--replicas", "1000", "--from", "IN"], "count": ["explain", "-f", "MANIFEST", "--capacity", "--from", "IN"],
    "copies": ["explain", "-f", "MANIFEST", "--from", "IN"],
    "diff": ["diff", "IN", "OTHER"], "diff-back": ["diff", "OTHER", "IN"],
    "workload": ["explain", "deploy/d0", "--from", "IN"], "owner": ["explain", "rs/rs0", "--from", "IN"], "daemon": ["explain", "ds/d0", "--from", "IN"], "job": ["explain", "job/j0", "--from", "IN"],
    "print-workload": ["open", "IN", "--workload", "deploy/d0", "--print", "OUT"], "evicted": ["explain", "--evicted", "-A", "--from", "IN"],
    "several": ["explain", *(f"p{i}" for i in range(20)), "--from", "IN"], "observed": ["explain", "p0", "--queues", "observed", "--from", "IN"], "run-observed": ["run", "--queues", "observed", "--from", "IN"],
    "metrics": ["explain", "-A", "--pending", "-o", "metrics", "--from", "IN"], "pending-fixes": ["explain", "-A", "--pending", "--fixes", "--from", "IN"],
    "markdown": ["explain", "p0", "-o", "markdown", "--fixes", "--from", "IN"], "wide": ["explain", "p0", "-o", "wide", "--odds", "--from", "IN"],
    **{name: ["run", "--what-if", verb, "--from", "IN"] for name, verb in (
        ("flood", "flood default/p0"), ("taint", "taint n0 a=b:NoExecute"), ("label", "label n0 z=q"), ("weights", "weights ImageLocality=5"), ("plugin-off", "plugin off NodeResourcesFit"),
        ("release", "release 1.30"), ("evict", "evict default/b0"), ("delete", "delete node n0"), ("priority", "priority default/p0 2000000"))},
    **{name: ["open", "IN", "--pod", "default/p0", "--keys", keys, "--print", "OUT"] for name, keys in (
        ("keys-panes", "2 z z z 3 8 9 0 P 6 4 5 i"), ("keys-fixes", "x"), ("keys-cycle", "1 s c"), ("keys-settle", "S"), ("keys-agreement", "A"),
        ("keys-drain", "':drain n0' enter S"), ("keys-odds", "':odds' enter"), ("keys-filter", "P '/p1' enter"))},
    "old": ["explain", "p0", "--emulate", "1.14", "--from", "IN"], "run-old": ["run", "--emulate", "1.20", "--from", "IN"], "scale": ["run", "--what-if", "scale deploy/d0 5000", "--from", "IN"],
}
# A release that queues each pod of a group by itself, and one that queues the group.
GROUPS_BY_POD = ["--feature-gates", "GenericWorkload=true,GangScheduling=true", "--emulate", "1.36"]
GROUPS_AS_ONE = ["--feature-gates", "GenericWorkload=true", "--emulate", "1.37"]


# The objects that dimensions need.
NEEDS = {"bound.": "bound", "claim.": "claims", "slice.": "slices", "device.": "slices", "class.": "classes", "budget.": "budgets", "pod.claims": "claims", "pod.volumes": "pvcs",
         "claims": "classes", "groups.": "groups", "group.": "groups", "budgets": "bound", "slices": "pod.claims", "volume.": "volumes", "volumes": "pod.volumes", "service.": "services", "csinode.": "csinodes",
         "pod.values": "pod.terms", "pod.expressions": "pod.terms", "term.": "pod.anti", "quota.": "quotas", "range.": "ranges", "runtime.": "runtimes", "workload.": "workloads",
         "queue.": "clusterqueues", "capacity.": "capacities", "capacities": "pod.volumes", "node.values": "node.labels", "long.labels": "pod.selector", "long.values": "pod.terms",
         "long.domains": "pod.anti", "long.resources": "pod.resources", "long.taints": "node.taints", "long.images": "node.images", "long.claims": "pod.volumes",
         "long.messages": "events"}
# The most elements of a dimension of a pair, and the most characters.
LARGEST_OF_PAIR, LONGEST_OF_PAIR = 5000, 200_000


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", default=os.path.join(os.path.dirname(__file__), "../target/release/schedscope"))
    parser.add_argument("--seconds", type=int, default=600, help="how long to search")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", type=int, default=1_000_000, help="the largest input, in bytes")
    parser.add_argument("--patience", type=float, default=20, help="seconds of work after which a run is ended")
    parser.add_argument("--finds", default="finds", help="the folder for recipes")
    parser.add_argument("--skip", action="append", default=[], help="a dimension or command to leave out, where it is known to be slow")
    parser.add_argument("--pairs", default="", help="commands to run on each two dimensions")
    parser.add_argument("--mode", default="own", choices=shapes.MODES, help="how the elements of pairs differ")
    parser.add_argument("--nodes", type=int, default=3, help="the number of nodes beside pairs")
    parser.add_argument("--bound", type=int, default=100, help="the number of bound pods beside pairs")
    parser.add_argument("--part", default="1/1", help="which part of the pairs, such as 2/4")
    parser.add_argument("--recipe", nargs="+", default=[])
    return parser.parse_args()


def written(dims, limit):
    """The cluster as text; None where it is larger than the limit, or takes long to write as lists within lists multiply."""
    def ended(*_):
        raise TimeoutError

    signal.signal(signal.SIGALRM, ended)
    signal.setitimer(signal.ITIMER_REAL, 5)
    try:
        return shapes.written(dims, limit)
    except (TimeoutError, MemoryError):
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


class Search:
    def __init__(self, options):
        self.options, self.random = options, random.Random(options.seed)
        self.program = os.path.abspath(options.program)
        self.folder = tempfile.mkdtemp(prefix="hostile-search-")
        self.pool, self.finds, self.runs = [], {}, 0
        self.dimensions = [d for d in shapes.OBJECTS + shapes.LISTS if d not in options.skip]
        self.commands = [c for c in COMMANDS if c not in options.skip]

    def files(self, recipe):
        text = written(recipe["dims"], self.options.size)
        if text is None:
            return None
        whole = shapes.Recipe(recipe["dims"])
        more = []
        paths = {"IN": "in.json"}
        for name, wanted, content in (("config.json", any(d.startswith("config.") for d in recipe["dims"]), whole.config()), ("log.log", "log.lines" in recipe["dims"], whole.log())):
            if wanted and len(content) <= self.options.size:
                with open(os.path.join(self.folder, name), "w") as file:
                    file.write(content)
                more += [{"config.json": "--config", "log.log": "--scheduler-log"}[name], os.path.join(self.folder, name)]
        with open(os.path.join(self.folder, paths["IN"]), "w") as file:
            file.write(text)
        if {"MANIFEST", "OTHER"} & set(COMMANDS[recipe["command"]]):
            self.beside(json.loads(text), whole)
        return len(text), more

    def beside(self, cluster, whole):
        """Writes a manifest with the template of the first pending pod, and the cluster without one of seven objects."""
        items = cluster["items"]
        pod = next((item for item in items if item["kind"] == "Pod" and item["metadata"]["name"] == "p0"), {"spec": {}})
        labels = pod.get("metadata", {}).get("labels") or {"app": "a"}
        # An API server refuses a priority that is not its class's.
        spec = {field: value for field, value in pod["spec"].items() if field != "priority"}
        template = {"metadata": {"labels": labels}, "spec": spec}
        copies = whole.count("manifest.copies") or (2 if whole.count("manifest.objects") else None)
        spec = {"selector": {"matchLabels": labels}, "template": template, **({"replicas": min(copies, 10_000)} if copies else {})}
        made = lambda name: {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}
        # With the cluster it is no larger than an input may be.
        most = max(1, (self.options.size - len(json.dumps(cluster))) // len(json.dumps(made("made"))))
        objects = whole.count("manifest.objects")
        manifest = made("made") if not objects else {"kind": "List", "apiVersion": "v1", "items": [made(f"made{i}") for i in range(min(objects, most))]}
        other = {**cluster, "items": [item for at, item in enumerate(items) if at % 7 != 3]}
        for name, content in (("manifest.json", manifest), ("other.json", other)):
            with open(os.path.join(self.folder, name), "w") as file:
                json.dump(content, file)

    def measure(self, recipe):
        """Returns seconds, megabytes and an exit code; None where the input is too large."""
        made = self.files(recipe)
        if made is None:
            return None
        size, more = made
        out = os.path.join(self.folder, "out.txt")
        if os.path.exists(out):
            os.remove(out)
        log = os.path.join(self.folder, "log.log")
        if recipe["command"] == "log" and log not in more:
            return None
        paths = {"IN": "in.json", "MANIFEST": "manifest.json", "OTHER": "other.json"}
        paths = {name: os.path.join(self.folder, file) for name, file in paths.items()} | {"OUT": out, "LOG": log}
        args = [paths.get(word, word) for word in COMMANDS[recipe["command"]]]
        if args[0] in ("explain", "run", "open"):
            args += more
            if "groups" in recipe["dims"]:
                args += GROUPS_AS_ONE if "groups.as-one" in recipe["dims"] else GROUPS_BY_POD
        begin = time.monotonic()
        child = subprocess.Popen([self.program, *args], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=self.folder,
                                 env={"PATH": os.environ["PATH"], "XDG_CONFIG_HOME": self.folder, "XDG_STATE_HOME": "/dev/null"}, preexec_fn=self.limited)
        err, usage, code = self.waited(child, begin)
        self.runs += 1
        # Processor time, of all threads together: on a busy machine it says more than how long the run took.
        seconds = usage.ru_utime + usage.ru_stime
        return {"seconds": round(seconds, 2), "megabytes": usage.ru_maxrss // 1000, "code": code, "size": size, "panic": "panicked" in err or "broke off" in err, "error": err[-300:] if code not in (0, 1) else ""}

    def limited(self):
        # Under a limit on the address space the program reserves less, so that it costs other than what users see.
        resource.setrlimit(resource.RLIMIT_DATA, (6 << 30, 6 << 30))
        resource.setrlimit(resource.RLIMIT_CPU, (int(self.options.patience), int(self.options.patience) + 1))

    def waited(self, child, begin):
        os.set_blocking(child.stderr.fileno(), False)
        err = b""
        while True:
            err = (err + (child.stderr.read() or b""))[-4000:]
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                err += child.stderr.read() or b""
                child.returncode = os.waitstatus_to_exitcode(status)
                ended = child.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
                return err.decode("utf-8", "replace"), usage, "ended after patience" if ended else child.returncode
            # A run that waits instead of working is ended as well.
            if time.monotonic() - begin > 20 * self.options.patience:
                child.kill()
            time.sleep(0.005)

    def drawn(self):
        count = self.random.randrange(2, 6)
        dims = {name: [self.random.choice([1, 3, 10, 30]), self.random.choice(shapes.MODES)] for name in self.random.sample(self.dimensions, count)}
        dims.setdefault("nodes", [self.random.choice([1, 10, 100]), "own"])
        with_needs(dims, lambda: [self.random.choice([1, 3, 10]), "own"])
        return {"dims": dims, "command": self.random.choice(self.commands)}

    def changed(self, recipe):
        dims = {name: list(value) for name, value in recipe["dims"].items()}
        command = recipe["command"]
        for _ in range(self.random.randrange(1, 4)):
            name = self.random.choice(list(dims))
            match self.random.randrange(6):
                case 0: dims[name][0] = max(1, dims[name][0] * self.random.choice([2, 4, 10]))
                case 1: dims[name][0] = max(1, dims[name][0] // self.random.choice([2, 4, 10]))
                case 2: dims[name][1] = self.random.choice(shapes.MODES)
                case 3: dims[self.random.choice(self.dimensions)] = [self.random.choice([1, 10, 100]), self.random.choice(shapes.MODES)]
                case 4 if len(dims) > 2: del dims[name]
                case _: command = self.random.choice(self.commands)
        return {"dims": dims, "command": command}

    def grown(self, recipe):
        """Doubles dimensions, in turns, for as long as the input is small enough; halves them where it is not."""
        dims = {name: list(value) for name, value in recipe["dims"].items()}
        while written(dims, self.options.size) is None and max(value[0] for value in dims.values()) > 1:
            largest = max(dims, key=lambda name: dims[name][0])
            dims[largest][0] //= 2
        names = list(dims)
        self.random.shuffle(names)
        for name in names:
            for _ in range(16):
                if name == "config.profiles" or dims[name][0] > 100_000:
                    break
                dims[name][0] *= 2
                if written(dims, self.options.size) is None:
                    dims[name][0] //= 2
                    break
                if self.random.random() < 0.2:
                    break
        return {**recipe, "dims": dims}

    def pairs(self):
        """Runs the commands on each two dimensions, doubled in turns for as long as the input is small enough."""
        part, of = map(int, self.options.part.split("/"))
        all_pairs = list(itertools.combinations([d for d in self.dimensions if d not in ("nodes", "bound")], 2))
        for pair in all_pairs[part - 1::of]:
            dims = {"nodes": [self.options.nodes, "own"], "bound": [self.options.bound, "own"], **{name: [4, self.options.mode] for name in pair}}
            with_needs(dims, lambda: [4, "own"])
            growing = list(pair) if written(dims, self.options.size) else []
            while growing:
                for name in list(growing):
                    grown = {**dims, name: [dims[name][0] * 2, self.options.mode]}
                    if grown[name][0] > (LONGEST_OF_PAIR if name.startswith("long.") else LARGEST_OF_PAIR) or name == "config.profiles" or written(grown, self.options.size) is None:
                        growing.remove(name)
                    else:
                        dims = grown
            for command in self.options.pairs.split(","):
                recipe = {"dims": dims, "command": command}
                if cost := self.measure(recipe):
                    self.kept(recipe, cost)

    def kept(self, recipe, cost):
        if cost["seconds"] <= 1 and cost["megabytes"] <= 200 and cost["code"] in (0, 1, 2, 3) and not cost["panic"]:
            return
        key = recipe["command"] + " " + " ".join(sorted(recipe["dims"]))
        name = f"{recipe['command']}-{hashlib.sha256(key.encode()).hexdigest()[:8]}.json"
        if name in self.finds and self.finds[name][1]["seconds"] >= cost["seconds"]:
            return
        self.finds[name] = (recipe, cost)
        os.makedirs(self.options.finds, exist_ok=True)
        with open(os.path.join(self.options.finds, name), "w") as file:
            json.dump({**recipe, "cost": cost}, file, indent=1)
        print(f"{name}: {told(recipe, cost)}", flush=True)

    def sow(self):
        """The first recipes: each seed grown as a whole, under commands that take turns."""
        for turn in range(3):
            for number, seed in enumerate(shapes.SEEDS):
                if any(name.startswith("manifest.") for name in seed):
                    command = ["copies", "manifest", "count"][turn]
                elif any(name in seed for name in ("deployments", "daemonsets", "jobs", "words", "requests")):
                    command = ["pending", "print", ["workload", "daemon", "job", "owner"][number % 4]][turn]
                else:
                    command = ["pending", "fixes", "run", "capacity", "compare", "explain", "print-pod", "redact", "drain"][(number + 4 * turn) % 9]
                if command in self.commands and all(name in self.dimensions for name in seed):
                    yield {"dims": self.evenly(seed), "command": command}

    def evenly(self, seed):
        """Multiplies all counts together for as long as the input is small enough."""
        best, factor = seed, 1.0
        for step in (2, 2, 2, 2, 2, 1.5, 1.5, 1.25):
            dims = {name: [max(1, int(count * factor * step)) if count > 1 else count, mode] for name, (count, mode) in seed.items()}
            if written(dims, self.options.size) is not None:
                best, factor = dims, factor * step
        return best

    def search(self):
        sown = self.sow()
        end = time.monotonic() + self.options.seconds
        while time.monotonic() < end:
            recipe = next(sown, None)
            if recipe is None:
                fresh = not self.pool or self.random.random() < 0.4
                recipe = self.grown(self.drawn() if fresh else self.changed(self.random.choice(self.pool)[1]))
            cost = self.measure(recipe)
            if cost is None:
                continue
            self.kept(recipe, cost)
            self.pool.append((max(cost["seconds"], cost["megabytes"] / 200), recipe))
            # At most three of each command stay, so that one slow command does not crowd the others out.
            self.pool.sort(key=lambda one: -one[0])
            held = {}
            self.pool = [one for one in self.pool if held.setdefault(one[1]["command"], []).append(one) or len(held[one[1]["command"]]) <= 3]


def with_needs(dims, count):
    """Adds the objects that lists within objects need."""
    for name, needs in NEEDS.items():
        if any(d.startswith(name) for d in list(dims)):
            dims.setdefault(needs, count())


def told(recipe, cost):
    dims = ", ".join(f"{name} {count} {mode}" for name, (count, mode) in sorted(recipe["dims"].items()))
    return f"{recipe['command']}, {cost['seconds']} s, {cost['megabytes']} MB, code {cost['code']}, {cost['size'] // 1000} kB{', PANIC' if cost['panic'] else ''}: {dims}"


def main():
    options = parsed()
    search = Search(options)
    for path in options.recipe:
        with open(path) as file:
            recipe = json.load(file)
        search.kept(recipe, cost := search.measure(recipe))
        print(f"{path}: {told(recipe, cost)}")
    if options.pairs:
        search.pairs()
    elif not options.recipe:
        search.search()
    print(f"\n{search.runs} runs, {len(search.finds)} finds")
    for recipe, cost in sorted(search.finds.values(), key=lambda find: -find[1]["seconds"]):
        print(told(recipe, cost))
    sys.exit(1 if search.finds else 0)


if __name__ == "__main__":
    main()
