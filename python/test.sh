#!/usr/bin/env bash
# Builds the wheel and explains a pod from a new virtual environment, by the module and by the program. Says so and ends well where maturin
# is missing. Arguments are those of build.sh.
set -euo pipefail
folder=$(cd "$(dirname "$0")" && pwd)
story=$folder/../fixtures/stories/payments.yaml
if ! command -v maturin > /dev/null; then
    echo "skipped: maturin is missing (pip install maturin)"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$folder/build.sh" "$@" --out "$work/wheels"
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --no-index "$work"/wheels/*.whl
code=0
"$work/venv/bin/schedscope" explain payments -n shop --from "$story" > "$work/answer" || code=$?
[ "$code" = 1 ] && grep -q "worker-a2 is nominated" "$work/answer"
ls -l "$work"/wheels/*.whl | awk '{print $NF": "$5" bytes"}'
cd "$work"
venv/bin/python - "$story" <<'PYTHON'
import sys

import schedscope

engine = schedscope.Engine(open(sys.argv[1]).read(), release="1.36")
decision = engine.decide("shop", "payments")
assert decision["outcome"] == "unschedulable" and decision["schemaVersion"] == 1, decision
print(decision["why"])
other = schedscope.Engine(release="1.99")
assert other.release == "1.37.0" and any("v1.99 was requested" in warning for warning in other.warnings), other.warnings

node = {"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "pods": "110"}}}
pod = {"kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "300m"}}}]}}
engine = schedscope.Engine([node])
placed = engine.place(pod, 20)
assert (len(placed["placed"]), len(placed["pending"])) == (13, 7), placed
answer = schedscope.Engine(open(sys.argv[1]).read()).what_if("drain worker-a1")
assert answer["whatIf"][0]["verb"] == "drain worker-a1", answer
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
