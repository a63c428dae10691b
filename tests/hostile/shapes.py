"""Builds clusters from recipes: a recipe is a mapping of a dimension to [count, mode].

Modes: "same" repeats one value, "own" counts on, "few" takes turns among seven.
"""
import json

# Dimensions, and which mode says what: of objects, how they differ; of lists within objects, how their elements differ.
OBJECTS = ["nodes", "bound", "pods", "budgets", "claims", "slices", "classes", "volumes", "pvcs", "storageclasses", "priorities", "csinodes", "capacities",
           "attachments", "groups", "events", "namespaces", "services", "replicasets",
           "quotas", "ranges", "accounts", "runtimes", "deployments", "statefulsets", "daemonsets", "jobs", "workloads", "localqueues", "clusterqueues",
           "requests", "words"]
LISTS = ["node.labels", "node.domains", "node.taints", "node.images", "node.resources", "pod.labels", "pod.tolerations", "pod.selector", "pod.terms", "pod.expressions", "pod.values",
         "pod.preferred", "pod.affinity", "pod.anti", "pod.softaffinity", "pod.softanti", "pod.spread", "pod.softspread", "pod.ports", "pod.images", "pod.resources",
         "pod.containers", "pod.claims", "pod.volumes", "pod.owners", "pod.gates", "bound.anti", "bound.softanti", "bound.ports", "bound.claims", "bound.labels",
         "bound.images", "term.namespaces", "term.expressions", "budget.expressions", "claim.requests", "claim.selectors", "claim.constraints", "claim.alternatives",
         "claim.count", "slice.devices", "device.attributes", "device.capacity", "device.taints", "class.selectors", "volume.terms", "service.selector", "csinode.drivers",
         "config.extenders", "config.profiles", "config.weights", "log.lines", "bound.priority", "pod.nominated", "device.counters", "capacity.values", "groups.as-one", "group.least", "group.topology",
         "group.disruption", "bound.groups", "first.gates", "quota.hard", "quota.scopes", "quota.values", "range.items", "range.resources", "runtime.tolerations",
         "workload.owners", "queue.flavors", "owner.conditions", "manifest.objects", "manifest.copies", "pod.queues", "node.values", "volume.zones",
         "long.labels", "long.values", "long.domains", "long.resources", "long.taints", "long.images", "long.nodes", "long.claims", "long.messages"]
# The names that these lengthen, by their beginning.
LONG = {"l": "long.labels", "v": "long.values", "w": "long.values", "z": "long.domains", "r": "long.resources", "t": "long.taints", "image": "long.images", "n": "long.nodes",
        "pvc": "long.claims", "claim": "long.claims"}
MODES = ["same", "own", "few"]

# Of the pending pods and of their groups: a group that differs from its pods in priority is not tried.
PRIORITY = 1000

# Products that a scheduler makes: where a search begins. Each is grown from these counts.
SEEDS = [
    {"nodes": [50, "own"], "bound": [50, "own"], "bound.priority": [1, "own"], "budgets": [50, "own"]},
    {"nodes": [50, "own"], "bound": [50, "own"], "bound.priority": [1, "own"], "budgets": [5, "own"], "budget.expressions": [10, "own"], "bound.labels": [10, "own"]},
    {"nodes": [30, "own"], "bound": [30, "own"], "bound.anti": [5, "few"]},
    {"nodes": [30, "own"], "bound": [30, "own"], "bound.softanti": [5, "few"], "pods": [10, "own"]},
    {"nodes": [30, "own"], "bound": [30, "own"], "pod.anti": [10, "own"], "term.namespaces": [10, "own"]},
    {"nodes": [30, "own"], "bound": [30, "own"], "pod.softaffinity": [10, "few"], "term.expressions": [5, "own"]},
    {"nodes": [30, "own"], "bound": [30, "own"], "bound.priority": [1, "own"], "pod.spread": [10, "few"]},
    {"nodes": [30, "own"], "bound": [30, "own"], "pod.softspread": [10, "few"], "pods": [10, "own"]},
    {"nodes": [30, "own"], "node.images": [30, "own"], "pod.images": [30, "own"]},
    {"nodes": [30, "own"], "node.taints": [30, "own"], "pod.tolerations": [30, "own"]},
    {"nodes": [30, "own"], "node.resources": [30, "own"], "pod.resources": [30, "own"], "pods": [5, "own"]},
    {"nodes": [30, "own"], "pod.terms": [30, "same"], "pod.expressions": [10, "own"], "pod.values": [10, "own"], "pods": [5, "own"]},
    {"nodes": [30, "own"], "pod.selector": [30, "own"], "node.labels": [30, "own"]},
    *({"nodes": [1, "own"], "node.domains": [100, "own"], kind: [100, "own"], "bound": [30, "own"]}
      for kind in ("pod.affinity", "pod.anti", "pod.softaffinity", "pod.spread", "pod.softspread", "bound.anti", "bound.softanti")),
    {"nodes": [10, "own"], "bound": [10, "own"], "bound.ports": [100, "own"], "pod.ports": [100, "own"], "pods": [3, "own"]},
    {"nodes": [3, "own"], "slices": [3, "same"], "slice.devices": [30, "own"], "classes": [1, "same"], "claims": [1, "own"], "claim.requests": [3, "own"], "claim.constraints": [3, "own"], "device.attributes": [3, "own"], "pod.claims": [1, "own"]},
    {"nodes": [10, "own"], "slices": [10, "own"], "slice.devices": [10, "own"], "classes": [1, "same"], "class.selectors": [5, "same"], "claims": [5, "own"], "claim.selectors": [5, "same"], "claim.count": [3, "own"], "pod.claims": [5, "own"]},
    {"nodes": [3, "own"], "slices": [3, "same"], "slice.devices": [30, "own"], "classes": [1, "same"], "claims": [3, "own"], "claim.requests": [3, "own"], "claim.alternatives": [4, "own"], "pod.claims": [3, "own"]},
    {"nodes": [3, "own"], "slices": [3, "own"], "slice.devices": [30, "own"], "device.counters": [10, "own"], "device.taints": [3, "own"], "classes": [1, "same"], "claims": [3, "own"], "claim.count": [5, "own"], "pod.claims": [3, "own"]},
    {"nodes": [30, "own"], "volumes": [30, "own"], "volume.terms": [3, "own"], "pvcs": [30, "own"], "storageclasses": [1, "same"], "pod.volumes": [30, "own"]},
    {"nodes": [30, "own"], "pvcs": [30, "own"], "storageclasses": [1, "same"], "pod.volumes": [30, "own"], "capacities": [30, "own"], "capacity.values": [3, "own"]},
    {"nodes": [30, "own"], "csinodes": [30, "own"], "csinode.drivers": [10, "own"], "attachments": [30, "own"], "pvcs": [10, "own"], "pod.volumes": [10, "own"]},
    {"nodes": [30, "own"], "groups": [1, "same"], "pods": [30, "own"]},
    {"nodes": [30, "own"], "groups": [10, "own"], "pods": [30, "own"], "bound": [30, "own"], "bound.priority": [1, "own"]},
    {"nodes": [30, "own"], "groups": [1, "same"], "groups.as-one": [1, "same"], "pods": [30, "own"]},
    {"nodes": [3, "own"], "groups": [1, "same"], "groups.as-one": [1, "same"], "group.least": [2, "same"], "pods": [300, "own"]},
    {"nodes": [3, "own"], "groups": [30, "own"], "groups.as-one": [1, "same"], "group.least": [2, "same"], "pods": [300, "own"]},
    {"nodes": [3, "own"], "groups": [1, "same"], "groups.as-one": [1, "same"], "group.least": [1, "same"], "first.gates": [1, "own"], "pods": [300, "own"]},
    {"nodes": [30, "own"], "groups": [1, "same"], "group.least": [2, "same"], "pods": [300, "own"]},
    {"nodes": [30, "own"], "groups": [1, "same"], "groups.as-one": [1, "same"], "group.topology": [1, "own"], "group.least": [2, "same"], "pods": [30, "own"]},
    {"nodes": [30, "own"], "groups": [1, "same"], "groups.as-one": [1, "same"], "group.topology": [1, "own"], "pods": [30, "own"], "bound": [30, "own"], "bound.priority": [1, "own"]},
    {"nodes": [30, "own"], "groups": [1, "same"], "groups.as-one": [1, "same"], "pods": [30, "own"], "bound": [30, "own"], "bound.groups": [10, "few"], "group.disruption": [1, "own"]},
    {"nodes": [30, "own"], "groups": [10, "few"], "groups.as-one": [1, "same"], "group.least": [1, "same"], "pods": [30, "own"], "bound": [30, "own"], "bound.priority": [1, "own"]},
    {"nodes": [30, "own"], "services": [30, "own"], "service.selector": [10, "own"], "pod.labels": [10, "own"], "pods": [30, "own"], "replicasets": [10, "own"]},
    {"nodes": [30, "own"], "pods": [100, "own"], "pod.nominated": [100, "own"], "bound": [30, "own"]},
    {"nodes": [30, "own"], "pods": [100, "own"], "events": [100, "few"]},
    {"nodes": [3, "own"], "pods": [30, "own"], "log.lines": [100, "own"]},
    {"nodes": [30, "own"], "pods": [30, "own"], "config.extenders": [30, "own"]},
    {"nodes": [30, "own"], "quotas": [100, "own"], "quota.hard": [3, "own"], "manifest.copies": [10000, "same"]},
    {"nodes": [30, "own"], "quotas": [100, "own"], "quota.scopes": [3, "own"], "quota.values": [3, "own"], "manifest.objects": [30, "own"]},
    {"nodes": [30, "own"], "ranges": [100, "own"], "range.items": [3, "own"], "range.resources": [3, "own"], "manifest.objects": [30, "own"], "pod.containers": [10, "own"]},
    {"nodes": [3, "own"], "deployments": [100, "own"], "replicasets": [100, "own"], "owner.conditions": [3, "own"], "pods": [30, "own"], "pod.owners": [1, "own"]},
    {"nodes": [30, "own"], "daemonsets": [100, "own"], "node.taints": [3, "own"], "node.labels": [3, "own"]},
    {"nodes": [3, "own"], "jobs": [100, "own"], "workloads": [100, "own"], "workload.owners": [3, "own"], "localqueues": [30, "own"], "clusterqueues": [30, "own"], "queue.flavors": [3, "own"], "pods": [30, "own"], "pod.queues": [1, "own"]},
    {"nodes": [3, "own"], "replicasets": [30, "own"], "pods": [30, "own"], "pod.owners": [3, "own"], "words": [100, "few"], "events": [30, "few"]},
    {"nodes": [3, "own"], "requests": [100, "own"], "pods": [100, "own"], "pod.queues": [1, "own"], "words": [100, "few"]},
]


class Recipe:
    def __init__(self, dims):
        self.dims = dims

    def count(self, name, default=0):
        return self.dims[name][0] if name in self.dims else default

    def long(self, prefix):
        """The beginning of names, as long as the recipe says."""
        return prefix + "x" * self.count(LONG.get(prefix))

    def names(self, name, prefix, default=0):
        """The values of a list."""
        count, mode = self.dims.get(name, (default, "own"))
        prefix = self.long(prefix)
        return [prefix + {"same": "", "own": str(i), "few": str(i % 7)}[mode] for i in range(count)]

    def pick(self, name, prefix, i):
        mode, prefix = self.dims.get(name, (0, "few"))[1], self.long(prefix)
        return prefix + {"same": "", "own": str(i), "few": str(i % 7)}[mode]

    def selector(self, name):
        count = max(1, self.count(name))
        return {"matchExpressions": [{"key": f"l{i}" if self.dims.get(name, (0, "same"))[1] == "own" else "app", "operator": "Exists"} for i in range(count)]}

    def term(self, i, name):
        term = {"topologyKey": self.pick(name, "z", i), "labelSelector": self.selector("term.expressions")}
        if self.count("term.namespaces"):
            term["namespaces"] = ["default", *self.names("term.namespaces", "ns")]
        return term

    def terms(self, name):
        return [self.term(i, name) for i in range(self.count(name))]

    def soft(self, name):
        return [{"weight": 1 + i % 100, "podAffinityTerm": self.term(i, name)} for i in range(self.count(name))]

    def pod(self, kind, name, i):
        c, n = self.count, lambda what, prefix: self.names(f"{kind}.{what}", prefix)
        expressions = [{"key": key, "operator": "In", "values": self.names("pod.values", "v", 1)} for key in self.names("pod.expressions", "l", 1)]
        node_affinity = {}
        if c(f"{kind}.terms"):
            node_affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [{"matchExpressions": expressions}] * c(f"{kind}.terms")}
        if c(f"{kind}.preferred"):
            node_affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [{"weight": 1, "preference": {"matchExpressions": expressions}}] * c(f"{kind}.preferred")
        required, preferred = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
        spec = {
            "affinity": {"nodeAffinity": node_affinity,
                         "podAffinity": {required: self.terms(f"{kind}.affinity"), preferred: self.soft(f"{kind}.softaffinity")},
                         "podAntiAffinity": {required: self.terms(f"{kind}.anti"), preferred: self.soft(f"{kind}.softanti")}},
            "tolerations": [{"key": k, "operator": "Exists"} for k in n("tolerations", "t")],
            "nodeSelector": {k: "v" for k in n("selector", "l")},
            "topologySpreadConstraints": [
                {"maxSkew": 1, "topologyKey": self.pick(f"{kind}.{what}", "z", j), "whenUnsatisfiable": when, "labelSelector": self.selector("term.expressions")}
                for what, when in (("spread", "DoNotSchedule"), ("softspread", "ScheduleAnyway")) for j in range(c(f"{kind}.{what}"))],
            "volumes": [{"name": f"v{j}", "persistentVolumeClaim": {"claimName": claim}} for j, claim in enumerate(n("volumes", "pvc"))],
            "resourceClaims": [{"name": f"c{j}", "resourceClaimName": claim} for j, claim in enumerate(n("claims", "claim"))],
            "schedulingGates": [{"name": g} for g in n("gates", "g") + (self.names("first.gates", "f") if name == "p0" else [])],
            "containers": [{"name": f"c{j}", "image": self.pick(f"{kind}.images", "image", j),
                            "resources": {"requests": {"cpu": "1", **{f"example.com/{r}": "1" for r in n("resources", "r")}}},
                            "ports": [{"hostPort": 1 + (p if self.dims.get(f"{kind}.ports", (0, "own"))[1] == "own" else 0)} for p in range(min(60000, c(f"{kind}.ports")))]}
                           for j in range(max(1, c(f"{kind}.containers"), c(f"{kind}.images")))],
        }
        spec = {k: v for k, v in spec.items() if v}
        meta = {"name": name, "namespace": self.pick("namespaces", "ns", i) if c("namespaces") > 1 and kind == "bound" else "default", "labels": {"app": "a", **{k: "v" for k in n("labels", "l")}}}
        if c(f"{kind}.queues"):
            meta["labels"]["kueue.x-k8s.io/queue-name"] = self.pick("localqueues", "lq", i)
            meta["annotations"] = {"autoscaling.x-k8s.io/consume-provisioning-request": self.pick("requests", "pr", i)}
        if c(f"{kind}.owners"):
            meta["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": o, "uid": o, "controller": j == 0} for j, o in enumerate(n("owners", "rs"))]
        status = {"phase": "Pending"}
        if kind == "bound":
            spec["nodeName"] = self.node_name(i % max(1, c("nodes")))
            spec["priority"] = -i if c("bound.priority") else 0
            if c("bound.groups"):
                spec["schedulingGroup"] = {"podGroupName": self.pick("bound.groups", "b", i)}
            status = {"phase": "Running"}
        else:
            spec["priority"] = PRIORITY
            if c("priorities"):
                spec["priorityClassName"] = self.pick("priorities", "p", i)
            if c("groups"):
                spec["schedulingGroup"] = {"podGroupName": self.pick("groups", "g", i)}
            if i < c("pod.nominated"):
                status["nominatedNodeName"] = self.node_name(i % max(1, c("nodes")))
        return {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": spec, "status": status}

    def node_name(self, i):
        # Of a drain and the like, which name it.
        return "n0" if i == 0 else f"{self.long('n')}{i}"

    def node(self, i):
        cpu, domains, name = "1" if self.count("bound") else "4", self.count("node.domains"), self.node_name(i)
        value, key = self.pick("node.values", "w", i) if self.count("node.values") else "v", self.long("z")
        labels = {"kubernetes.io/hostname": name, "z": "z", **{k: value for k in self.names("node.labels", "l")}, **{f"{key}{j}": self.pick("node.domains", "z", i) if domains else f"z{i}" for j in range(domains or 7)}}
        if self.count("volume.zones"):
            labels["topology.kubernetes.io/zone"] = f"zone{i}"
        return {"kind": "Node", "apiVersion": "v1", "metadata": {"name": name, "labels": labels},
                "spec": {"taints": [{"key": k, "effect": "NoSchedule"} for k in self.names("node.taints", "t")]},
                "status": {"allocatable": {"cpu": cpu, "pods": "10000", **{f"example.com/{r}": "1" for r in self.names("node.resources", "r")}},
                           "images": [{"names": [name], "sizeBytes": 100_000_000} for name in self.names("node.images", "image")]}}

    def claim(self, name, i):
        device = {"deviceClassName": self.pick("classes", "class", i), "selectors": [cel() for _ in range(self.count("claim.selectors"))], "count": max(1, self.count("claim.count"))}
        requests = [{"name": f"r{j}", "exactly": device} if not self.count("claim.alternatives") else
                    {"name": f"r{j}", "firstAvailable": [{"name": f"a{k}", **device} for k in range(self.count("claim.alternatives"))]}
                    for j in range(max(1, self.count("claim.requests")))]
        constraints = [{"matchAttribute": f"example.com/{a}"} for a in self.names("claim.constraints", "a")]
        return {"kind": "ResourceClaim", "apiVersion": "resource.k8s.io/v1", "metadata": {"name": name, "namespace": "default"}, "spec": {"devices": {"requests": requests, "constraints": constraints}}}

    def slice(self, i):
        def device(j):
            one = {"name": f"d{j}", "attributes": {a: {"string": f"v{j}"} for a in self.names("device.attributes", "a")}, "capacity": {k: {"value": "1Gi"} for k in self.names("device.capacity", "c")}}
            if self.count("device.taints"):
                one["taints"] = [{"key": k, "effect": "NoSchedule"} for k in self.names("device.taints", "t")]
            if self.count("device.counters"):
                one["consumesCounters"] = [{"counterSet": "s", "counters": {k: {"value": "1"} for k in self.names("device.counters", "k")}}]
            return one
        spec = {"driver": "example.com", "pool": {"name": f"pool{i}", "generation": 1, "resourceSliceCount": 1}, "devices": [device(j) for j in range(max(1, self.count("slice.devices")))]}
        if self.count("device.counters"):
            spec["sharedCounters"] = [{"name": "s", "counters": {k: {"value": "3"} for k in self.names("device.counters", "k")}}]
        spec |= {"allNodes": True} if self.dims.get("slices", (0, "own"))[1] == "same" else {"nodeName": self.node_name(i % max(1, self.count("nodes")))}
        return {"kind": "ResourceSlice", "apiVersion": "resource.k8s.io/v1", "metadata": {"name": f"s{i}"}, "spec": spec}

    def zoned(self, i, fields):
        """The fields of volumes with zones, and of their claims, which are bound."""
        return fields if self.count("volume.zones") and i < self.count("volumes") else {}

    def group(self, name, priority):
        c = self.count
        spec = {"priority": priority, "schedulingPolicy": {"gang": {"minCount": max(1, c("group.least", c("pods")))}}}
        if c("group.topology"):
            spec["schedulingConstraints"] = {"topology": [{"key": self.pick("group.topology", "z", 0)}]}
        if c("group.disruption"):
            spec["disruptionMode"] = "PodGroup"
        return {"kind": "PodGroup", "apiVersion": "scheduling.k8s.io/v1alpha2", "metadata": {"name": name, "namespace": "default"}, "spec": spec}

    def objects(self):
        c = self.count
        yield from (self.node(i) for i in range(c("nodes", 1)))
        yield from (self.pod("bound", f"b{i}", i) for i in range(c("bound")))
        yield from (self.pod("pod", f"p{i}", i) for i in range(max(1, c("pods"))))
        for i in range(c("budgets")):
            selector = self.selector("budget.expressions") if c("budget.expressions") else {"matchLabels": {"app": "a"}}
            yield {"kind": "PodDisruptionBudget", "apiVersion": "policy/v1", "metadata": {"name": f"pdb{i}", "namespace": "default"}, "spec": {"minAvailable": 1, "selector": selector}, "status": {"disruptionsAllowed": i % 2}}
        yield from (self.claim(f"{self.long('claim')}{i}", i) for i in range(c("claims")))
        yield from (self.slice(i) for i in range(c("slices")))
        for i in range(c("classes")):
            yield {"kind": "DeviceClass", "apiVersion": "resource.k8s.io/v1", "metadata": {"name": self.pick("classes", "class", i)}, "spec": {"selectors": [cel() for _ in range(c("class.selectors"))]}}
        for i in range(c("pvcs")):
            yield {"kind": "PersistentVolumeClaim", "apiVersion": "v1", "metadata": {"name": f"{self.long('pvc')}{i}", "namespace": "default", **self.zoned(i, {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}})}, "spec": {**self.zoned(i, {"volumeName": f"pv{i}"}), "accessModes": ["ReadWriteOnce"], "storageClassName": self.pick("storageclasses", "sc", i), "resources": {"requests": {"storage": "1Gi"}}}}
        for i in range(c("volumes")):
            terms = [{"matchExpressions": [{"key": "z", "operator": "In", "values": ["q"]}]}] * max(1, c("volume.terms"))
            yield {"kind": "PersistentVolume", "apiVersion": "v1", "metadata": {"name": f"pv{i}", **self.zoned(i, {"labels": {"topology.kubernetes.io/zone": "__".join(self.names("volume.zones", "q"))}})}, "spec": {**self.zoned(i, {"claimRef": {"name": f"{self.long('pvc')}{i}", "namespace": "default"}}), "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "2Gi"}, "storageClassName": self.pick("storageclasses", "sc", i), "local": {"path": "/x"}, **({} if self.count("volume.zones") else {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}})}}
        for i in range(c("storageclasses")):
            yield {"kind": "StorageClass", "apiVersion": "storage.k8s.io/v1", "metadata": {"name": self.pick("storageclasses", "sc", i)}, "provisioner": "kubernetes.io/no-provisioner" if c("volumes") else "example.com", "volumeBindingMode": "WaitForFirstConsumer"}
        for i in range(c("priorities")):
            yield {"kind": "PriorityClass", "apiVersion": "scheduling.k8s.io/v1", "metadata": {"name": self.pick("priorities", "p", i)}, "value": i}
        for i in range(c("csinodes")):
            yield {"kind": "CSINode", "apiVersion": "storage.k8s.io/v1", "metadata": {"name": self.node_name(i)}, "spec": {"drivers": [{"name": d, "nodeID": "x", "allocatable": {"count": 1}} for d in self.names("csinode.drivers", "d", 1)]}}
        for i in range(c("capacities")):
            yield {"kind": "CSIStorageCapacity", "apiVersion": "storage.k8s.io/v1", "metadata": {"name": f"cap{i}", "namespace": "default"}, "storageClassName": self.pick("storageclasses", "sc", i), "capacity": "1Mi",
                   "nodeTopology": {"matchExpressions": [{"key": "z", "operator": "In", "values": self.names("capacity.values", "z", 1)}]}}
        for i in range(c("attachments")):
            yield {"kind": "VolumeAttachment", "apiVersion": "storage.k8s.io/v1", "metadata": {"name": f"va{i}"}, "spec": {"attacher": "example.com", "nodeName": self.node_name(i % max(1, c("nodes"))), "source": {"persistentVolumeName": f"pv{i}"}}}
        yield from (self.group(self.pick("groups", "g", i), PRIORITY) for i in range(c("groups")))
        yield from (self.group(name, 0) for name in self.names("bound.groups", "b"))
        for i in range(c("events")):
            yield {"kind": "Event", "apiVersion": "v1", "metadata": {"name": f"e{i}", "namespace": "default"}, "involvedObject": {"kind": "Pod", "name": self.pick("events", "p", i), "namespace": "default"}, "reason": "FailedScheduling",
                   "message": f"0/{i} nodes are available: {i} Insufficient cpu." + "x" * c("long.messages"), "lastTimestamp": "2026-01-01T00:00:00Z", "type": "Warning"}
        yield from ({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": n}} for n in self.names("namespaces", "ns"))
        for i in range(c("services")):
            yield {"kind": "Service", "apiVersion": "v1", "metadata": {"name": f"svc{i}", "namespace": "default"}, "spec": {"selector": {"app": "a", **{k: "v" for k in self.names("service.selector", "l")}}}}
        for i in range(c("replicasets")):
            owners = [{"apiVersion": "apps/v1", "kind": "Deployment", "name": self.pick("deployments", "d", i), "uid": "u", "controller": True}] if c("deployments") else []
            yield {"kind": "ReplicaSet", "apiVersion": "apps/v1", "metadata": {"name": f"rs{i}", "namespace": "default", "ownerReferences": owners}, "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "a"}}},
                   "status": {"replicas": 1, "conditions": self.conditions()}}
        yield from self.policies()
        yield from self.owners()
        yield from self.queues()
        for i in range(c("words")):
            speaker, reason, kind, name, text = [
                ("cluster-autoscaler", "NotTriggerScaleUp", "Pod", f"p{i % max(1, c('pods'))}", f"pod didn't trigger scale-up: {i} Insufficient cpu, 1 max node group size reached"),
                ("replicaset-controller", "FailedCreate", "ReplicaSet", self.pick("replicasets", "rs", i), f'Error creating: pods "x" is forbidden: exceeded quota: q{i}, requested: cpu=1, used: cpu=1, limited: cpu=1'),
                ("karpenter", "FailedScheduling", "Pod", f"p{i % max(1, c('pods'))}", f"Failed to schedule pod, incompatible with nodepool {i}, no instance type met all requirements"),
                ("kueue", "Pending", "Workload", self.pick("workloads", "w", i), f"couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor f{i}, 1 more needed"),
            ][i % 4]
            yield {"kind": "Event", "apiVersion": "v1", "metadata": {"name": f"w{i}", "namespace": "default"}, "involvedObject": {"kind": kind, "name": name, "namespace": "default"}, "reason": reason,
                   "message": text, "source": {"component": speaker}, "lastTimestamp": "2026-01-01T00:00:00Z", "type": "Warning"}

    def conditions(self):
        return [{"type": t, "status": "True", "reason": "FailedCreate", "message": f'pods "x-{t}" is forbidden: exceeded quota: q0, requested: cpu=1, used: cpu=1, limited: cpu=1'} for t in self.names("owner.conditions", "ReplicaFailure")]

    def policies(self):
        c = self.count
        for i in range(c("quotas")):
            hard = {"pods": "100000", **{f"requests.example.com/{r}": str(100000 + i) for r in self.names("quota.hard", "r")}}
            scopes = [{"scopeName": "PriorityClass", "operator": "NotIn", "values": self.names("quota.values", "v", 1)} for _ in range(c("quota.scopes"))]
            status = {"status": {"hard": hard, "used": {}}} if self.dims["quotas"][1] != "same" else {}
            yield {"kind": "ResourceQuota", "apiVersion": "v1", "metadata": {"name": f"q{i}", "namespace": "default"}, "spec": {"hard": hard, "scopeSelector": {"matchExpressions": scopes}}, **status}
        for i in range(c("ranges")):
            amounts = {f"example.com/{r}": "1" for r in self.names("range.resources", "r", 1)}
            items = [{"type": self.pick("range.items", "Container", 0) if self.dims.get("range.items", (0, "same"))[1] == "same" else "Container", "default": amounts, "defaultRequest": amounts} for _ in range(max(1, c("range.items")))]
            yield {"kind": "LimitRange", "apiVersion": "v1", "metadata": {"name": f"lr{i}", "namespace": "default"}, "spec": {"limits": items}}
        yield from ({"kind": "ServiceAccount", "apiVersion": "v1", "metadata": {"name": a, "namespace": "default"}} for a in ["default"] * bool(c("accounts")) + self.names("accounts", "sa"))
        for i in range(c("runtimes")):
            tolerations = [{"key": k, "operator": "Exists"} for k in self.names("runtime.tolerations", "t")]
            yield {"kind": "RuntimeClass", "apiVersion": "node.k8s.io/v1", "metadata": {"name": f"rc{i}"}, "handler": "h", "scheduling": {"tolerations": tolerations}}

    def owners(self):
        c = self.count
        template = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}}
        spec = {"replicas": 5, "selector": {"matchLabels": {"app": "a"}}, "template": template}
        for kind, names in (("Deployment", "deployments"), ("StatefulSet", "statefulsets"), ("DaemonSet", "daemonsets")):
            for i in range(c(names)):
                yield {"kind": kind, "apiVersion": "apps/v1", "metadata": {"name": f"{names[0]}{i}", "namespace": "default"}, "spec": spec, "status": {"replicas": 1, "desiredNumberScheduled": 3, "currentNumberScheduled": 1, "conditions": self.conditions()}}
        for i in range(c("jobs")):
            yield {"kind": "Job", "apiVersion": "batch/v1", "metadata": {"name": f"j{i}", "namespace": "default"}, "spec": {"parallelism": 3, "completions": 5, "template": template}, "status": {"active": 1, "conditions": self.conditions()}}

    def queues(self):
        c = self.count
        for i in range(c("workloads")):
            owners = [{"apiVersion": "batch/v1", "kind": "Job", "name": f"j{(i + int(n[1:] or 0)) % max(1, c('jobs'))}", "uid": n, "controller": at == 0} for at, n in enumerate(self.names("workload.owners", "o", 1))]
            yield {"kind": "Workload", "apiVersion": "kueue.x-k8s.io/v1beta1", "metadata": {"name": self.pick("workloads", "w", i), "namespace": "default", "ownerReferences": owners}, "spec": {"queueName": self.pick("localqueues", "lq", i)},
                   "status": {"conditions": [{"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": f"couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor f{i}, 1 more needed"}]}}
        for i in range(c("localqueues")):
            yield {"kind": "LocalQueue", "apiVersion": "kueue.x-k8s.io/v1beta1", "metadata": {"name": self.pick("localqueues", "lq", i), "namespace": "default"}, "spec": {"clusterQueue": self.pick("clusterqueues", "cq", i)}}
        for i in range(c("clusterqueues")):
            flavors = [{"name": f, "resources": [{"name": "cpu", "nominalQuota": "9"}]} for f in self.names("queue.flavors", "f", 1)]
            yield {"kind": "ClusterQueue", "apiVersion": "kueue.x-k8s.io/v1beta1", "metadata": {"name": self.pick("clusterqueues", "cq", i)}, "spec": {"resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}]},
                   "status": {"flavorsReservation": [{"name": f["name"], "resources": [{"name": "cpu", "total": "9"}]} for f in flavors]}}
        for i in range(c("requests")):
            yield {"kind": "ProvisioningRequest", "apiVersion": "autoscaling.x-k8s.io/v1", "metadata": {"name": self.pick("requests", "pr", i), "namespace": "default"}, "spec": {}, "status": {"conditions": [{"type": "Accepted", "status": "True", "message": "m"}]}}

    def config(self):
        head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
        profiles = [{"schedulerName": "default-scheduler" if i == 0 else f"s{i}"} for i in range(max(1, self.count("config.profiles")))]
        extenders = [{"urlPrefix": f"http://127.0.0.1:1/{e}", "filterVerb": "f", "prioritizeVerb": "p", "preemptVerb": "q", "weight": 1, "ignorable": True} for e in self.names("config.extenders", "x")]
        return json.dumps({**head, "profiles": profiles, **({"extenders": extenders} if extenders else {})})

    def log(self):
        line = 'I0101 00:00:00.000000 1 schedule_one.go:1] "Unable to schedule pod; no fit; waiting" pod="default/p{}" err="0/{} nodes are available: {} Insufficient cpu."\n'
        return "".join(line.format(i % max(1, self.count("pods")), i, i) for i in range(self.count("log.lines")))


def cel():
    return {"cel": {"expression": 'device.driver == "example.com" && device.attributes["example.com"].a0 != "x"'}}


def written(dims, limit):
    """The cluster as text; None where it is larger than the limit."""
    parts, size = [], 0
    for item in Recipe(dims).objects():
        parts.append(json.dumps(item, separators=(",", ":")))
        size += len(parts[-1])
        if size > limit:
            return None
    return '{"kind":"List","apiVersion":"v1","items":[' + ",\n".join(parts) + "]}"
