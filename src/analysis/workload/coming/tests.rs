use super::*;
use crate::release::Emulation;
use crate::scheduler::{Config, Options};
use crate::source::{Input, Loaded, load};
use crate::workload::{WorkloadInput, voices_of_pod};

fn read(more: &[Value]) -> Loaded {
    let mut items = vec![
        json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "a", "labels": {"karpenter.sh/nodepool": "general", "group": "pool-a"}},
            "status": {"allocatable": {"cpu": "4", "pods": "10"}}}),
        json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "busy", "namespace": "shop"}, "spec": {"nodeName": "a",
            "containers": [{"name": "c", "resources": {"requests": {"cpu": "4"}}}]}, "status": {"phase": "Running"}}),
    ];
    items.extend(more.iter().cloned());
    let text = json!({"kind": "List", "apiVersion": "v1", "items": items}).to_string();
    load(&[Input::Bytes { name: "test".into(), bytes: text.into_bytes().into() }])
}

fn pod(spec: &Value) -> Value {
    let mut pod = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web", "namespace": "shop"}, "spec": {
        "schedulerName": "default-scheduler", "containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]},
        "status": {"phase": "Pending"}});
    for (name, value) in spec.as_object().unwrap() {
        pod["spec"][name] = value.clone();
    }
    pod
}

fn pool(name: &str, spec: &Value, used: &str) -> Value {
    json!({"kind": "NodePool", "apiVersion": "karpenter.sh/v1", "metadata": {"name": name}, "spec": spec,
        "status": {"resources": {"cpu": used}}})
}

/// Returns each node as `KIND/NAME VERDICT like NODE at limit USED of MOST`.
fn found(more: &[Value]) -> Vec<String> {
    let loaded = read(more);
    let scheduler = Scheduler::new(Config::defaults(Emulation::default()), loaded.objects.clone(), Options::default());
    let pod = scheduler.state().cluster().pods.get(&Key::new("shop", "web")).unwrap();
    let input = WorkloadInput::of_events(scheduler.state().cluster(), &loaded.neighbors);
    let word = |node: &ComingNode| {
        let like = node.like.as_ref().map_or_else(String::new, |like| format!(" like {like}"));
        let limit = node.limit.as_ref().map_or_else(String::new, |l| format!(" at limit {} {} of {}", l.resource, l.used, l.most));
        let not_ready = node.not_ready.as_ref().map_or_else(String::new, |why| format!(" not ready {why}"));
        format!("{} {:?}{like}{limit}{not_ready}", node.by, node.verdict)
    };
    coming_nodes(pod, &scheduler, &loaded.neighbors, &voices_of_pod(&input, pod, None).voices).iter().map(word).collect()
}

#[test]
fn a_pool_makes_nodes_like_those_it_has_up_to_its_limit() {
    let general = |limit: &str| pool("general", &json!({"limits": {"cpu": limit}, "template": {"spec": {}}}), "4");
    assert_eq!(found(&[pod(&json!({})), general("100")]), ["nodepool/general Fits like a"]);
    assert_eq!(found(&[pod(&json!({})), general("4")]), ["nodepool/general Fits like a at limit cpu 4 of 4"]);
    assert_eq!(found(&[pod(&json!({})), general("7")]), ["nodepool/general Fits like a at limit cpu 4 of 7"]);
    let large = pod(&json!({"containers": [{"name": "c", "resources": {"requests": {"cpu": "5"}}}]}));
    assert_eq!(found(&[large, general("100")]), ["nodepool/general Rejected(\"Insufficient cpu\") like a"]);
}

#[test]
fn a_pool_that_is_not_ready_makes_no_node() {
    let ready = |conditions: Value| {
        let mut pool = pool("general", &json!({"template": {"spec": {}}}), "4");
        pool["status"]["conditions"] = conditions;
        found(&[pod(&json!({})), pool])
    };
    let condition = |kind: &str, status: &str, reason: &str| json!({"type": kind, "status": status, "reason": reason});
    assert_eq!(ready(json!([condition("Ready", "True", "Ready")])), ["nodepool/general Fits like a"]);
    let unready = condition("Ready", "False", "UnhealthyDependents");
    assert_eq!(ready(json!([unready])), ["nodepool/general Fits like a not ready UnhealthyDependents"]);
    let class = condition("NodeClassReady", "False", "NodeClassNotReady");
    assert_eq!(ready(json!([unready, class])), ["nodepool/general Fits like a not ready NodeClassNotReady"]);
    assert_eq!(ready(json!([condition("Ready", "False", "")])), ["nodepool/general Fits like a not ready Ready"]);
}

#[test]
fn the_template_of_a_pool_decides_where_no_node_of_it_exists() {
    let gpu = |spec: Value| pool("gpu", &json!({"template": {"metadata": {"labels": {"tier": "fast"}}, "spec": spec}}), "0");
    let tainted = json!({"taints": [{"key": "gpu", "effect": "NoSchedule"}], "startupTaints": [{"key": "new", "effect": "NoSchedule"}]});
    let rejected = "nodepool/gpu Rejected(\"node(s) had untolerated taint(s)\")";
    assert_eq!(found(&[pod(&json!({})), gpu(tainted.clone())]), [rejected]);
    let tolerant = json!({"tolerations": [{"key": "gpu", "operator": "Exists"}], "nodeSelector": {"tier": "fast"}});
    assert_eq!(found(&[pod(&tolerant), gpu(tainted)]), ["nodepool/gpu FitsIfLarge"]);
    let other = json!({"nodeSelector": {"tier": "slow"}});
    assert!(found(&[pod(&other), gpu(json!({}))])[0].starts_with("nodepool/gpu Rejected(\"node(s) didn't match Pod's node affinity"));
    let unknown = json!({"nodeSelector": {"team": "x"}});
    assert_eq!(found(&[pod(&unknown), gpu(json!({}))]), ["nodepool/gpu NoSuchLabel(\"team\")"]);
}

#[test]
fn one_of_the_values_of_a_requirement_is_enough() {
    let zones = |zones: Value| {
        json!({"requirements": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": zones},
            {"key": "team", "operator": "NotIn", "values": ["b"]}]})
    };
    let wants = |zone: &str, team: &str| pod(&json!({"nodeSelector": {"topology.kubernetes.io/zone": zone, "team": team}}));
    let gpu = |spec: Value| pool("gpu", &json!({"template": {"spec": spec}}), "0");
    assert_eq!(found(&[wants("z2", "a"), gpu(zones(json!(["z1", "z2"])))]), ["nodepool/gpu FitsIfLarge"]);
    assert!(found(&[wants("z3", "a"), gpu(zones(json!(["z1", "z2"])))])[0].contains("Rejected"));
    assert!(found(&[wants("z2", "b"), gpu(zones(json!(["z1", "z2"])))])[0].contains("Rejected"), "the team is excluded");
    // Karpenter chooses the instance type.
    let typed = pod(&json!({"nodeSelector": {"node.kubernetes.io/instance-type": "m5.large"}}));
    assert_eq!(found(&[typed, gpu(json!({}))]), ["nodepool/gpu FitsIfLarge"]);
}

#[test]
fn a_claim_is_a_node_on_its_way_until_the_node_exists() {
    let claim = |node: &str, cpu: Option<&str>| {
        let mut status = json!({"nodeName": node});
        if let Some(cpu) = cpu {
            status["allocatable"] = json!({"cpu": cpu, "pods": "10"});
        }
        json!({"kind": "NodeClaim", "apiVersion": "karpenter.sh/v1", "metadata": {"name": "general-x", "labels": {"karpenter.sh/nodepool": "general"}},
            "spec": {"requirements": [{"key": "tier", "operator": "In", "values": ["fast"]}]}, "status": status})
    };
    let fast = || pod(&json!({"nodeSelector": {"tier": "fast"}}));
    assert_eq!(found(&[fast(), claim("b", Some("3"))]), ["nodeclaim/general-x Fits"]);
    assert_eq!(found(&[fast(), claim("b", Some("1"))]), ["nodeclaim/general-x Rejected(\"Insufficient cpu\")"]);
    assert_eq!(found(&[fast(), claim("", None)]), ["nodeclaim/general-x FitsIfLarge"]);
    assert_eq!(found(&[fast(), claim("a", Some("3"))]), Vec::<String>::new());
}

#[test]
fn a_group_that_grows_makes_nodes_like_those_with_its_name() {
    let event = json!({"kind": "Event", "apiVersion": "v1", "metadata": {"name": "e", "namespace": "shop"},
        "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "web"}, "reason": "TriggeredScaleUp",
        "message": "pod triggered scale-up: [{pool-a 1->2 (max: 3)} {elsewhere 1->2 (max: 3)}]", "source": {"component": "cluster-autoscaler"}});
    assert_eq!(found(&[pod(&json!({})), event]), ["nodegroup/pool-a Fits like a"]);
}

#[test]
fn trials_are_bounded() {
    let values: Vec<String> = (0..COMING_NODE_TRIALS + 9).map(|number| format!("v{number}")).collect();
    let spec = json!({"template": {"spec": {"requirements": [{"key": "x", "operator": "In", "values": values}],
        "taints": [{"key": "gpu", "effect": "NoSchedule"}]}}});
    let mut all = vec![pod(&json!({}))];
    all.extend((0..COMING_NODES + 2).map(|number| pool(&format!("p{number:02}"), &spec, "0")));
    let found = found(&all);
    assert_eq!((found.len(), found.iter().filter(|node| !node.ends_with("NotTried")).count()), (COMING_NODES + 2, 1));
    assert!(found[0].contains("untolerated") && found[1].ends_with("NotTried"), "{found:?}");
}
