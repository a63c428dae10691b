"""Extenders with answers that are huge, deep, slow or of other types, and URLs with tricks."""
import json

from .runner import HEAD, NODE, cluster, pod
from .servers import CLOSED, Server, answer, endless

NAMES = {"NodeNames": ["n"], "FailedNodes": {}, "Error": ""}


def extenders():
    yield "endless", lambda *_: endless(b'{"NodeNames":["', b"n" * 65_536)
    yield "drips", lambda *_: endless(b'{"NodeNames":["', b"n", 0.1)
    yield "hangs", lambda *_: [600]
    yield "deep", lambda *_: answer("[" * 1_000_000)
    yield "deep inside", lambda *_: answer('{"FailedNodes":' + '{"a":' * 200_000 + "1" + "}" * 200_001)
    yield "many names", lambda *_: answer({**NAMES, "NodeNames": [f"n{i}" for i in range(1_000_000)]})
    yield "equal names", lambda *_: answer({**NAMES, "NodeNames": ["n"] * 1_000_000})
    yield "many failed", lambda *_: answer({**NAMES, "FailedNodes": {f"n{i}": "\x1b[2J" for i in range(100_000)}})
    yield "long reason", lambda *_: answer({**NAMES, "NodeNames": [], "FailedNodes": {"n": "\u202e\x07" * 1_000_000}})
    yield "long error", lambda *_: answer({"Error": "\x1b[2J" * 1_000_000})
    yield "other types", lambda *_: answer({"NodeNames": {"n": 1}, "Nodes": [], "FailedNodes": 5, "Error": []})
    yield "scores out of range", lambda *_: answer([{"Host": "n", "Score": 2**63 - 1}, {"Host": "n", "Score": -2**63}, {"Host": "x", "Score": 10**400}])
    yield "nodes", lambda *_: answer({"Nodes": {"items": [NODE] * 50_000}})
    yield "redirects", lambda *_: answer("", "307 Temporary Redirect", headers="Location: /filter\r\n")
    yield "no HTTP", lambda *_: [b"\0" * 10_000]
    yield "closes", lambda *_: CLOSED
    for code in (100, 204, 304, 404, 500, 999):
        yield f"status {code}", lambda *_, code=code: answer("\x1b[2J", f"{code} x")


def configuration(url):
    return HEAD + "extenders:\n- " + json.dumps({"urlPrefix": url, "filterVerb": "filter", "prioritizeVerb": "prioritize", "preemptVerb": "preempt", "weight": 1, "nodeCacheCapable": True, "httpTimeout": "1s"}) + "\n"


def play(runner, rounds, seed):
    runner.write("extended.json", cluster(pod("p"), pod("q", spec={"priority": 5})))
    args = ["explain", "p", "--from", "extended.json", "--config", "extenders.yaml", "--ask-extenders"]
    for name, hostile in extenders():
        server = Server(hostile)
        runner.write("extenders.yaml", configuration(f"http://127.0.0.1:{server.port}/"))
        runner.run(f"extender: {name}", args, interrupt_after=runner.patience)
        server.close()
    for url in ["", "x", "http://", "http://[::1", "http://127.0.0.1:99999/", "http://u:p@127.0.0.1:1/", "file:///etc/passwd", "http://127.0.0.1:1/\r\nX: y", "http://127.0.0.1:1/?a#b", "http://\u202e\x1b[2J/", "//127.0.0.1:1", "unix:///x", "http://" + "a" * 100_000 + "/"]:
        runner.write("extenders.yaml", configuration(url))
        runner.run(f"extender: {url[:40]!r}", args, interrupt_after=runner.patience)
        runner.run(f"extender: {url[:40]!r}", ["run", *args[2:]], interrupt_after=runner.patience)
    for text in ["", "{", "[" * 100_000, "{}\n" * 100_000, json.dumps({"extender": 1}), "\xff"]:
        runner.write("answers", text)
        runner.run("answers of extenders", [*args[:-1], "--extender-answers", "answers"], seconds=1)
