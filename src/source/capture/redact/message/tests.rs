use super::super::Redactor;
use super::*;
use serde_json::json;

/// Returns a message of a pod among objects of these names, redacted, with `<name>` in place of each replacement of
/// a name.
fn redacted(text: &str) -> String {
    let vocabulary = Vocabulary::of(crate::framework::reason_texts());
    let mut item =
        json!({"metadata": {"name": "web-1", "namespace": "shop", "uid": "0a-1b"}, "spec": {"nodeName": "host-a"}, "message": text});
    let mut redactor = Redactor::new(&vocabulary);
    redactor.collect("", &mut item.clone());
    redactor.finish();
    redactor.apply("Pod", &mut item);
    let mut out = item["message"].as_str().unwrap().to_owned();
    for (replacement, original) in redactor.replacements() {
        out = out.replace(&replacement, &format!("<{original}>"));
    }
    out
}

#[test]
fn what_kube_scheduler_writes_stays() {
    let filled = [
        "Insufficient nvidia.com/gpu",
        "Insufficient ephemeral-storage",
        "Insufficient acme.com/rocket",
        "node(s) didn't satisfy plugin(s) [NodeAffinity VolumeBinding] simultaneously",
        "ebs.csi.aws.com CSI driver is not installed on the node",
        "node(s) didn't match pod topology spread constraints",
        "not found",
    ];
    for text in TEXTS.iter().copied().chain(filled).chain(crate::framework::reason_texts().filter(|t| !t.contains(['[', '{', '"']))) {
        for whole in [
            text.to_owned(),
            format!(
                "0/12 nodes are available: 1 {text}, 2 node(s) were unschedulable, 9 {text}. preemption: 0/12 nodes are available: 12 {text}."
            ),
        ] {
            assert_eq!(redacted(&whole), whole);
        }
    }
}

#[test]
fn names_become_what_they_become_elsewhere() {
    for (text, expected) in [
        ("Preempted by pod 0a-1b on node host-a", "Preempted by pod <0a-1b> on node <host-a>"),
        ("Preempted by shop/web-1 on node host-a.", "Preempted by <shop>/<web-1> on node <host-a>."),
        ("Preempted by pod gone-2 on node node", "Preempted by pod <gone-2> on node <node>"),
        ("Preempted by a pod on node pod", "Preempted by a pod on node <pod>"),
        ("Successfully assigned shop/pod to storage", "Successfully assigned <shop>/<pod> to <storage>"),
        (
            "1 persistentvolumeclaim \"data-0\" not found, 2 Too many pods.",
            "1 persistentvolumeclaim \"<data-0>\" not found, 2 Too many pods.",
        ),
        (
            "looking up PVC shop/web-1: persistentvolumeclaim \"web-1\" not found",
            "looking up PVC <shop>/<web-1>: persistentvolumeclaim \"<web-1>\" not found",
        ),
        (
            "ResourceClaim shop/x was not created for Pod shop/web-1 (Pod is not owner)",
            "ResourceClaim <shop>/<x> was not created for Pod <shop>/<web-1> (Pod is not owner)",
        ),
        (
            "had untolerated taint {acme.com/hot: very}, 1 had taint {kubernetes.io/a: }, so",
            "had untolerated taint {<acme.com/hot>: <very>}, 1 had taint {kubernetes.io/<a>: }, …",
        ),
        ("waiting for scheduling gates: [acme.com/b hush]", "waiting for scheduling gates: [<acme.com/b> <hush>]"),
        ("Insufficient deviceclass.resource.kubernetes.io/acme-gpu.", "Insufficient deviceclass.resource.kubernetes.io/<acme-gpu>."),
        ("host-a, hush;  123456789012 42 https://acme.com/x\n(web-1)", "<host-a>, …;  … 42 …\n(<web-1>)"),
        // Only names of resources and drivers follow or precede these words.
        (
            "Insufficient web-1, 1 Insufficient hush, 1 Insufficient memory.",
            "Insufficient <web-1>, 1 Insufficient …, 1 Insufficient memory.",
        ),
        ("web-1 CSI driver hush CSI driver", "<web-1> CSI driver … CSI driver"),
        (
            "exceeded quota: web-1, requested: requests.hush=5 requests.cpu=1,pods=2 count/hushes=1",
            "exceeded quota: <web-1>, requested: …=5 requests.cpu=1,pods=2 …=1",
        ),
        (
            "found a potential placement for pod on node host-a, preempting 2 victims",
            "found a potential placement for pod on node <host-a>, preempting 2 victims",
        ),
    ] {
        assert_eq!(redacted(text), expected);
    }
}
