"""Kubeconfigs: characters that control terminals, files that never end, and programs for credentials that misbehave."""
import json, os, subprocess, time

SCRIPTS = {
    "hangs": "sleep 300",
    "floods": "exec cat /dev/zero",
    "floods stderr": "exec cat /dev/zero >&2",
    "writes raw": "printf '\\033[2J\\007'; printf '\\033[2J' >&2; exit 1",
    "leaves a grandchild": "sleep 300 & printf '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"t\"}}'",
    "has a grandchild that holds on": "(trap '' INT TERM; sleep 300) & sleep 300",
    "answers deep": "head -c 1000000 /dev/zero | tr '\\0' '['",
    "answers with a raw token": "printf '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"a\\\\r\\\\nX: y\"}}'",
    "kills itself": "kill -9 $$",
}


def config(server="http://127.0.0.1:1", user=None, **cluster):
    return {"apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": server, **cluster}}], "users": [{"name": "u", "user": user or {}}]}


def fixed():
    for server in ["", "127.0.0.1:1", "//x", "http://", "https://127.0.0.1:1", "file:///etc/passwd", "http://127.0.0.1:0", "http://127.0.0.1:99999", "http://\x1b[2J\u202e:1", "http://127.0.0.1:1/\r\nX: y", "http://u:p@127.0.0.1:1", "unix:///x", "http://[::1", "a" * 100_000]:
        yield f"server {server[:30]!r}", config(server)
    nasty = "\x1b[2J\x07\n\u202e"
    yield "names", {**config(), "current-context": nasty, "contexts": [{"name": nasty, "context": {"cluster": nasty, "user": nasty}}]}
    yield "lacks all", {"kind": "Config"}
    yield "types", {"apiVersion": 1, "clusters": {}, "contexts": 5, "users": [None], "current-context": []}
    yield "many contexts", {**config(), "contexts": [{"name": f"c{i}", "context": {"cluster": "c", "user": "u"}} for i in range(100_000)], "current-context": "none"}
    for key in ("certificate-authority", "certificate-authority-data", "proxy-url", "tls-server-name"):
        for value in ("/dev/zero", "fifo", "\x1b[2J", "http://\x1b[2J", "!!!!", "socks5://127.0.0.1:1"):
            yield f"{key} {value!r}", config("https://127.0.0.1:1", **{key: value})
    for key in ("tokenFile", "token", "client-certificate", "client-key", "client-certificate-data"):
        for value in ("/dev/zero", "fifo", "\x1b[2J\r\nX: y"):
            yield f"{key} {value!r}", config("https://127.0.0.1:1", {key: value})
    yield "exec of nothing", config(user={"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "/nothing\x1b[2J", "interactiveMode": "Never"}})


def left(marker):
    """Processes that still have the marker in their environment, by number."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/environ", "rb") as file:
                if marker.encode() in file.read():
                    found.append(int(number))
        except OSError:
            pass
    return found


def play(runner, rounds, seed):
    os.mkfifo(os.path.join(runner.folder, "fifo"))
    for name, content in fixed():
        runner.write("kube.json", json.dumps(content))
        runner.run(f"kubeconfig: {name}", ["explain", "p", "--kubeconfig", "kube.json"], interrupt_after=runner.patience)
    for path in ("fifo", "/dev/zero", "/dev/urandom", ".", "/proc/self/mem"):
        runner.run(f"kubeconfig: {path}", ["explain", "p", "--kubeconfig", path], interrupt_after=runner.patience)
    for number, (name, script) in enumerate(SCRIPTS.items()):
        path = os.path.join(runner.folder, runner.write(f"plugin{number}", f"#!/bin/sh\n{script}\n"))
        os.chmod(path, 0o755)
        marker = f"HOSTILE_MARKER_{os.getpid()}_{number}"
        plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": path, "interactiveMode": "Never", "env": [{"name": marker, "value": "1"}]}
        runner.write("kube.json", json.dumps(config(user={"exec": plugin})))
        args = ["explain", "p", "--kubeconfig", "kube.json"]
        runner.run(f"exec plugin: {name}", args, interrupt_after=runner.patience)
        time.sleep(0.2)
        running = left(marker)
        if running and "grandchild" not in name:
            runner.report(f"exec plugin: {name}", args, [f"{len(running)} processes are left"])
        for process in running:
            try:
                os.kill(process, 9)
            except OSError:
                pass
