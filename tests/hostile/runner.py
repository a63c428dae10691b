"""Runs the program and holds it to its limits."""
import json, os, resource, signal, subprocess, tempfile, threading, time, unicodedata

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
NASTY = ["\x1b[2J", "\x07", "\n", "\r", "\0", "\x7f", "\x85", "\x9b31m", "\u202e", "\u2066", "\u200b", "\u2028", "\U000e0041", "`", "|", "<b>", "é", "節", "a", "/", " "]
# Marks of scripts, which are format characters but belong to words.
PREPENDED = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u08e2\u0890\u0891\U000110bd\U000110cd"
NODE = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}
# Seconds that the program may need to end after Ctrl-C.
ENDS_WITHIN = 2


def pod(name, **more):
    spec = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}], **more.pop("spec", {})}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": "default", **more.pop("metadata", {})}, "spec": spec, "status": {"phase": "Pending", **more}}


def cluster(*objects):
    return json.dumps({"kind": "List", "apiVersion": "v1", "items": [NODE, *objects]})


def raw(text):
    return [c for c in text if c != "\n" and (unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") and c not in PREPENDED)]


def processor_time():
    """Seconds that ended children have worked."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Runner:
    def __init__(self, program):
        self.program = os.path.abspath(program)
        self.slack = 1 if "/release/" in self.program else 10
        self.folder = tempfile.mkdtemp(prefix="hostile-")
        self.env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "XDG_CONFIG_HOME": self.folder, "XDG_STATE_HOME": "/dev/null", "HOME": self.folder}
        self.found = self.runs = 0

    def write(self, name, content):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
        return name

    def start(self, args, stdin=subprocess.PIPE):
        return subprocess.Popen([self.program, *args], cwd=self.folder, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.env)

    def report(self, name, args, problems):
        if problems:
            self.found += 1
            print(f"{name}: {' '.join(map(repr, args))}: {', '.join(problems)}", flush=True)

    def run(self, name, args, stdin=b"", seconds=1, interrupt_after=None):
        """Runs a command to its end, within `seconds` of its own work. With `interrupt_after`, it may wait as long as it likes, and
        Ctrl-C after those seconds must end it. Returns the exit code and what it wrote."""
        self.runs += 1
        child = self.start(args)
        peak, problems = [0], []
        waited = self.watch(child, peak)
        begin, spent = time.monotonic(), processor_time()
        limit = interrupt_after if interrupt_after is not None else 60 * self.slack
        interrupted = False
        try:
            out, err = child.communicate(stdin, timeout=limit)
        except subprocess.TimeoutExpired:
            interrupted = True
            child.send_signal(signal.SIGINT if interrupt_after is not None else signal.SIGKILL)
            try:
                out, err = child.communicate(timeout=ENDS_WITHIN * self.slack)
            except subprocess.TimeoutExpired:
                child.kill()
                out, err = child.communicate()
                problems.append(f"runs on {ENDS_WITHIN * self.slack} s after Ctrl-C")
        took, spent = time.monotonic() - begin, processor_time() - spent
        waited.join()
        if peak[0] > 200_000 * (1 if self.slack == 1 else 2):
            problems.append(f"{peak[0] // 1000} MB")
        # On a busy machine the program may take long and work little.
        slow = took > seconds * self.slack and spent > seconds * self.slack or took > 20 * seconds * self.slack
        if slow and interrupt_after is None:
            problems.append(f"{took:.1f} s, {spent:.1f} s of work")
        # Ctrl-C ends it by the signal, or by the shell's code for one.
        if child.returncode not in (0, 1, 2, 3) and not (interrupted and child.returncode in (-2, 130, -9)):
            problems.append(f"exit code {child.returncode}")
        out, err = out.decode("utf-8", "replace"), err.decode("utf-8", "replace")
        if "broke off" in err or "panicked" in err:
            problems.append("panic")
        for stream in (out, err):
            if raw(stream):
                problems.append(f"raw {raw(stream)[0]!r}")
        self.report(name, args, problems)
        return child.returncode, out, err

    @staticmethod
    def watch(child, peak):
        """Reads the most memory that the child had, for as long as it runs."""
        def read():
            while child.poll() is None:
                try:
                    with open(f"/proc/{child.pid}/status") as file:
                        peak[0] = max(peak[0], next((int(line.split()[1]) for line in file if line.startswith("VmHWM")), 0))
                except OSError:
                    return
                time.sleep(0.01)
        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        return thread
