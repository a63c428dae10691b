"""Random input: texts, dumps, archives and configurations with changes, under every command."""
import io, json, random, tarfile, zipfile

from .runner import HEAD, NASTY, cluster, pod


def nasty(chance):
    return "".join(chance.choice(NASTY) for _ in range(chance.randrange(1, 12)))


def mutated(chance, data):
    data = bytearray(data)
    for _ in range(chance.randrange(1, 20)):
        at = chance.randrange(len(data))
        match chance.randrange(4):
            case 0: data[at] = chance.randrange(256)
            case 1: del data[at:at + chance.randrange(50)]
            case 2: data[at:at] = data[at:at + chance.randrange(200)]
            case _: data[at:at] = nasty(chance).encode()
        if not data:
            data = bytearray(b"x")
    return bytes(data)


def play(runner, rounds, seed):
    chance = random.Random(seed)
    for number in range(rounds):
        base = cluster(pod(nasty(chance), metadata={"labels": {nasty(chance): nasty(chance)}}, conditions=[{"type": "PodScheduled", "status": "False", "message": nasty(chance)}]), pod("q")).encode()
        name = f"r{number}" + chance.choice([".json", ".yaml", "", ".txt"])
        match chance.randrange(5):
            case 0: content = base
            case 1: content = mutated(chance, base)
            case 2:
                stream = io.BytesIO()
                with tarfile.open(fileobj=stream, mode="w:gz") as tar:
                    info = tarfile.TarInfo(nasty(chance).replace("\0", "0") + ".json")
                    info.size = len(base)
                    tar.addfile(info, io.BytesIO(base))
                content = stream.getvalue() if chance.random() < 0.5 else mutated(chance, stream.getvalue())
            case 3:
                stream = io.BytesIO()
                with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
                    archive.writestr(nasty(chance).replace("\0", "0") + ".yaml", base)
                content = stream.getvalue() if chance.random() < 0.5 else mutated(chance, stream.getvalue())
            case _: content = mutated(chance, (HEAD + "profiles: [{schedulerName: a, plugins: {score: {enabled: [{name: '*'}]}}}]\n").encode())
        runner.write(name, content)
        # A path of slashes alone is the root directory, which is not a small input.
        argument = nasty(chance).replace("\0", "").lstrip("/") or "x"
        for args in chance.sample([
            ["explain", "q", "--from", name], ["explain", "--pending", "-A", "--from", name, "-o", chance.choice(["text", "wide", "json", "yaml", "markdown"])],
            ["run", "--from", name, "-o", chance.choice(["text", "json"])], ["capture", "-", "--from", name], ["capture", "-", "--redact", "--from", name],
            ["explain", "q", "--demo", "payments", "--config", name], ["run", "--demo", "payments", "--ops", name], ["open", name, "--print", f"{number}.txt"],
            ["explain", "x", "--kubeconfig", name], ["explain", argument, "--from", name], [argument], ["explain", "q", "--from", argument],
            ["demo", "payments", "--print", f"k{number}.txt", "--keys", argument], ["explain", "q", "--demo", "payments", "--feature-gates", argument],
        ], 3):
            runner.run(f"round {number}", args)
