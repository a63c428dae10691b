use super::*;
use crate::scheduler::Config;

#[test]
fn what_would_take_long_is_refused() {
    let check = |text: &str, expected: &str| assert_eq!(parse(text).unwrap_err().to_string(), expected);
    check(&"[".repeat(80_000), "brackets are nested too deeply");
    check(&" ".repeat(CONFIG_BYTES + 1), "has more than 1048576 bytes");
    let aliases = "has aliases and more than 8192 bytes";
    for name in ["a", "_a", "-a", "ä", "*a"] {
        check(&format!("a: &{name} [{}]\nb: *{name}\n", "x,".repeat(5_000)), aliases);
    }
    check(&format!("a: &a [{}]\nb: [{}]\n", "x,".repeat(1_500), "*a,".repeat(1_000)), "has more than 100000 values");
    check(&format!("[{}]", "1,".repeat(CONFIG_VALUES)), "has more than 100000 values");
    assert!(parse(&format!("a: &a [{}]\nb: *a\n", "x,".repeat(100))).is_ok());
    assert!(parse(&format!("# {}\nplugins: [{{name: '*'}}]", "x".repeat(CONFIG_WITH_ALIASES))).is_ok());
    let head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";
    let many = format!("{head}profiles:\n{}", "- {schedulerName: a}\n".repeat(2001));
    let errors = ConfigFile::decode(&many, Emulation::default()).unwrap_err();
    assert_eq!(errors.to_string(), "profiles: has 2001 items; schedscope reads no more than 2000");
    let refused = |more: &str| Config::parse(&format!("{head}{more}"), Emulation::default()).unwrap_err().to_string();
    let extender = |resources: &str| format!("{{urlPrefix: 'http://h', filterVerb: f, managedResources: [{resources}]}},");
    assert_eq!(refused(&format!("extenders: [{}]", extender("").repeat(65))), "extenders: has 65 items; schedscope reads no more than 64");
    let many = extender(&"{name: a.b/c},".repeat(101)).repeat(2);
    let managed = "extenders: has 202 managed resources; schedscope reads no more than 200";
    assert_eq!(refused(&format!("extenders: [{many}]")), managed);
    let wrong: String = (0..1_000).map(|i| format!("k{i}: 1\n")).collect();
    let lines = refused(&wrong);
    assert_eq!((lines.lines().count(), lines.lines().last()), (501, Some("further errors are not listed")));
}

#[test]
fn names_of_resources_that_are_none_are_shown_without_what_a_url_hides() {
    let head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";
    for name in ["bad?token=canary", "http://bob:canary@h/x", "token=canary", "a;b#canary"] {
        let text = format!("{head}extenders: [{{urlPrefix: 'http://h', filterVerb: f, managedResources: [{{name: '{name}'}}]}}]");
        let error = Config::parse(&text, Emulation::default()).unwrap_err().to_string();
        assert!(error.contains("managedResources[0].name") && error.contains("[hidden]") && !error.contains("canary"), "{error}");
    }
}

#[test]
fn credentials_of_extenders_are_not_kept() {
    let text = "extenders: [{urlPrefix: 'https://me:hunter2@h/x', tlsConfig: {keyData: aHVudGVyMg==, insecure: true}}, {weight: 1}]";
    let kept: Value = serde_json::from_str(&without_credentials(text).unwrap()).unwrap();
    assert_eq!(kept, serde_json::json!({"extenders": [{"urlPrefix": "https://h/x", "tlsConfig": {"insecure": true}}, {"weight": 1}]}));
    // As a policy spells it, in a ConfigMap, with a comment, in a query.
    for text in [
        "Extenders: [{URLPrefix: 'https://me:hunter2@h/x', TLSConfig: {KeyData: hunter2}}]",
        "kind: ConfigMap\ndata: {policy.cfg: '{\"extenders\":[{\"urlPrefix\":\"http://u:hunter2@h\",\"tlsConfig\":{\"KEYDATA\":\"hunter2\"}}]}'}",
        "# hunter2\nextenders: [{urlPrefix: 'https://h/x?token=hunter2'}]",
        "extenders: [{urlPrefix: 'https://me:hun/ter2hunter2@h'}]",
    ] {
        let kept = without_credentials(text).unwrap();
        assert!(!kept.contains("hunter2") && kept.contains("://h"), "{kept}");
    }
}
