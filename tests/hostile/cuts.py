"""Dumps that are cut: the answer is that of the whole, or it says that something more is missing and the exit code is 3.

Cuts that leave a whole file of the same format, such as those between two lines of JSON, cannot be seen and are left out.
"""
import gzip, io, json, os, random, tarfile

from .runner import NODE, cluster, pod

TAINTED = {**NODE, "metadata": {"name": "m"}, "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}


def clusters():
    """Clusters whose last objects decide: without them the answer would be its opposite."""
    anti = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"a": "b"}}}]}}}
    labelled = {**NODE, "metadata": {"name": "n", "labels": {"kubernetes.io/hostname": "n"}}}
    big = [{"name": "c", "resources": {"requests": {"cpu": "4"}}}]
    yield "full", [NODE, pod("p"), pod("x", spec={"nodeName": "n", "containers": big})]
    yield "anti", [labelled, pod("p", spec=anti), pod("x", spec={"nodeName": "n"}, metadata={"labels": {"a": "b"}})]
    yield "node", [TAINTED, pod("p"), NODE]
    yield "first", [pod("x", spec={"nodeName": "n", "containers": big}), NODE, pod("p")]


def forms(objects):
    whole = json.dumps({"kind": "List", "apiVersion": "v1", "items": objects})
    yield "json", whole.encode()
    yield "indented.json", json.dumps({"kind": "List", "apiVersion": "v1", "items": objects}, indent=1).encode()
    yield "lines.json", "\n".join(map(json.dumps, objects)).encode()
    yield "list.yaml", block({"apiVersion": "v1", "items": objects, "kind": "List", "metadata": {"resourceVersion": ""}}).encode()
    yield "json.gz", gzip.compress(whole.encode())
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for i, one in enumerate(objects):
            info = tarfile.TarInfo(f"{i}.json")
            content = json.dumps(one).encode()
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    yield "tar", stream.getvalue()
    yield "tar.gz", gzip.compress(stream.getvalue())


def block(value, indent=0):
    """Writes YAML in blocks; a text is quoted as JSON has it."""
    pad = "  " * indent
    if isinstance(value, dict) and value:
        return "\n".join(f"{pad}{k}:{(chr(10) + block(v, indent + 1)) if isinstance(v, (dict, list)) and v else ' ' + json.dumps(v)}" for k, v in value.items())
    if isinstance(value, list) and value:
        return "\n".join(f"{pad}- {block(v, indent + 1).lstrip()}" if isinstance(v, (dict, list)) and v else f"{pad}- {json.dumps(v)}" for v in value)
    return pad + json.dumps(value)


def decision(out):
    """What an answer decides, and how many facts it says are missing."""
    try:
        answer = json.loads(out)
    except ValueError:
        return None, 0
    return (answer.get("outcome"), answer.get("node")), len(answer.get("missing") or [])


def seen(ending, content, at):
    """Whether a cut there leaves a file that is visibly cut."""
    if ending == "lines.json":
        return content[at - 1:at] not in (b"\n", b"}") or content[at:at + 1] not in (b"\n", b"{", b"")
    if ending == "tar":
        # Zero blocks at the end of an archive are filling.
        return bool(content[at:].strip(b"\0"))
    # The last keys of a list in YAML come after its items.
    return ending != "list.yaml" or b"\nkind: List" in content[at:] and at > content.index(b"items:")


def play(runner, rounds, seed):
    chance = random.Random(seed)
    for name, objects in clusters():
        for ending, content in forms(objects):
            file = f"{name}.{ending}"
            runner.write(file, content)
            code, out, _ = runner.run(f"cut {file}: whole", ["explain", "p", "-o", "json", "--from", file])
            whole, missing = decision(out)
            places = {chance.randrange(1, len(content)) for _ in range(max(10, rounds // 8))} | {len(content) - n for n in range(1, 5)}
            for at in sorted(at for at in places if seen(ending, content, at)):
                runner.write(file, content[:at])
                args = ["explain", "p", "-o", "json", "--from", file]
                cut_code, out, err = runner.run(f"cut {file} at {at}", args)
                found, now = decision(out)
                # A pod that was not read is an error of its own, if the cut is named.
                unread = cut_code == 2 and ("truncated" in err or "the file ends" in err)
                honest = cut_code == 3 and (not out.strip() or now > missing)
                if (cut_code, found) != (code, whole) and not honest and not unread:
                    runner.report(f"cut {file} at {at} of {len(content)}", args, [f"exit code {cut_code} {found} instead of {code} {whole} or 3, {now - missing} more missing: {err.strip()[:100]!r}"])
