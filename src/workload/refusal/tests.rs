//! Tests of `refusal`.

use super::*;

#[test]
fn each_shape_is_read_with_its_facts() {
    for (text, key, fact) in [
        (
            r#"Error creating: pods "web-6d9f-x2k" is forbidden: exceeded quota: compute, requested: requests.cpu=500m,pods=1, used: requests.cpu=2,pods=4, limited: requests.cpu=2,pods=4"#,
            "quota",
            r#"("requests.cpu", "500m"), ("pods", "1")"#,
        ),
        (r#"pods "a" is forbidden: failed quota: q: must specify limits.cpu for: c"#, "quota-needs-requests", "limits.cpu for: c"),
        (r#"pods "a" is forbidden: maximum cpu usage per Container is 1, but limit is 2"#, "limit-range", "maximum cpu usage"),
        (
            r#"pods "a" is forbidden: cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000"#,
            "limit-range",
            "cpu max limit",
        ),
        (
            r#"pods "a" is forbidden: error looking up service account shop/robot: serviceaccount "robot" not found"#,
            "service-account",
            "robot",
        ),
        (r#"pods "a" is forbidden: no PriorityClass with name high was found"#, "priority-class", "high"),
        (r#"pods "a" is forbidden: violates PodSecurity "restricted:latest": privileged"#, "pod-security", "restricted"),
        (
            r#"Error creating: admission webhook "vpod.kb.io" denied the request: leader pod not yet scheduled, not creating follower pod. this is an expected, transient error"#,
            "leader-first",
            "",
        ),
        (r#"admission webhook "policy.example.com" denied the request: no latest tags"#, "webhook-denied", "no latest tags"),
        (r#"Internal error occurred: failed calling webhook "w.io": connection refused"#, "webhook-unreachable", "connection refused"),
        (
            r#"pods "a" is forbidden: unable to create new content in namespace shop because it is being terminated"#,
            "namespace-terminating",
            "",
        ),
        ("something new", "refused", "something new"),
        ("exceeded quota: cut off, requested: a", "refused", "cut off"),
    ] {
        let refusal = Refusal::of(text);
        assert_eq!(refusal.key(), key, "{text}");
        assert!(format!("{refusal:?}").contains(fact), "{refusal:?}");
    }
}
