"""Session files: the program's own, with changes of bytes, of lines and of values, and with bombs."""
import gzip, json, os, random, zlib

from .drawn import mutated

VALUES = [None, True, 0, -1, 2**32, 2**63, 2**64, 1e308, "", "x", "\x1b[2J", [], {}, [[]], {"": {}}]


def places(value, path=()):
    """The paths of all values within."""
    yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*path, key))


def replaced(value, path, new):
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


def changed(chance, lines):
    """Changes one of the lines."""
    lines = [line for line in lines if line.strip() and not line.startswith(b'{"checksum"')]
    # The first line is the head, the last is the newest branch.
    at = chance.choice([0, 0, len(lines) - 1, len(lines) - 1, chance.randrange(len(lines))])
    match chance.randrange(5):
        case 0: del lines[at]
        case 1: lines.insert(at, lines[at])
        case 2: lines[at] = lines[at][:chance.randrange(len(lines[at]) or 1)]
        case _:
            try:
                value = json.loads(lines[at])
            except ValueError:
                return lines
            lines[at] = json.dumps(replaced(value, chance.choice(list(places(value))), chance.choice(VALUES))).encode()
    return lines


def sealed(lines):
    """The lines with the checksum that belongs to them, as far as they are values."""
    crc, lines = 0, [line for line in lines if line.strip()]
    if lines and lines[-1].startswith(b'{"checksum"'):
        lines.pop()
    for line in lines:
        try:
            value = json.dumps(json.loads(line), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        except ValueError:
            return lines
        crc = zlib.crc32(value.encode("utf-8", "surrogatepass"), crc)
    return [*lines, json.dumps({"checksum": f"{crc:08x}"}).encode(), b""]


def play(runner, rounds, seed):
    chance = random.Random(seed)
    runner.run("session: save", ["demo", "payments", "--print", "saved.txt", "--keys", "c : 'save saved.session' enter"], seconds=5)
    path = os.path.join(runner.folder, "saved.session")
    if not os.path.exists(path):
        runner.report("session", ["save"], ["no session was saved"])
        return
    with open(path, "rb") as file:
        saved = file.read()
    try:
        text = gzip.decompress(saved)
    except OSError:
        text = saved
    lines = text.split(b"\n")

    def opened(name, content):
        runner.write("changed.session", content)
        runner.run(f"session: {name}", ["open", "changed.session", "--print", f"session{runner.runs}.txt"])

    opened("same", gzip.compress(text))
    opened("text", text)
    for cut in (1, 10, len(saved) // 2, len(saved) - 1, len(saved) - 8):
        opened(f"cut at {cut}", saved[:cut])
    opened("twice", saved + saved)
    opened("spaces behind", gzip.compress(text + b" " * 100_000_000))
    opened("lines behind", gzip.compress(text + b"{}\n" * 1_000_000))
    opened("a long value", gzip.compress(text[:-3] + b',"x":"' + b"y" * 50_000_000))
    head, last = json.loads(lines[0]), json.loads(lines[-3])
    opened("sealed again", gzip.compress(b"\n".join(sealed(lines))))
    for key in ("objects", "branches", "current"):
        opened(f"{key} out of range", gzip.compress(b"\n".join(sealed([json.dumps({**head, key: 2**62}).encode(), *lines[1:]]))))
    if "actions" in last:
        opened("many actions", gzip.compress(b"\n".join(sealed([*lines[:-3], json.dumps({**last, "actions": last["actions"] * 50_000}).encode()]))))
    for number in range(rounds):
        opened(f"round {number}, bytes", mutated(chance, saved) if chance.random() < 0.3 else gzip.compress(mutated(chance, text)))
        opened(f"round {number}, values", gzip.compress(b"\n".join(sealed(changed(chance, lines)))))
