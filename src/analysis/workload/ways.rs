//! The ways of a workload to be short of pods, a fixture each.

use serde_json::{Value, json};

use crate::analysis::{Agreements, WorkloadReport, causes};
use crate::cluster::{Key, Kind, KindSet, MissingKinds};
use crate::fixes::Background;
use crate::release::Emulation;
use crate::scheduler::{Config, Options, Scheduler};
use crate::source::{Input, Loaded, load};
use crate::workload::{WorkloadInput, subject, voices_about};

/// Reads a fixture.
fn read(name: &str) -> Loaded {
    let path = format!("{}/fixtures/workloads/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    load(&[Input::Bytes { name: name.to_owned(), bytes: bytes.into() }])
}

/// Explains a workload of a cluster.
pub(super) fn explained(loaded: &Loaded, kind: &str, name: &str) -> WorkloadReport {
    explained_without(loaded, MissingKinds::default(), kind, name)
}

/// Explains a workload of a cluster of which some kinds are unknown.
fn explained_without(loaded: &Loaded, unknown: MissingKinds, kind: &str, name: &str) -> WorkloadReport {
    let now = loaded.report.newest.unwrap_or_default();
    let options = Options { start: now, unknown, ..Options::default() };
    let scheduler = Scheduler::new(Config::defaults(Emulation::default()), loaded.objects.clone(), options);
    let cluster = scheduler.state().cluster();
    let input = WorkloadInput::new(cluster, &loaded.neighbors);
    let workload = subject(cluster, &loaded.neighbors, kind, &Key::new("shop", name)).expect("the workload exists");
    let found = input.findings(&workload);
    let mut decided = Agreements::of(&scheduler, &[], Vec::new(), |pod| found.unscheduled.contains(pod), |_| true);
    let background = Background { neighbors: &loaded.neighbors, ..Background::nothing() };
    decided.causes = causes(&decided, &scheduler, background);
    let others = voices_about(&input, &input.family(&workload), None);
    let pods: Vec<_> = decided.pods.iter().collect();
    WorkloadReport::new(&found, (&pods, &decided.causes), &others, &scheduler, Some(now))
}

/// A fixture, the workload, its numbers (desired, created, ready, missing), and the key, count, sentence and command of a cause.
type Way = (&'static str, &'static str, [usize; 4], (&'static str, usize), &'static str, &'static str);

const WAYS: &[Way] = &[
    (
        "01-quota",
        "deploy/web",
        [3, 2, 2, 1],
        ("quota", 1),
        "the quota compute refuses the next one (requests.cpu 1 of 1 used, and a pod asks for 0.5) (4 times, last 40 s ago)",
        "kubectl patch resourcequota/compute -n shop --type merge -p '{\"spec\":{\"hard\":{\"requests.cpu\":\"1500m\"}}}'",
    ),
    (
        "02-quota-needs-requests",
        "deploy/web",
        [3, 2, 2, 1],
        ("quota-needs-requests", 1),
        "the quota compute demands that its template sets limits.cpu for: c",
        "",
    ),
    (
        "03-limit-range",
        "deployment/web",
        [3, 2, 2, 1],
        ("limit-range", 1),
        "a LimitRange refuses the template: maximum cpu usage per Container is 1, but limit is 2",
        "",
    ),
    (
        "04-service-account",
        "rs/web-6d9f",
        [3, 2, 2, 1],
        ("service-account", 1),
        "the service account robot does not exist",
        "kubectl create serviceaccount robot -n shop",
    ),
    (
        "05-priority-class",
        "deploy/web",
        [3, 2, 2, 1],
        ("priority-class", 1),
        "the priority class high does not exist (last 5 min ago)",
        "kubectl create priorityclass high --value=0",
    ),
    (
        "06-webhook-denied",
        "deploy/web",
        [3, 2, 2, 1],
        ("webhook-denied", 1),
        "the admission webhook policy.example.com refuses it: images need a digest",
        "",
    ),
    (
        "07-webhook-unreachable",
        "deploy/web",
        [3, 2, 2, 1],
        ("webhook-unreachable", 1),
        "the admission webhook policy.example.com cannot be reached: connect: connection refused",
        "",
    ),
    (
        "08-paused",
        "deploy/web",
        [3, 0, 0, 3],
        ("paused", 3),
        "the Deployment is paused, and has no ReplicaSet yet",
        "kubectl rollout resume deployment/web -n shop",
    ),
    (
        "09-rollout",
        "deploy/web",
        [3, 2, 1, 2],
        ("rollout", 1),
        "the rollout keeps its ReplicaSets below the wanted number (maxSurge, maxUnavailable); its progress deadline has passed",
        "",
    ),
    (
        "10-suspended",
        "job/train",
        [2, 0, 0, 2],
        ("suspended", 2),
        "the Job is suspended by Kueue, which says: WaitingForQuota: couldn't assign flavors to pod set main: insufficient unused quota",
        "",
    ),
    ("11-ordered", "sts/db", [3, 1, 0, 3], ("ordered", 2), "the StatefulSet creates its pods in order, and db-0 is not ready", ""),
    (
        "12-autoscaler",
        "deploy/web",
        [1, 1, 1, 0],
        ("autoscaler", 0),
        "horizontalpodautoscaler/web sets the number of replicas, from 1 to 5; it says: the HPA was unable to compute the replica count",
        "",
    ),
    (
        "13-slow-start",
        "deploy/web",
        [3, 2, 2, 1],
        ("retries-after-quota", 1),
        "; it has room now, and the controller tries again with a growing pause",
        "",
    ),
    (
        "14-daemon-set",
        "ds/agent",
        [1, 1, 1, 0],
        ("few-eligible-nodes", 0),
        "the DaemonSet runs on 1 of 2 nodes: 1 is left out by its node selector or affinity",
        "",
    ),
    (
        "15-namespace-terminating",
        "deploy/web",
        [3, 2, 2, 1],
        ("namespace-terminating", 1),
        "the namespace is being deleted, and takes no new pod",
        "",
    ),
    ("16-terminating-pods", "sts/db", [2, 1, 1, 1], ("terminating-pods", 1), "1 terminating pod holds the place of the new (db-1)", ""),
    (
        "17-controller-behind",
        "deploy/web",
        [5, 2, 2, 3],
        ("controller-behind", 3),
        "it has acted on generation 2 of the spec, and 3 is the newest",
        "",
    ),
    (
        "18-job-ended",
        "job/train",
        [2, 0, 0, 2],
        ("job-ended", 2),
        "the Job has failed and creates no more pods (BackoffLimitExceeded: Job has reached the specified backoff limit)",
        "",
    ),
    ("19-leader-first", "jobset/train", [4, 1, 0, 4], ("leader-first", 3), "JobSet creates the followers once their leader has a node", ""),
];

#[test]
fn each_way_to_be_short_of_pods_is_said() {
    for (fixture, subject, numbers, (key, count), sentence, command) in WAYS {
        let (kind, name) = subject.split_once('/').unwrap();
        let report = explained(&read(fixture), kind, name);
        let found = [report.desired.unwrap(), report.created.unwrap(), report.ready.unwrap(), report.missing.unwrap()];
        assert_eq!(found, *numbers, "{fixture}: {:?}", report.why);
        let cause = report.causes.iter().find(|cause| cause.cause == *key).unwrap_or_else(|| panic!("{fixture}: {:?}", report.causes));
        assert_eq!(cause.count, *count, "{fixture}");
        assert!(cause.sentence.contains(sentence), "{fixture}: {}", cause.sentence);
        assert_eq!(report.causes.iter().map(|cause| cause.count).sum::<usize>(), numbers[3], "{fixture}: {:?}", report.causes);
        if !command.is_empty() {
            assert_eq!(cause.commands(), [*command], "{fixture}");
        }
        assert_eq!(report.is_short(), Some(numbers[3] > 0), "{fixture}");
    }
}

#[test]
fn every_fixture_is_a_way() {
    let folder = format!("{}/fixtures/workloads", env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<String> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
    files.retain(|file| file.as_bytes()[0].is_ascii_digit());
    files.sort();
    let named: Vec<String> = WAYS.iter().map(|way| format!("{}.yaml", way.0)).collect();
    assert_eq!(files, named);
}

#[test]
fn the_text_and_the_json_hold_the_whole() {
    let report = explained(&read("01-quota"), "deploy", "web");
    assert_eq!(
        report.why,
        "2 of 3 pods are ready: 1 pod is not created: the quota compute refuses the next one (requests.cpu 1 of 1 used, and a pod asks for \
         0.5) (4 times, last 40 s ago)."
    );
    let text = report.text().into_vec();
    assert_eq!(text[0], "deployment/web in namespace shop");
    for line in [
        "  wanted          3",
        "  without a node  0",
        "  missing         1",
        "    fix: raise the quota compute: requests.cpu from 1 to 1.5",
    ] {
        assert!(text.iter().any(|known| known == line), "{line}: {text:#?}");
    }
    assert!(
        text.iter().any(|line| line.starts_with("  replicaset-controller on replicaset/web-6d9f, 40 s ago, 4 times: FailedCreate")),
        "{text:#?}"
    );
    assert!(
        text.iter().any(|line| line == "  The source contains no LimitRanges: limits of the namespace are known from messages only."),
        "{text:#?}"
    );
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["workload"], json!({"kind": "Deployment", "namespace": "shop", "name": "web"}));
    assert_eq!(json["causes"][0]["by"], json!({"kind": "ResourceQuota", "namespace": "shop", "name": "compute"}));
    assert_eq!(json["causes"][0]["stage"], "creation");
    assert_eq!(json["others"][0]["speaker"], "replicaset-controller");
    assert_eq!(json["missingKinds"][0]["kind"], "HorizontalPodAutoscaler");
}

#[test]
fn a_workload_that_only_its_pods_name_has_an_unknown_number() {
    let mut loaded = read("01-quota");
    loaded.neighbors = std::sync::Arc::default();
    let report = explained(&loaded, "deploy", "web");
    assert_eq!((report.desired, report.missing, report.created, report.is_short()), (None, None, Some(2), None));
    assert_eq!(report.why, "2 pods are ready; how many are wanted is unknown.");
    assert!(serde_json::to_value(&report).unwrap()["desired"].is_null());
}

/// Returns the numbers of pods: created, gated, without a node, bound and ready.
fn counted(report: &WorkloadReport) -> [Option<usize>; 5] {
    [report.created, report.gated, report.unscheduled, report.bound, report.ready]
}

#[test]
fn pods_that_are_not_known_whole_are_not_counted() {
    let loaded = read("01-quota");
    let pods: KindSet = std::iter::once(Kind::Pod).collect();
    for (missing, why) in [
        (MissingKinds { absent: pods, ..MissingKinds::default() }, "the source contains no Pods"),
        (MissingKinds { refused: pods, ..MissingKinds::default() }, "Pods cannot be read (no permission)"),
        (MissingKinds { failed: pods, ..MissingKinds::default() }, "not all Pods could be read"),
        (MissingKinds { selected: pods, ..MissingKinds::default() }, "the source seems to hold only some of the Pods"),
    ] {
        let report = explained_without(&loaded, missing, "deploy", "web");
        assert_eq!((report.desired, counted(&report), report.missing, report.is_short()), (Some(3), [None; 5], None, None), "{why}");
        assert!(!report.is_counted());
        assert_eq!(report.why, format!("3 pods are wanted; how many exist is unknown: {why}."));
        assert_eq!((report.missing_kinds[0].kind, report.missing_kinds[0].clause.as_str()), ("Pod", why));
        // An event's words about the quota hold for any number of pods.
        assert_eq!(report.causes.iter().map(|cause| (cause.cause.as_str(), cause.count)).collect::<Vec<_>>(), [("quota", 0)]);
        let json = serde_json::to_value(&report).unwrap();
        assert!(["created", "gated", "unscheduled", "bound", "ready", "missing"].iter().all(|key| json[*key].is_null()), "{json}");
        assert!(report.text().into_vec().iter().any(|line| line.starts_with("  created") && line.ends_with('?')));
    }
    // The namespace was read.
    let missing = MissingKinds { partial: pods, ..MissingKinds::default() };
    assert_eq!(explained_without(&loaded, missing, "deploy", "web").created, Some(2));
}

#[test]
fn enough_ready_pods_are_enough_where_others_are_unknown() {
    let missing = MissingKinds { failed: std::iter::once(Kind::Pod).collect(), ..MissingKinds::default() };
    let report = explained_without(&read("12-autoscaler"), missing, "deploy", "web");
    assert_eq!((report.desired, report.ready, report.missing, report.is_short()), (Some(1), None, Some(0), Some(false)));
    assert_eq!(report.why, "1 pod is wanted, and as many are ready; whether there are more is unknown: not all Pods could be read.");
}

#[test]
fn pods_of_replica_sets_that_the_source_lacks_count_where_their_names_tell() {
    let deployment = json!({"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"replicas": 2, "paused": true}});
    let pod = |labels: Value| {
        json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web-1-a", "namespace": "shop", "labels": labels,
            "ownerReferences": [{"kind": "ReplicaSet", "name": "web-1", "controller": true}]}, "spec": {"nodeName": "n1"}})
    };
    let of = |labels: Value, sets: &[Value]| {
        let items: Vec<Value> = [deployment.clone(), pod(labels)].into_iter().chain(sets.iter().cloned()).collect();
        let text = json!({"kind": "List", "apiVersion": "v1", "items": items}).to_string();
        let loaded = load(&[Input::Bytes { name: "shop".to_owned(), bytes: text.into_bytes().into() }]);
        // A source in memory is taken to be whole.
        let absent = Some(Kind::ReplicaSet).filter(|_| sets.is_empty()).into_iter().collect();
        explained_without(&loaded, MissingKinds { absent, ..MissingKinds::default() }, "deploy", "web")
    };
    let named = of(json!({"pod-template-hash": "1"}), &[]);
    assert_eq!((named.created, named.missing, named.is_counted()), (Some(1), Some(1), true));
    // Whether it has ReplicaSets is unknown, so that nothing follows from its pause.
    assert_eq!(named.causes[0].cause, "not-created");
    let unnamed = of(json!({}), &[]);
    assert_eq!((counted(&unnamed), unnamed.missing, unnamed.is_counted()), ([None; 5], None, false));
    assert_eq!(unnamed.why, "2 pods are wanted; how many exist is unknown: the source contains no ReplicaSets.");
    let sets: Vec<_> = unnamed.missing_kinds.iter().filter(|kind| kind.kind == "ReplicaSet").map(|kind| kind.effect).collect();
    assert_eq!(sets, ["which pods are its own is unknown."]);
    let set = json!({"kind": "ReplicaSet", "apiVersion": "apps/v1", "metadata": {"name": "other", "namespace": "shop"}, "spec": {}});
    assert_eq!(of(json!({}), &[set]).created, Some(0), "the ReplicaSets are known, and none of them is behind the pod");
}

#[test]
fn what_another_program_suspends_is_not_unsuspended() {
    let job = |labels: Value, owner: Option<(&str, &str)>| {
        let owners: Vec<Value> = owner.iter().map(|(kind, name)| json!({"kind": kind, "name": name, "controller": true})).collect();
        json!({"kind": "Job", "apiVersion": "batch/v1", "spec": {"suspend": true, "parallelism": 2, "completions": 2},
            "metadata": {"name": "train", "namespace": "shop", "labels": labels, "ownerReferences": owners}})
    };
    let set = |suspend: bool, labels: Value| {
        json!({"kind": "JobSet", "apiVersion": "jobset.x-k8s.io/v1alpha2", "metadata": {"name": "ts", "namespace": "shop", "labels": labels},
            "spec": {"suspend": suspend, "replicatedJobs": []}})
    };
    let of = |items: &[Value]| {
        let text = json!({"kind": "List", "apiVersion": "v1", "items": items}).to_string();
        let loaded = load(&[Input::Bytes { name: "shop".to_owned(), bytes: text.into_bytes().into() }]);
        let report = explained(&loaded, "job", "train");
        let cause = report.causes.iter().find(|cause| cause.cause == "suspended").expect("it is suspended").clone();
        let next = if cause.commands().is_empty() { cause.fix_words.clone() } else { cause.commands().join("; ") };
        (cause.sentence, next)
    };
    let queue = json!({"kueue.x-k8s.io/queue-name": "q"});
    let words = |sentence: &str, next: &str| (sentence.to_owned(), next.to_owned());
    let patch = |object: &str| format!(r#"kubectl patch {object} -n shop --type merge -p '{{"spec":{{"suspend":false}}}}'"#);
    assert_eq!(of(&[job(json!({}), None)]), words("the Job is suspended", &patch("job/train")));
    assert_eq!(of(&[job(queue.clone(), None)]), words("the Job is suspended by Kueue", "see: kubectl describe job train -n shop"));
    for (kind, name) in [("JobSet", "ts"), ("MPIJob", "mpi")] {
        let owner = format!("{}/{name}", kind.to_lowercase());
        assert_eq!(
            of(&[job(json!({}), Some((kind, name)))]),
            words(
                &format!("it is suspended, and its owner {owner} decides when it runs"),
                &format!("see: kubectl describe {} {name} -n shop", kind.to_lowercase())
            )
        );
    }
    let owned = job(json!({}), Some(("JobSet", "ts")));
    assert_eq!(of(&[owned.clone(), set(true, json!({}))]), words("the JobSet is suspended", &patch("jobset/ts")));
    assert_eq!(
        of(&[owned.clone(), set(true, queue)]),
        words("the JobSet is suspended by Kueue", "see: kubectl describe jobset ts -n shop")
    );
    assert_eq!(of(&[owned, set(false, json!({}))]).1, "see: kubectl describe jobset ts -n shop");
    // A CronJob leaves alone what it has started.
    assert_eq!(of(&[job(json!({}), Some(("CronJob", "nightly")))]).1, patch("job/train"));
}
