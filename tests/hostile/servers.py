"""API servers that answer with everything but what was asked. On the loopback; each counts requests and bytes."""
import gzip, json, socket, threading, time

from .runner import NODE, pod

# What one run may ask and read, and what a server sends at most.
REQUESTS, BYTES_READ, BYTES = 3000, 100_000_000, 400_000_000
RESOURCES = {"": "namespaces nodes persistentvolumes persistentvolumeclaims pods services", "apps": "replicasets statefulsets", "policy": "poddisruptionbudgets",
             "scheduling.k8s.io": "priorityclasses", "storage.k8s.io": "csidrivers csinodes storageclasses volumeattachments"}
KINDS = {"namespaces": "Namespace", "nodes": "Node", "pods": "Pod", "services": "Service"}


class Server:
    """Answers each request with `hostile(path, query, body)`: pieces, of which a number is a pause and None closes the connection."""

    def __init__(self, hostile):
        self.hostile, self.requests, self.sent, self.closing = hostile, 0, 0, False
        self.socket = socket.create_server(("127.0.0.1", 0))
        # What waits in a buffer here was not read.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 32_768)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def close(self):
        self.closing = True
        self.socket.close()

    def serve(self):
        while not self.closing:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.talk, args=(connection,), daemon=True).start()

    def talk(self, connection):
        with connection, connection.makefile("rb") as lines:
            try:
                while not self.closing and (first := lines.readline()):
                    length = 0
                    while (header := lines.readline()).strip():
                        if header.lower().startswith(b"content-length:"):
                            length = int(header.split(b":")[1])
                    body = lines.read(length)
                    self.requests += 1
                    target = first.split()[1].decode("latin-1")
                    path, _, query = target.partition("?")
                    for piece in self.hostile(path, query, body):
                        if self.closing or self.sent > BYTES:
                            return
                        if piece is None:
                            return
                        if isinstance(piece, (int, float)):
                            self.pause(piece)
                            continue
                        connection.sendall(piece)
                        self.sent += len(piece)
            except (OSError, ValueError, IndexError):
                return

    def pause(self, seconds):
        end = time.monotonic() + seconds
        while not self.closing and time.monotonic() < end:
            time.sleep(0.02)


CLOSED = [b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{", None]


def answer(body, status="200 OK", kind="application/json", headers=""):
    body = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode("utf-8", "surrogatepass")
    return [f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{headers}\r\n".encode(), body]


def status(code, reason, headers=""):
    return answer({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "\x1b[2Jno", "reason": reason, "code": code}, f"{code} {reason}", headers=headers)


def listed(path, items=None, **meta):
    plural = path.rsplit("/", 1)[1]
    items = {"nodes": [NODE], "pods": [pod("p")]}.get(plural, []) if items is None else items
    return {"kind": KINDS.get(plural, "X") + "List", "apiVersion": "v1", "metadata": {"resourceVersion": "1", **meta}, "items": items}


def usual(path, query, _body=b""):
    parts = path.strip("/").split("/")
    if path == "/version":
        return answer({"major": "1", "minor": "36", "gitVersion": "v1.36.0"})
    if path == "/apis":
        return answer({"kind": "APIGroupList", "groups": [{"name": g, "versions": [{"version": "v1"}]} for g in RESOURCES if g]})
    if len(parts) == 2 and parts[0] == "api" or len(parts) == 3 and parts[0] == "apis":
        group = "" if parts[0] == "api" else parts[1]
        return answer({"kind": "APIResourceList", "resources": [{"name": n, "kind": KINDS.get(n, n), "verbs": ["get", "list", "watch"]} for n in RESOURCES.get(group, "").split()]})
    if "sendInitialEvents" in query:
        return status(422, "Invalid")
    if "watch=true" in query:
        return [b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n", 600]
    return answer(listed(path))


def is_list(path, query):
    return path.count("/") >= 3 and "watch=true" not in query


def endless(start, piece, pause=0):
    yield b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + start
    while True:
        yield piece
        yield pause


def on_lists(make):
    """A server whose lists alone are hostile."""
    return lambda path, query, body: make(path, query) if is_list(path, query) and "sendInitialEvents" not in query else usual(path, query, body)


def on_path(wanted, make):
    return lambda path, query, body: make() if path == wanted else usual(path, query, body)


def on_watches(make):
    return lambda path, query, body: make() if "watch=true" in query and "sendInitialEvents" not in query else usual(path, query, body)


def chunked(pieces):
    yield b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    for piece in pieces:
        yield f"{len(piece):x}\r\n".encode() + piece + b"\r\n" if isinstance(piece, bytes) else piece


def growing():
    tokens = iter(range(1, 10**9))
    return on_lists(lambda path, query: answer(listed(path, **{"continue": "t" * min(1 << 20, 2 ** next(tokens))})))


def servers():
    bomb = gzip.compress(b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[' + b" " * 500_000_000)
    first = json.dumps(pod("q")).encode()
    broken = first.replace(b'"default"', b'"def\xff\xfeault"')
    yield "version endless", on_path("/version", lambda: endless(b'{"gitVersion":"', b"x" * 65_536))
    yield "version spaces", on_path("/version", lambda: endless(b"", b" " * 65_536))
    yield "version drips", on_path("/version", lambda: endless(b'{"gitVersion":"', b"x", 0.2))
    yield "version deep", on_path("/version", lambda: answer("[" * 100_000))
    yield "version raw", on_path("/version", lambda: answer({"gitVersion": "v1.36.0\x1b[2J\n\u202e", "major": {}}))
    yield "groups endless", on_path("/apis", lambda: endless(b'{"kind":"APIGroupList","groups":[', b'{"name":"a","versions":[{"version":"v1"}]},' * 500))
    yield "resources many", on_path("/api/v1", lambda: answer({"kind": "APIResourceList", "resources": [{"name": f"r{i}", "kind": "Pod", "verbs": ["list"]} for i in range(50_000)]}))
    for phase in ["/version", "/apis", "/api/v1", "/api/v1/pods"]:
        yield f"hangs at {phase}", on_path(phase, lambda: [600])
        yield f"closes at {phase}", on_path(phase, lambda: CLOSED)
        yield f"redirects at {phase}", on_path(phase, lambda phase=phase: answer("", "302 Found", headers=f"Location: {phase}\r\n"))
        yield f"page at {phase}", on_path(phase, lambda: answer("<html>\x1b[2J", kind="text/html"))
        for code, reason in [(401, "Unauthorized"), (403, "Forbidden"), (500, "InternalError")]:
            yield f"{code} at {phase}", on_path(phase, lambda code=code, reason=reason: status(code, reason))
        yield f"waits at {phase}", on_path(phase, lambda: status(429, "TooManyRequests", "Retry-After: 99999999999999999999\r\n"))
    yield "list endless", on_lists(lambda path, query: endless(b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[', (b" " * 60_000) + b"\n"))
    yield "list of one object", on_lists(lambda path, query: endless(json.dumps(listed(path, [pod("q")])).encode()[:-30] + b',"x":"', b"y" * 65_536))
    yield "list drips", on_lists(lambda path, query: endless(b'{"kind":"PodList","items":[', b" ", 0.1))
    yield "bomb", on_lists(lambda path, query: answer(bomb, headers="Content-Encoding: gzip\r\n"))
    yield "continue loops", on_lists(lambda path, query: answer(listed(path, **{"continue": "same"})))
    yield "continue grows", growing()
    yield "gone after each list", lambda path, query, body: answer({"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired"}}) if "watch=true" in query and "sendInitialEvents" not in query else usual(path, query, body)
    yield "410 of pages", on_lists(lambda path, query: status(410, "Expired") if "continue=" in query else answer(listed(path, **{"continue": "c"})))
    yield "no version of lists", on_lists(lambda path, query: answer(listed(path, resourceVersion="")))
    yield "broken text", on_lists(lambda path, query: answer(b'{"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[' + broken + b"]}"))
    yield "broken end", on_lists(lambda path, query: answer(b'{"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[' + first + b",{]}"))
    yield "items of other types", on_lists(lambda path, query: answer(listed(path, [1, "x", None, [], {}, {"metadata": 1}, {"metadata": {"name": 5}}])))
    yield "items null", on_lists(lambda path, query: answer({"kind": "PodList", "items": None}))
    yield "many equal objects", on_lists(lambda path, query: answer(listed(path, [pod("p")] * 20_000)))
    yield "watch floods", on_watches(lambda: chunked(json.dumps({"type": "MODIFIED", "object": pod("q", metadata={"resourceVersion": str(i)})}).encode() + b"\n" for i in range(10**6)))
    yield "watch of one line", on_watches(lambda: chunked(b"x" * 65_536 for _ in range(10**6)))
    yield "watch ends", on_watches(lambda: chunked([]))
    yield "watch of rubbish", on_watches(lambda: chunked([b'{"type":"ADDED","object":5}\n{"type":5}\n\xff\xfe\n{"type":"\x1b[2J","object":{}}\n']))
    yield "silent", lambda path, query, body: [600]
    yield "headers endless", lambda path, query, body: iter([b"HTTP/1.1 200 OK\r\n"] + [b"X: y\r\n" * 10_000] * 1_000)
    yield "no HTTP", lambda path, query, body: [b"\x16\x03\x01\0\0" * 1_000]


def kubeconfig(port):
    return json.dumps({"apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                       "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}], "users": [{"name": "u", "user": {}}]})


def play(runner, rounds, seed):
    for name, hostile in servers():
        server = Server(hostile)
        runner.write("kube.json", kubeconfig(server.port))
        for args in [["explain", "p", "--kubeconfig", "kube.json"], ["capture", "-", "--live", "--kubeconfig", "kube.json"], ["live", "--kubeconfig", "kube.json", "--print", f"live{runner.runs}.txt"]]:
            server.requests = server.sent = 0
            runner.run(f"server: {name}", args, interrupt_after=runner.patience)
            problems = []
            if server.requests > REQUESTS:
                problems.append(f"{server.requests} requests")
            if server.sent > BYTES_READ:
                problems.append(f"{server.sent // 1_000_000} MB read")
            runner.report(f"server: {name}", args, problems)
        server.close()
