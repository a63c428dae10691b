use serde_json::{Value, json};

use super::*;
use crate::analysis::fixes::owner::Setter;
use crate::cluster::neighbors::{Neighbor, NeighborKind, Neighbors};
use crate::cluster::testing::object_of as object;
use crate::fixes::Lowered;

fn pod(owner: Option<(&str, &str)>) -> Value {
    let owners: Vec<Value> = owner.into_iter().map(|(kind, name)| json!({"kind": kind, "name": name, "controller": true})).collect();
    json!({
        "metadata": {"name": "web-1", "namespace": "shop", "ownerReferences": owners, "labels": {"pod-template-hash": "5d8"}},
        "spec": {
            "schedulerName": "x",
            "nodeSelector": {"zone": "c"},
            "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}],
            "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
            "schedulingGates": [{"name": "g"}],
            "containers": [{"name": "c", "ports": [{"containerPort": 80, "hostPort": 80}], "resources": {"requests": {"cpu": "4"}}}],
        },
    })
}

fn commands_for(owner: Option<(&str, &str)>, changes: &[Change]) -> Option<String> {
    commands_with(owner, &[], changes, &[]).lines
}

/// Returns the commands in a cluster with these objects, each a kind and its JSON, beside a ReplicaSet and a ReplicationController
/// without owners.
fn commands_with(owner: Option<(&str, &str)>, others: &[(NeighborKind, Value)], changes: &[Change], evicts: &[Key]) -> Commands {
    let written = pod(owner);
    of_pod(&written, others, changes, evicts)
}

fn of_pod(written: &Value, others: &[(NeighborKind, Value)], changes: &[Change], evicts: &[Key]) -> Commands {
    let alone = |name: &str| json!({"metadata": {"name": name, "namespace": "shop"}});
    let mut objects =
        vec![object(Kind::Pod, written), object(Kind::ReplicaSet, &alone("other")), object(Kind::ReplicationController, &alone("rc"))];
    let mut neighbors = Neighbors::default();
    for (kind, other) in others {
        let mut other = other.clone();
        other["metadata"]["namespace"] = json!("shop");
        if let Ok(kind) = <&str>::from(kind).parse() {
            objects.push(object(kind, &other));
        }
        neighbors.insert(Neighbor::deserialize_kind(*kind, "v1".into(), other).unwrap());
    }
    let cluster: Cluster = objects.into_iter().collect();
    let key = Key::new("shop", "web-1");
    let originals = |kind: Kind, _: &Key| match kind {
        Kind::Pod => Some(written.clone()),
        Kind::Namespace => Some(json!({"metadata": {"annotations": {"scheduler.alpha.kubernetes.io/node-selector": "env=prod, pool=a"}}})),
        _ => None,
    };
    commands(&Targets::new(&key, &cluster, (&originals, &neighbors)), changes, evicts)
}

/// Returns an owner with the template of the pod, an owner of its own, and other fields of its spec.
fn made(kind: NeighborKind, name: &str, above: Option<(&str, &str)>, spec: &Value) -> (NeighborKind, Value) {
    let mut template = pod(None)["spec"].clone();
    template.as_object_mut().unwrap().remove("tolerations");
    let owners: Vec<Value> = above.into_iter().map(|(kind, name)| json!({"kind": kind, "name": name, "controller": true})).collect();
    let mut written = json!({"metadata": {"name": name, "ownerReferences": owners}, "spec": {"template": {"spec": template}}});
    merge(&mut written["spec"], spec.clone());
    (kind, written)
}

fn taint() -> Taint {
    Taint { key: "dedicated".into(), value: "db".into(), effect: "NoSchedule".into() }
}

/// Changes of a pod's fields, each with the expected patch of the template's spec.
fn template_changes() -> Vec<(PodChange, Value)> {
    let part = crate::fixes::LoweredPart {
        place: RequestPlace::Container(0, "c".into()),
        from: "4".to_owned(),
        to: Some("2".to_owned()),
        with_limit: false,
    };
    let lowered = Lowered { resource: "cpu".into(), from: 4000, to: 2000, parts: vec![part] };
    vec![
        (PodChange::DropSelector { key: "zone".into(), value: "c".into() }, json!({"nodeSelector": {"zone": null}})),
        (
            PodChange::SetSelector { key: "zone".into(), from: "c".into(), to: "a".into(), typo: false },
            json!({"nodeSelector": {"zone": "a"}}),
        ),
        (PodChange::DropSpread { index: 0, topology_key: "zone".into() }, json!({"topologySpreadConstraints": [{"$patch": "replace"}]})),
        (
            PodChange::MaxSkew { index: 0, topology_key: "zone".into(), from: 1, to: 3 },
            json!({"topologySpreadConstraints": [
                {"maxSkew": 3, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}, {"$patch": "replace"}]}),
        ),
        (PodChange::Lower(lowered), json!({"containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]})),
        (PodChange::DropHostPorts(None), json!({"containers": [{"name": "c", "ports": [{"containerPort": 80}, {"$patch": "replace"}]}]})),
        (PodChange::Priority { from: 0, to: 9, class: Some("high".into()) }, json!({"priorityClassName": "high"})),
        (PodChange::SchedulerName { from: "x".into(), to: "default-scheduler".into() }, json!({"schedulerName": "default-scheduler"})),
    ]
}

/// Returns the JSON in single quotes of a line.
fn patch_in(line: &str) -> Value {
    let text = line.split_once('\'').and_then(|(_, rest)| rest.rsplit_once('\'')).map(|(text, _)| text);
    serde_json::from_str(text.unwrap_or_else(|| panic!("no patch in {line}"))).unwrap()
}

#[test]
fn templates_are_patched_by_kind_of_owner() {
    let owners = [
        (("ReplicaSet", "web-5d8"), "kubectl patch deployment web -n shop -p ", false),
        (("ReplicaSet", "other"), "kubectl patch replicaset other -n shop -p ", true),
        (("StatefulSet", "db"), "kubectl patch statefulset db -n shop -p ", true),
        (("ReplicationController", "rc"), "kubectl patch replicationcontroller rc -n shop -p ", true),
        (("DaemonSet", "ds"), "kubectl patch daemonset ds -n shop -p ", false),
    ];
    for (change, expected) in template_changes() {
        for (owner, start, deletes) in owners {
            let text = commands_for(Some(owner), &[Change::Pod(change.clone())]).expect("commands");
            let mut lines = text.lines();
            let line = lines.next().unwrap();
            assert!(line.starts_with(start), "{line}");
            assert_eq!(patch_in(line), json!({"spec": {"template": {"spec": expected}}}));
            assert_eq!(lines.next(), deletes.then_some("kubectl delete pod web-1 -n shop"));
        }
    }
}

#[test]
fn jobs_and_bare_pods_are_made_again() {
    for (change, expected) in template_changes() {
        let changes = [Change::Pod(change)];
        let bare = commands_for(None, &changes).expect("commands");
        assert!(
            bare.starts_with("kubectl get pod web-1 -n shop -o yaml | kubectl patch --local -f - -p '")
                && bare.ends_with("| kubectl replace --force -f -")
        );
        let mut spec = expected.clone();
        if expected.get("priorityClassName").is_some() {
            (spec["priority"], spec["preemptionPolicy"]) = (Value::Null, Value::Null);
        }
        assert_eq!(patch_in(&bare), json!({"spec": spec}));

        let by_cron = made(NeighborKind::Job, "report-28000123", Some(("CronJob", "report")), &json!({}));
        let job = commands_with(Some(("Job", "report-28000123")), &[by_cron], &changes, &[]).lines.expect("commands");
        let (first, second) = job.split_once('\n').expect("two lines");
        assert!(first.starts_with("kubectl get job report-28000123 -n shop"));
        let patch = patch_in(first);
        assert_eq!((&patch["spec"]["selector"], &patch["spec"]["template"]["spec"]), (&Value::Null, &expected));
        assert!(patch["spec"]["template"]["metadata"]["labels"].as_object().unwrap().contains_key("controller-uid"));
        assert!(second.starts_with("kubectl patch cronjob report -n shop -p "));
        assert_eq!(patch_in(second), json!({"spec": {"jobTemplate": {"spec": {"template": {"spec": expected}}}}}));
        let alone = made(NeighborKind::Job, "once-20260101", None, &json!({"manualSelector": true}));
        let once = commands_with(Some(("Job", "once-20260101")), &[alone], &changes, &[]).lines.expect("commands");
        assert_eq!(once.lines().count(), 1, "no CronJob follows from a name");
        assert_eq!(patch_in(&once), json!({"spec": {"template": {"spec": expected}}}), "the selector is the user's");
        assert_eq!(commands_for(Some(("Rollout", "web")), &changes), None, "nothing is known of its template");
        assert_eq!(commands_for(Some(("Job", "once")), &changes), None, "its owner and its selector are unknown");
    }
}

#[test]
fn what_a_pod_that_exists_may_be_given_is_patched_there() {
    for owner in [None, Some(("ReplicaSet", "web-5d8")), Some(("Job", "once")), Some(("Rollout", "web"))] {
        let text = commands_for(owner, &[Change::Pod(PodChange::RemoveGates(vec!["g".into()])), Change::Pod(PodChange::Tolerate(taint()))])
            .unwrap();
        assert!(text.starts_with("kubectl patch pod web-1 -n shop --type=json -p '"), "{text}");
        let value = json!({"key": "dedicated", "operator": "Equal", "value": "db", "effect": "NoSchedule"});
        let expected =
            json!([{"op": "remove", "path": "/spec/schedulingGates"}, {"op": "add", "path": "/spec/tolerations/-", "value": value}]);
        assert_eq!(patch_in(&text), expected);
    }
    // A change that an existing pod does not allow moves all changes to the template, without the API server's tolerations.
    let both = [Change::Pod(PodChange::Tolerate(taint())), Change::Pod(PodChange::DropSelector { key: "zone".into(), value: "c".into() })];
    let patch = patch_in(&commands_for(Some(("ReplicaSet", "web-5d8")), &both).unwrap());
    let value = json!([{"key": "dedicated", "operator": "Equal", "value": "db", "effect": "NoSchedule"}]);
    assert_eq!(patch["spec"]["template"]["spec"], json!({"tolerations": value, "nodeSelector": {"zone": null}}));
}

#[test]
fn a_priority_without_a_class_brings_its_class() {
    let text = commands_for(Some(("ReplicaSet", "web-5d8")), &[Change::Pod(PodChange::Priority { from: 0, to: -5, class: None })]).unwrap();
    let (class, patch) = text.split_once('\n').unwrap();
    assert!(class.starts_with("kubectl create priorityclass priority-minus-5 --value=-5 "));
    assert_eq!(patch_in(patch)["spec"]["template"]["spec"], json!({"priorityClassName": "priority-minus-5"}));
}

#[test]
fn other_objects_have_commands_of_their_own() {
    for (change, expected) in [
        (Change::Node("n1".into(), NodeChange::Uncordon), Some("kubectl uncordon n1")),
        (Change::Node("n1".into(), NodeChange::RemoveTaint(taint())), Some("kubectl taint nodes n1 dedicated=db:NoSchedule-")),
        (Change::Delete(Kind::Pod, Key::new("batch", "x")), Some("kubectl delete pod x -n batch")),
        (Change::Node("--all".into(), NodeChange::Uncordon), None),
        (Change::Node("a;b".into(), NodeChange::Uncordon), None),
        (Change::Delete(Kind::Pod, Key::new("$(x)", "x")), None),
    ] {
        assert_eq!(commands_for(None, &[change]).as_deref(), expected);
    }
}

#[test]
fn texts_from_outside_stay_one_word() {
    assert_eq!(quoted("a=b:c-"), "a=b:c-");
    assert_eq!(quoted("it's $(x)"), r"'it'\''s $(x)'");
    assert_eq!(quoted(""), "''");
    assert_eq!(ascii(&json!("\u{1b}[2J\u{202e}ü😀\u{7f}")), r#""\u001b[2J\u202e\u00fc\ud83d\ude00\u007f""#);
    let odd = Taint { key: "k'; rm -rf /".into(), effect: "NoSchedule".into(), ..Taint::default() };
    let text = commands_for(None, &[Change::Node("n".into(), NodeChange::RemoveTaint(odd.clone()))]).unwrap();
    assert_eq!(text, r"kubectl taint nodes n 'k'\''; rm -rf /:NoSchedule-'");
    let text = commands_for(None, &[Change::Pod(PodChange::Tolerate(odd))]).unwrap();
    assert!(text.contains(r#""key":"k'\''; rm -rf /""#), "{text}");
}

#[test]
fn resource_claims_are_replaced_because_their_spec_is_immutable() {
    let request = |count: i64| json!({"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count}});
    let claim = json!({"metadata": {"name": "gpu", "namespace": "shop"}, "spec": {"devices": {"requests": [request(4)]}}});
    let cluster: Cluster = [object(Kind::ResourceClaim, &claim), object(Kind::Pod, &pod(None))].into_iter().collect();
    let (pod, key) = (Key::new("shop", "web-1"), Key::new("shop", "gpu"));
    let neighbors = Neighbors::default();
    let commands_for =
        |changes: &[Change]| commands(&Targets::new(&pod, &cluster, (&|_, _| Some(claim.clone()), &neighbors)), changes, &[]).lines;
    let path = crate::fixes::RequestPath { request: 0, alternative: None, name: "r".into() };
    let lower = Change::Claim(key.clone(), ClaimChange::LowerCount { request: path, from: 4, to: 1 });
    let line = commands_for(&[lower]).expect("a command");
    assert!(line.starts_with("kubectl get resourceclaim gpu -n shop -o yaml | kubectl patch --local -f - -p '"), "{line}");
    assert!(line.ends_with("' -o yaml | kubectl replace --force -f -"), "{line}");
    assert_eq!(patch_in(&line), json!({"spec": {"devices": {"requests": [request(1)]}}}));
    let user = Change::Delete(Kind::Pod, Key::new("shop", "user"));
    let (gone, free) = (Change::Delete(Kind::ResourceClaim, key.clone()), Change::Claim(key, ClaimChange::Free));
    let delete = Some("kubectl delete pod user -n shop".to_owned());
    assert_eq!(commands_for(&[user.clone(), gone.clone()]), delete, "the garbage collector does the rest");
    assert_eq!(commands_for(&[user, free.clone()]), delete, "the claim controller does the rest");
    assert_eq!(commands_for(&[gone]).as_deref(), Some("kubectl delete resourceclaim gpu -n shop"));
    assert_eq!(commands_for(&[free]), None, "only the claim controller deallocates");
}

#[test]
fn volumes_need_storage_and_their_controller() {
    let volume = Change::Create { object: object(Kind::PersistentVolume, &json!({"metadata": {"name": "v"}})), like: None };
    let bind = Change::Bind { claim: Key::new("shop", "data"), volume: "v".into() };
    assert_eq!((commands_for(None, &[volume, bind.clone()]), commands_for(None, &[bind])), (None, None));
    let class = Change::Create { object: object(Kind::DeviceClass, &json!({"metadata": {"name": "gpu"}})), like: None };
    let line = commands_for(None, &[class]).expect("a command");
    let manifest = line.strip_prefix("printf '%s' ").expect("a manifest");
    assert_eq!(patch_in(manifest)["kind"], "DeviceClass");
}

/// A claim for an invented volume is written as a user would write it; the volume is left to the reader.
#[test]
fn a_missing_claim_is_a_manifest_that_names_the_class_that_provisions() {
    let mut claim = crate::cluster::storage::PersistentVolumeClaim::default();
    (claim.metadata.name, claim.metadata.namespace) = ("data".into(), "shop".into());
    claim.spec.access_modes = vec![Str::from("ReadWriteOnce")].into();
    (claim.spec.storage_class_name, claim.spec.volume_name) = (Some(Str::default()), "for-shop-data".into());
    claim.metadata.annotations.insert("pv.kubernetes.io/bind-completed".into(), "yes".into());
    claim.status.phase = "Bound".into();
    let volume = crate::cluster::storage::PersistentVolume::default();
    let create = |object| Change::Create { object, like: None };
    let volume = create(Object::PersistentVolume(Arc::new(volume)));
    let changes = [create(Object::PersistentVolumeClaim(Arc::new(claim))), volume.clone()];
    let with = |classes: &[(&str, &str)]| {
        let class = |(name, provisioner): &(&str, &str)| {
            object(Kind::StorageClass, &json!({"metadata": {"name": name}, "provisioner": provisioner}))
        };
        let cluster: Cluster = classes.iter().map(class).collect();
        let key = Key::new("shop", "web-1");
        commands(&Targets::new(&key, &cluster, (&|_, _| None, &Neighbors::default())), &changes, &[]).lines.unwrap()
    };
    let manifest = |class: &str| {
        format!(
            "printf '%s' '{{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"metadata\":{{\"name\":\"data\",\"namespace\":\"shop\"}},\
             \"spec\":{{\"accessModes\":[\"ReadWriteOnce\"]{class}}}}}' | kubectl create -f -"
        )
    };
    assert_eq!(with(&[("fast", "csi.example.com"), ("local", "kubernetes.io/no-provisioner")]), manifest(",\"storageClassName\":\"fast\""));
    // The default class applies.
    assert_eq!(with(&[("fast", "csi.example.com"), ("slow", "csi.example.com")]), manifest(""));
    assert_eq!(with(&[]), manifest(""));
    // A volume by itself needs storage that no command makes.
    assert_eq!(commands_for(None, &[volume]), None);
}

fn drop_selector(key: &str, value: &str) -> Change {
    Change::Pod(PodChange::DropSelector { key: key.into(), value: value.into() })
}

fn workload(kind: &str, name: &str) -> Workload {
    Workload { kind: kind.into(), key: Key::new("shop", name) }
}

/// No command is given that the owner's own owner takes back, or that the controller does not act on.
#[test]
fn an_owner_that_brings_no_change_about_has_no_command() {
    let change = [drop_selector("zone", "c")];
    let (set, deployment) = (Some(("ReplicaSet", "web-5d8")), workload("Deployment", "web"));
    let by_web = || made(NeighborKind::ReplicaSet, "web-5d8", Some(("Deployment", "web")), &json!({}));
    let other = json!({"template": {"spec": {"nodeSelector": {"zone": "b"}}}});
    let written_by = |what: Workload, by: Workload| Some(NoCommand::WrittenBy { what, by });
    let partition = |partition: i64| json!({"ordinals": {"start": 1}, "updateStrategy": {"rollingUpdate": {"partition": partition}}});
    let argo = made(NeighborKind::ReplicaSet, "web-5d8", Some(("Rollout", "web")), &json!({}));
    let operator = made(NeighborKind::StatefulSet, "db", Some(("Prometheus", "k8s")), &json!({}));
    let jobs = made(NeighborKind::Job, "j", Some(("JobSet", "ts")), &json!({}));
    let deleted = (NeighborKind::Deployment, json!({"metadata": {"name": "web", "deletionTimestamp": "2026-01-01T00:00:00Z"}}));
    let db = Some(("StatefulSet", "db"));
    for (owner, others, expected) in [
        (set, vec![by_web(), made(NeighborKind::Deployment, "web", None, &json!({}))], None),
        (
            set,
            vec![by_web(), made(NeighborKind::Deployment, "web", None, &json!({"paused": true}))],
            Some(NoCommand::Paused(deployment.clone())),
        ),
        (
            set,
            vec![by_web(), made(NeighborKind::Deployment, "web", None, &other)],
            Some(NoCommand::OlderReplicaSet { replica_set: "web-5d8".into(), deployment: deployment.clone() }),
        ),
        (set, vec![by_web(), deleted], Some(NoCommand::Deleting(deployment.clone()))),
        (
            set,
            vec![by_web(), made(NeighborKind::Deployment, "web", Some(("Widget", "w")), &json!({}))],
            written_by(deployment.clone(), workload("Widget", "w")),
        ),
        (set, vec![argo], written_by(workload("ReplicaSet", "web-5d8"), workload("Rollout", "web"))),
        (Some(("ReplicaSet", "unread")), vec![], Some(NoCommand::Unread(workload("ReplicaSet", "unread")))),
        (db, vec![operator], written_by(workload("StatefulSet", "db"), workload("Prometheus", "k8s"))),
        // The pod is number 1, the first.
        (db, vec![made(NeighborKind::StatefulSet, "db", None, &partition(0))], None),
        (
            db,
            vec![made(NeighborKind::StatefulSet, "db", None, &partition(1))],
            Some(NoCommand::Partition(workload("StatefulSet", "db"), 1)),
        ),
        (
            db,
            vec![made(NeighborKind::StatefulSet, "db", None, &other)],
            Some(NoCommand::OtherTemplate { owner: workload("StatefulSet", "db"), field: "nodeSelector" }),
        ),
        (Some(("Job", "j")), vec![jobs], written_by(workload("Job", "j"), workload("JobSet", "ts"))),
        (Some(("Job", "j")), vec![], Some(NoCommand::JobUnread(workload("Job", "j")))),
        (Some(("Rollout", "web")), vec![], Some(NoCommand::MadeBy(workload("Rollout", "web")))),
    ] {
        let found = commands_with(owner, &others, &change, &[]);
        assert_eq!((found.lines.is_none(), &found.why_none), (expected.is_some(), &expected), "{others:?}");
        assert_eq!(found.assumed, None, "{others:?}");
    }
    let unread = commands_with(set, &[], &change, &[]);
    assert!(unread.lines.is_some());
    assert_eq!(unread.assumed, Some(deployment));
}

/// A value that is not from the template is set again in the next pod.
#[test]
fn what_admission_sets_is_not_changed_in_the_template() {
    let (set, deployment) = (Some(("ReplicaSet", "web-5d8")), workload("Deployment", "web"));
    let with = |spec: &Value| {
        let by_web = made(NeighborKind::ReplicaSet, "web-5d8", Some(("Deployment", "web")), spec);
        [by_web, made(NeighborKind::Deployment, "web", None, spec)]
    };
    let of = |spec: &Value, change: PodChange| commands_with(set, &with(spec), &[Change::Pod(change)], &[]).why_none;
    let set_by = |field, by| Some(NoCommand::SetAtCreation { owner: deployment.clone(), field, by });
    let lower = || template_changes().swap_remove(4).0;
    let drop_zone = || PodChange::DropSelector { key: "zone".into(), value: "c".into() };
    let requests = |cpu: &str| json!({"template": {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}}});
    let limits = json!({"template": {"spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": "4"}}}]}}});
    let none = json!({"template": {"spec": {"containers": [{"name": "c"}]}}});
    let without = |field: &str| json!({"template": {"spec": {field: null}}});
    assert_eq!(of(&requests("4000m"), lower()), None);
    assert_eq!(of(&limits, lower()), None, "the request is the limit");
    assert_eq!(of(&requests("1"), lower()), set_by("resources", Setter::Unknown));
    assert_eq!(of(&none, lower()), set_by("resources", Setter::Unknown));
    assert_eq!(of(&requests("1"), drop_zone()), None, "the next pod gets the request again");
    assert_eq!(of(&without("nodeSelector"), drop_zone()), set_by("nodeSelector", Setter::Unknown));
    let gate = [Change::Pod(PodChange::RemoveGates(vec!["g".into()])), Change::Pod(drop_zone())];
    assert_eq!(commands_with(set, &with(&without("schedulingGates")), &gate, &[]).why_none, set_by("schedulingGates", Setter::Unknown));
    assert_eq!(commands_with(set, &with(&json!({})), &gate, &[]).why_none, None);

    // A LimitRange gives way to a value in the template, if there is one.
    let item = json!({"type": "Container", "defaultRequest": {"cpu": "4"}});
    let range = (NeighborKind::LimitRange, json!({"metadata": {"name": "r"}, "spec": {"limits": [item]}}));
    let others = [&with(&none)[..], &[range]].concat();
    assert!(commands_with(set, &others, &[Change::Pod(lower())], &[]).lines.is_some());

    // The namespace's selector is merged into each pod, and a conflict refuses it.
    let mut written = pod(set);
    written["spec"]["nodeSelector"]["env"] = json!("prod");
    let by = Setter::Namespace("scheduler.alpha.kubernetes.io/node-selector", "shop".into());
    for selector in [json!({"zone": "c"}), json!({"zone": "c", "env": "prod"})] {
        let others = with(&json!({"template": {"spec": {"nodeSelector": selector}}}));
        assert_eq!(of_pod(&written, &others, &[drop_selector("env", "prod")], &[]).why_none, set_by("nodeSelector", by.clone()));
        assert_eq!(of_pod(&written, &others, &[drop_selector("zone", "c")], &[]).why_none, None);
    }
    let mut written = pod(Some(("StatefulSet", "db")));
    written["metadata"]["annotations"] = json!({"vpaUpdates": "Pod resources updated by db: container 0: cpu request"});
    let found = of_pod(&written, &[made(NeighborKind::StatefulSet, "db", None, &requests("1"))], &[Change::Pod(lower())], &[]);
    let db = workload("StatefulSet", "db");
    assert_eq!(found.why_none, Some(NoCommand::SetAtCreation { owner: db, field: "resources", by: Setter::VerticalPodAutoscaler }));
}

/// The template's own tolerations stay as they are, and those of the API server do not get into it.
#[test]
fn a_toleration_is_added_to_those_of_the_template() {
    let key = |name: &str| format!("node.kubernetes.io/{name}");
    let own = json!({"key": key("not-ready"), "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5});
    let forever = json!({"key": key("unreachable"), "operator": "Exists", "effect": "NoExecute"});
    let injected = json!({"key": key("memory-pressure"), "operator": "Exists", "effect": "NoSchedule"});
    let added = json!({"key": "dedicated", "operator": "Equal", "value": "db", "effect": "NoSchedule"});
    let mut written = pod(Some(("StatefulSet", "db")));
    written["spec"]["tolerations"] = json!([own, forever, injected]);
    let changes = [Change::Pod(PodChange::Tolerate(taint())), drop_selector("zone", "c")];
    let list = |others: &[(NeighborKind, Value)]| {
        let lines = of_pod(&written, others, &changes, &[]).lines.expect("commands");
        patch_in(lines.lines().next().unwrap())["spec"]["template"]["spec"]["tolerations"].clone()
    };
    let known = made(NeighborKind::StatefulSet, "db", None, &json!({"template": {"spec": {"tolerations": [own, forever]}}}));
    assert_eq!(list(&[known]), json!([own, forever, added]));
    // Without the template, only those with the default time are left out.
    assert_eq!(list(&[]), json!([own, forever, injected, added]));
}

/// The DaemonSet controller deletes a pod by its template, and an owner that waits for deletions gets one.
#[test]
fn the_pods_of_a_daemon_set_follow_its_template() {
    let owner = Some(("DaemonSet", "ds"));
    let of = |effect: &str, spec: &Value| {
        let taint = Taint { key: "x".into(), effect: effect.into(), ..Taint::default() };
        let others = [made(NeighborKind::DaemonSet, "ds", None, spec)];
        commands_with(owner, &others, &[Change::Pod(PodChange::Tolerate(taint))], &[]).lines.expect("commands")
    };
    assert!(of("NoSchedule", &json!({})).starts_with("kubectl patch pod web-1 "));
    let template = of("NoExecute", &json!({}));
    assert!(template.starts_with("kubectl patch daemonset ds -n shop -p ") && template.lines().count() == 1, "{template}");
    let on_delete = of("NoExecute", &json!({"updateStrategy": {"type": "OnDelete"}}));
    assert_eq!(on_delete.lines().last(), Some("kubectl delete pod web-1 -n shop"));
}

#[test]
fn a_job_that_is_replaced_leaves_no_pods_to_evict_and_its_cron_job_has_a_template_of_its_own() {
    let owner = Some(("Job", "j"));
    let high = [Change::Pod(PodChange::Priority { from: 0, to: 9, class: Some("high".into()) })];
    let job = || made(NeighborKind::Job, "j", Some(("CronJob", "cron")), &json!({}));
    let own = [Key::new("shop", "web-1")];
    assert_eq!(commands_with(owner, &[job()], &high, &own).why_none, Some(NoCommand::EvictsOwn(workload("Job", "j"))));
    assert_eq!(commands_with(owner, &[job()], &high, &[Key::new("shop", "other")]).why_none, None);
    let cron = |selector: Value| {
        let template = made(NeighborKind::Job, "", None, &json!({"template": {"spec": {"nodeSelector": selector}}})).1["spec"].clone();
        (NeighborKind::CronJob, json!({"metadata": {"name": "cron"}, "spec": {"jobTemplate": {"spec": template}}}))
    };
    let lines = |cron| commands_with(owner, &[job(), cron], &[drop_selector("zone", "c")], &[]).lines.expect("commands").lines().count();
    assert_eq!((lines(cron(json!({"zone": "c"}))), lines(cron(json!({"zone": "b"})))), (2, 1), "the CronJob has changed since");
}

/// The expressions that the API server merges into a selector for `matchLabelKeys` are of one revision.
#[test]
fn merged_selectors_stay_out_of_the_template() {
    let constraint = |merged: bool| {
        let mut selector = json!({"matchLabels": {"app": "web"}});
        if merged {
            selector["matchExpressions"] = json!([{"key": "pod-template-hash", "operator": "In", "values": ["5d8"]}]);
        }
        json!({"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector,
               "matchLabelKeys": ["pod-template-hash"]})
    };
    let mut written = pod(Some(("ReplicaSet", "web-5d8")));
    written["spec"]["topologySpreadConstraints"] = json!([constraint(true)]);
    let spec = json!({"template": {"spec": {"topologySpreadConstraints": [constraint(false)]}}});
    let others =
        [made(NeighborKind::ReplicaSet, "web-5d8", Some(("Deployment", "web")), &spec), made(NeighborKind::Deployment, "web", None, &spec)];
    let change = Change::Pod(PodChange::MaxSkew { index: 0, topology_key: "zone".into(), from: 1, to: 3 });
    let lines = of_pod(&written, &others, &[change], &[]).lines.expect("commands");
    let mut expected = constraint(false);
    expected["maxSkew"] = json!(3);
    let list = &patch_in(&lines)["spec"]["template"]["spec"]["topologySpreadConstraints"];
    assert_eq!(list, &json!([expected, {"$patch": "replace"}]));
}

#[test]
fn a_pod_on_the_hosts_network_keeps_its_ports() {
    let mut written = pod(None);
    written["spec"]["hostNetwork"] = json!(true);
    let found = of_pod(&written, &[], &[Change::Pod(PodChange::DropHostPorts(None))], &[]);
    assert_eq!((found.lines, found.why_none), (None, Some(NoCommand::HostNetwork)));
}
