use serde_json::{Value, json};

use super::*;
use crate::cluster::testing::object_of as object;
use crate::fixes::Lowered;

fn pod(owner: Option<(&str, &str)>) -> Value {
    let owners: Vec<Value> = owner.into_iter().map(|(kind, name)| json!({"kind": kind, "name": name, "controller": true})).collect();
    json!({
        "metadata": {"name": "web-1", "namespace": "shop", "ownerReferences": owners, "labels": {"pod-template-hash": "5d8"}},
        "spec": {
            "nodeSelector": {"zone": "c"},
            "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}],
            "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
            "schedulingGates": [{"name": "g"}],
            "containers": [{"name": "c", "ports": [{"containerPort": 80, "hostPort": 80}], "resources": {"requests": {"cpu": "4"}}}],
        },
    })
}

fn commands_for(owner: Option<(&str, &str)>, changes: &[Change]) -> Option<String> {
    let written = pod(owner);
    let cluster: Cluster = [object(Kind::Pod, &written)].into_iter().collect();
    let key = Key::new("shop", "web-1");
    let originals = |kind: Kind, _: &Key| (kind == Kind::Pod).then(|| written.clone());
    commands(&Targets::new(&key, &cluster, &originals), changes)
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

        let job = commands_for(Some(("Job", "report-28000123")), &changes).expect("commands");
        let (first, second) = job.split_once('\n').expect("two lines");
        assert!(first.starts_with("kubectl get job report-28000123 -n shop"));
        let patch = patch_in(first);
        assert_eq!((&patch["spec"]["selector"], &patch["spec"]["template"]["spec"]), (&Value::Null, &expected));
        assert!(patch["spec"]["template"]["metadata"]["labels"].as_object().unwrap().contains_key("controller-uid"));
        assert!(second.starts_with("kubectl patch cronjob report -n shop -p "));
        assert_eq!(patch_in(second), json!({"spec": {"jobTemplate": {"spec": {"template": {"spec": expected}}}}}));
        assert_eq!(commands_for(Some(("Job", "once")), &changes).expect("commands").lines().count(), 1);
        assert_eq!(commands_for(Some(("Rollout", "web")), &changes), None, "nothing is known of its template");
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
    let commands_for = |changes: &[Change]| commands(&Targets::new(&pod, &cluster, &|_, _| Some(claim.clone())), changes);
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
        commands(&Targets::new(&key, &cluster, &|_, _| None), &changes).unwrap()
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
