use super::*;

fn edited(change: &PodChange, spec: &str) -> Value {
    let mut pod = json!({"spec": serde_json::from_str::<Value>(spec).unwrap()});
    change.edit(&mut pod);
    pod["spec"].take()
}

#[test]
fn a_requirement_goes_with_its_empty_term() {
    let place = |term, index| RequirementPlace { term, field: false, index, terms: 1 };
    let drop = |term, index| PodChange::DropRequirement { place: place(term, index), requirement: Requirement::default() };
    let spec = |terms: &str| {
        format!(r#"{{"affinity":{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":{{"nodeSelectorTerms":{terms}}}}}}}}}"#)
    };
    let one = r#"[{"matchExpressions":[{"key":"a"},{"key":"b"}]}]"#;
    let left = edited(&drop(0, 0), &spec(one));
    assert_eq!(left["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"], json!([{"matchExpressions": [{"key": "b"}]}]));
    let last = edited(&drop(0, 0), &spec(r#"[{"matchExpressions":[{"key":"a"}]}]"#));
    assert_eq!(last["affinity"]["nodeAffinity"], json!({}));
    assert_eq!(edited(&drop(3, 0), &spec(one)), serde_json::from_str::<Value>(&spec(one)).unwrap(), "there is no such term");
}

#[test]
fn host_ports_go_one_by_one_or_all() {
    let spec = r#"{"containers":[{"ports":[{"hostPort":80},{"hostPort":80,"protocol":"UDP"},{"hostPort":81}]}]}"#;
    let left = |which| edited(&PodChange::DropHostPorts(which), spec)["containers"][0]["ports"].clone();
    assert_eq!(left(Some((80, "UDP".into()))), json!([{"hostPort": 80}, {"protocol": "UDP"}, {"hostPort": 81}]));
    assert_eq!(left(None), json!([{}, {"protocol": "UDP"}, {}]));
}

#[test]
fn a_toleration_is_added_where_there_was_none() {
    let taint = Taint { key: "k".into(), value: Str::default(), effect: "NoSchedule".into() };
    let change = PodChange::Tolerate(taint);
    let one = json!({"tolerations": [{"key": "k", "operator": "Equal", "effect": "NoSchedule"}]});
    assert_eq!((edited(&change, "{}"), edited(&change, r#"{"tolerations":null}"#)), (one.clone(), one));
}

#[test]
fn an_uncordoned_node_loses_the_taint_of_the_cordon_alone() {
    let mut node = json!({"spec": {"unschedulable": true, "taints": [{"key": UNSCHEDULABLE_TAINT}, {"key": "k", "effect": "NoSchedule"}]}});
    NodeChange::Uncordon.edit(&mut node);
    assert_eq!(node, json!({"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}));
    NodeChange::RemoveTaint(Taint { key: "k".into(), effect: "NoSchedule".into(), ..Taint::default() }).edit(&mut node);
    assert_eq!(node, json!({"spec": {}}));
}

#[test]
fn what_is_not_there_is_left_alone() {
    for change in [
        PodChange::DropNodeAffinity,
        PodChange::DropPodTerm { anti: true, index: 0, topology_key: Str::default() },
        PodChange::MaxSkew { index: 0, topology_key: Str::default(), from: 1, to: 2 },
        PodChange::DropVolume("v".into()),
    ] {
        assert_eq!(edited(&change, "{}"), json!({}));
        change.edit(&mut json!(null));
    }
}
