#!/usr/bin/env python3
"""Runs the program on hostile input: nothing may end by a signal or a panic, take more than a second or 200 MB, or write
anything raw.

    tests/hostile.py [PROGRAM] [--rounds N] [--seed N] [--only KIND,...] [--patience SECONDS]

PROGRAM is target/release/schedscope unless another is named; limits are those of a release build, and ten times as much for
any other. Kinds, one module each in tests/hostile: fixed (texts, configurations, lists), servers (API servers), extenders,
kubeconfigs, sessions, cuts (dumps that end early), drawn (N rounds of random input, 200 by default). Where the program may
wait for others, it is sent Ctrl-C after some seconds (3 by default) and must end then. Exits with 1 where something
was found.
"""
import argparse, importlib, os, sys

sys.dont_write_bytecode = True
from hostile.runner import Runner

KINDS = ["fixed", "servers", "extenders", "kubeconfigs", "sessions", "cuts", "drawn"]

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program", nargs="?", default=os.path.join(os.path.dirname(__file__), "../target/release/schedscope"))
parser.add_argument("--rounds", type=int, default=200)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--only", default=",".join(KINDS), help="kinds to run")
parser.add_argument("--patience", type=float, default=3, help="seconds before Ctrl-C; 60 waits for the program's own limits")
options = parser.parse_args()

runner = Runner(options.program)
runner.patience = options.patience
for kind in options.only.split(","):
    before = runner.found, runner.runs
    importlib.import_module(f"hostile.{kind}").play(runner, options.rounds, options.seed)
    print(f"{kind}: {runner.runs - before[1]} runs, {runner.found - before[0]} found", flush=True)

print(f"{runner.found} found in {runner.folder}" if runner.found else "nothing found")
sys.exit(1 if runner.found else 0)
