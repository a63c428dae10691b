#!/usr/bin/env python3
"""Measures the program itself, whole, on a dump in JSON: processor time and peak memory of each command, as ratios to Python's
json.load of the same file in the same run, next to those of the baseline.

    benches/program.py DUMP NAMESPACE/POD [--program PATH] [--baseline FILE] [--write] [--rounds N] [--only NAME,...]

PROGRAM is target/release/schedscope unless another is named. Each number is the least of N rounds (3 by default). The baseline is
benches/program.json, by the size of the dump; --write writes it anew. Ratios compare between machines, seconds do not.
"""
import argparse, json, os, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("dump")
parser.add_argument("pod")
parser.add_argument("--program", default=os.path.join(HERE, "../target/release/schedscope"))
parser.add_argument("--baseline", default=os.path.join(HERE, "program.json"))
parser.add_argument("--write", action="store_true")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--only", default="", help="names of commands")
options = parser.parse_args()

LOAD = [sys.executable, "-c", "import json, sys; json.load(open(sys.argv[1]))", options.dump]
COMMANDS = {
    "explain": ["explain", options.pod],
    "explain --all-nodes": ["explain", options.pod, "--all-nodes"],
    "explain --odds": ["explain", options.pod, "--odds"],
    "explain -A --pending": ["explain", "-A", "--pending"],
    "run": ["run"],
    "run -o json": ["run", "-o", "json"],
    "run -o json --brief": ["run", "-o", "json", "--brief"],
    "run --all-nodes": ["run", "--all-nodes"],
}


def once(words):
    """Returns the seconds of processor time and the peak memory in bytes."""
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):
        sys.exit(f"{' '.join(words)} ends with {child.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def least(words):
    rounds = [once(words) for _ in range(options.rounds)]
    return min(seconds for seconds, _ in rounds), min(peak for _, peak in rounds)


size = os.path.getsize(options.dump)
try:
    baselines = json.load(open(options.baseline))
except FileNotFoundError:
    baselines = {}
baseline = baselines.get(str(size), {})
wanted = [name for name in options.only.split(",") if name] or list(COMMANDS)
load, _ = least(LOAD)
print(f"{os.path.basename(options.dump)}: {size / 1e6:.0f} MB, json.load {load:.2f} s")
print(f"{'command':24} {'seconds':>8} {'of json.load':>13} {'baseline':>9} {'peak MB':>8} {'of the file':>12} {'baseline':>9}")
found = {}
for name in wanted:
    seconds, peak = least([options.program, *COMMANDS[name], "--from", options.dump])
    found[name] = {"time": round(seconds / load, 3), "peak": round(peak / size, 3)}
    before = baseline.get(name, {})
    print(
        f"{name:24} {seconds:8.2f} {seconds / load:13.3f} {before.get('time', '-'):>9} {peak / 1e6:8.0f} {peak / size:12.3f} "
        f"{before.get('peak', '-'):>9}",
        flush=True,
    )
if options.write:
    baselines[str(size)] = {**baseline, **found}
    with open(options.baseline, "w") as file:
        json.dump(baselines, file, indent=1, sort_keys=True)
        file.write("\n")
