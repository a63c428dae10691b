"""Kubernetes scheduling, decided and explained as kube-scheduler would: dicts in, dicts out."""

import json

from . import _engine

__all__ = ["Engine"]


def _text(value):
    return value if isinstance(value, str) else json.dumps(value)


class Engine:
    """A cluster with its scheduler.

    `objects` is a dict (an object or a List), a list of dicts, or JSON or YAML text. Errors are ValueError; they name the
    input, the object and the line.
    """

    def __init__(self, objects=(), *, release=None, config=None, feature_gates=None, unknown=(), now=None, _inner=None):
        if _inner is None:
            if isinstance(objects, (list, tuple)):
                objects = {"kind": "List", "apiVersion": "v1", "items": list(objects)}
            config = None if config is None else _text(config)
            _inner = _engine.Engine([_text(objects)], release, config, feature_gates, list(unknown), now)
        self._inner = _inner

    @property
    def release(self):
        """The emulated release, such as "1.34.1"."""
        return self._inner.release()

    @property
    def now(self):
        """The time of the cluster, as RFC 3339."""
        return self._inner.now()

    @property
    def warnings(self):
        """Remarks about the objects and the release, such as defaults that were chosen."""
        return self._inner.warnings()

    def fork(self):
        """A copy that shares everything with this engine; it costs microseconds."""
        return Engine(_inner=self._inner.fork())

    def decide(self, namespace, name):
        """The decision about a pending pod, as `schedscope explain -o json` has it."""
        return json.loads(self._inner.decide(namespace, name))

    def fixes(self, namespace, name):
        """The decision with verified changes that let the pod in, as `explain --fixes -o json`."""
        return json.loads(self._inner.fixes(namespace, name))

    def what_if(self, words):
        """What becomes of the pods, as `run --what-if WORDS -o json`."""
        return json.loads(self._inner.what_if(words))

    def place(self, pod_or_workload, replicas=1):
        """Whether new pods fit: placed, pending, refused and victims. Nothing is kept."""
        return json.loads(self._inner.place(_text(pod_or_workload), replicas))

    def admit(self, pod):
        """A new pod with an API server's defaults."""
        return json.loads(self._inner.admit(_text(pod)))

    def apply(self, operation):
        """Applies an operation of `run --ops`; returns its result."""
        return json.loads(self._inner.apply(_text(operation)))

    def settle(self):
        """Runs the scheduler until nothing changes."""
        return json.loads(self._inner.settle())

    def queues(self):
        """The queues: active, backoff and unschedulable."""
        return json.loads(self._inner.queues())
