//! Tests of `message_parse`.

use super::*;

fn words(message: &str) -> String {
    let Some(w) = Wording::of(message, Release::default()) else { return "no".to_owned() };
    let counts = |map: &BTreeMap<String, u32>| map.iter().map(|(r, n)| format!("{n} {r}")).collect::<Vec<_>>().join("|");
    let tail = match &w.post_filter {
        None => "-".to_owned(),
        Some(PostFilter::Nodes(map)) => counts(map),
        Some(PostFilter::Placement(node, victims)) => format!("{victims} on {node}"),
        Some(PostFilter::Other(text)) => format!("={text}"),
    };
    format!("{}: {} / {tail}", w.nodes, counts(&w.reasons))
}

#[test]
fn texts_of_every_version_are_taken_apart() {
    for (message, expected) in [
        (
            "0/12 nodes are available: 3 node(s) had untolerated taint(s), 8 Insufficient cpu.",
            "12: 8 Insufficient cpu|3 node(s) had untolerated taint(s) / -",
        ),
        (
            "0/4 nodes are available: 1 node(s) had untolerated taint {a: b}, 2 node(s) had untolerated taint {c: }, 1 Insufficient cpu. preemption: 0/4 nodes are available: 1 No preemption victims found for incoming pod, 3 Preemption is not helpful for scheduling.",
            "4: 1 Insufficient cpu|3 node(s) had untolerated taint(s) / 1 No preemption victims found for incoming pod|3 Preemption is not helpful for scheduling",
        ),
        ("0/4 nodes are available: 4 node(s) had taint {a: b}, that the pod didn't tolerate.", "4: 4 node(s) had untolerated taint(s) / -"),
        (
            "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.",
            "2: 2 Insufficient cpu / =not eligible due to preemptionPolicy=Never",
        ),
        (
            "0/5 nodes are available: 2 cannot allocate all claims, 3 resourceclaim not available on the node. deallocation of ResourceClaim completed, preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling.",
            "5: 2 cannot allocate all claims|3 resourceclaim not available on the node / 5 Preemption is not helpful for scheduling",
        ),
        (
            "0/2 nodes are available: 2 Insufficient cpu. preemption: found a potential placement for pod on node n-1, preempting 3 victims",
            "2: 2 Insufficient cpu / 3 on n-1",
        ),
        (
            "0/2 nodes are available: persistentvolumeclaim \"x\" not found. not found",
            "2: 2 persistentvolumeclaim \"x\" not found / =not found",
        ),
        (
            "0/2 nodes are available: preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
            "2:  / 2 Preemption is not helpful for scheduling",
        ),
        (
            "0/2 nodes are available: 2 Insufficient pods, 2 node(s) didn't match node selector.",
            "2: 2 Too many pods|2 node(s) didn't match Pod's node affinity/selector / -",
        ),
        (
            "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity.",
            "2: 2 node(s) didn't match Pod's node affinity/selector / -",
        ),
        (
            "0/2 nodes are available: 2 node(s) had volume node affinity conflict.",
            "2: 2 node(s) didn't match PersistentVolume's node affinity / -",
        ),
        ("no nodes available to schedule pods", "no"),
        ("running \"x\" plugin", "no"),
        ("1/2 nodes are available: 1 x.", "no"),
    ] {
        assert_eq!(words(message), expected, "{message}");
    }
}

#[test]
fn other_words_are_distinguished_from_other_reasons() {
    let of = |message: &str| Wording::of(message, Release::default());
    let old = of("0/2 nodes are available: 1 node(s) had untolerated taint {a: b}, 1 Too many pods.").unwrap();
    let new = of("0/2 nodes are available: 1 node(s) had untolerated taint(s), 1 Too many pods.").unwrap();
    assert_eq!(old.reasons, new.reasons);
    assert_eq!((old.other_words.len(), new.other_words.len()), (1, 0));
    assert!(differences(&old.reasons, &new.reasons, "").is_empty());
    let other = of("0/2 nodes are available: 2 Too many pods.").unwrap();
    assert_eq!(
        differences(&old.reasons, &other.reasons, ""),
        [
            "Too many pods: the scheduler said 1 node, schedscope says 2 nodes",
            "node(s) had untolerated taint(s): the scheduler said 1 node, not reported by schedscope"
        ]
    );
}

#[test]
fn what_a_release_never_writes_is_no_difference() {
    let half = "preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.";
    let plugins = "node(s) didn't satisfy plugin(s) [NodeAffinity]";
    let nameless = "node is filtered out by the prefilter result";
    let found = "preemption: found a potential placement for pod on node n, preempting 1 victims";
    for (theirs, version, ours, own, note) in [
        ("1 Insufficient cpu.".to_owned(), "1.20", format!("1 Insufficient cpu. {half}"), "1.36.2", "does not report preemption"),
        (format!("1 Insufficient cpu. {half}"), "1.31", "1 Insufficient cpu.".to_owned(), "1.20", "the result of preemption"),
        ("1 Insufficient cpu.".to_owned(), "1.31", format!("1 Insufficient cpu, 2 {plugins}."), "1.36.2", "does not count"),
        (format!("1 Insufficient cpu, 2 {nameless}."), "1.30", format!("1 Insufficient cpu, 2 {plugins}."), "1.36.2", "names the plugins"),
        (format!("1 Insufficient cpu, 2 {nameless}."), "1.30", "1 Insufficient cpu.".to_owned(), "1.31", "counts the nodes"),
        ("1 Insufficient cpu.".to_owned(), "1.36.2", format!("1 Insufficient cpu. {found}"), "1.37.0", "does not say where"),
    ] {
        let releases = [version, own].map(|v| v.parse::<Release>().unwrap());
        let read = |text: &str, release| Wording::of(&format!("0/3 nodes are available: {text}"), release).unwrap();
        let (theirs, ours) = (read(&theirs, releases[0]), read(&ours, releases[1]));
        let (theirs, ours, notes) = Wording::without_what_is_never_written(theirs, ours, releases);
        assert_eq!(
            (&theirs.reasons, &theirs.left_out, &theirs.post_filter),
            (&ours.reasons, &ours.left_out, &ours.post_filter),
            "{version}"
        );
        assert!(notes.len() == 1 && notes[0].contains(note), "{notes:?}");
    }
    let may_be = |message: &str, release: &str| Writers::of(message).unwrap().may_be(release.parse().unwrap());
    let form = |release: &str| may_be("0/1 nodes are available: 1 node(s) had untolerated taint {a: b}.", release);
    assert_eq!((form("1.36.2"), form("1.34.1"), form("1.24.4")), (false, true, true));
    let with_half = format!("0/3 nodes are available: 3 Too many pods. {half}");
    let placed = format!("0/3 nodes are available: 3 Too many pods. {found}");
    assert!(may_be(&placed, "1.37") && !may_be(&placed, "1.36"));
    assert!(may_be(&with_half, "1.24") && !may_be(&with_half, "1.23"));
}
