#!/usr/bin/env bash
# Builds the wheel and explains a pod from a new virtual environment. Says so and ends well where maturin is missing.
set -euo pipefail
cd "$(dirname "$0")"
if ! command -v maturin > /dev/null; then
    echo "skipped: maturin is missing (pip install maturin)"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
maturin build "$@" --out "$work/wheels"
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --no-index "$work"/wheels/*.whl
cd "$work"
venv/bin/python - "$OLDPWD/../fixtures/stories/payments.yaml" <<'PYTHON'
import sys

import schedscope

engine = schedscope.Engine(open(sys.argv[1]).read(), release="1.36")
decision = engine.decide("shop", "payments")
assert decision["outcome"] == "unschedulable" and decision["schemaVersion"] == 1, decision
print(decision["why"])

node = {"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "pods": "110"}}}
pod = {"kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "300m"}}}]}}
engine = schedscope.Engine([node])
placed = engine.place(pod, 20)
assert (len(placed["placed"]), len(placed["pending"])) == (13, 7), placed
fork = engine.fork()
fork.apply({"op": "create", "object": engine.admit(pod)})
assert fork.settle()["bound"] == [{"pod": "default/web", "node": "a"}]
try:
    engine.decide("default", "none")
    raise SystemExit("an error is expected")
except ValueError as error:
    print(error)
print("the wheel works")
PYTHON
