use crate::framework::PluginName;
use crate::release::{Emulation, Profile};
use crate::scheduler::Config;

fn parse(version: &str, text: &str) -> Result<Config, String> {
    let release = Profile::named(version).expect("an emulated release");
    Config::parse(text, Emulation::from(release)).map_err(|error| error.to_string())
}

fn scores(config: &Config) -> Vec<(PluginName, i64)> {
    config.profiles[0].score.iter().map(|(plugin, weight)| (plugin.name(), *weight)).collect()
}

fn filters(config: &Config) -> Vec<PluginName> {
    config.profiles[0].filter.iter().map(|plugin| plugin.name()).collect()
}

#[test]
fn a_policy_without_lists_has_the_defaults_in_the_order_of_old() {
    use PluginName as P;
    for text in ["apiVersion: v1\nkind: Policy\n", r#"{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"Policy"}"#] {
        let config = parse("v1.20.15", text).unwrap();
        let expected = [
            P::NodeUnschedulable,
            P::NodeResourcesFit,
            P::NodeName,
            P::NodePorts,
            P::NodeAffinity,
            P::VolumeRestrictions,
            P::TaintToleration,
            P::EBSLimits,
            P::GCEPDLimits,
            P::NodeVolumeLimits,
            P::AzureDiskLimits,
            P::VolumeBinding,
            P::VolumeZone,
            P::PodTopologySpread,
            P::InterPodAffinity,
        ];
        assert_eq!(filters(&config), expected);
        let expected = [
            (P::NodeResourcesBalancedAllocation, 1),
            (P::PodTopologySpread, 2),
            (P::ImageLocality, 1),
            (P::InterPodAffinity, 1),
            (P::NodeResourcesLeastAllocated, 1),
            (P::NodeAffinity, 1),
            (P::NodePreferAvoidPods, 10_000),
            (P::TaintToleration, 1),
        ];
        assert_eq!(scores(&config), expected);
    }
}

#[test]
fn what_a_policy_lists_becomes_plugins() {
    use PluginName as P;
    let text = r#"{"apiVersion": "v1", "kind": "ConfigMap", "data": {"policy.cfg": "
        {'kind': 'Policy', 'apiVersion': 'v1', 'hardPodAffinitySymmetricWeight': 5, 'predicates': [
          {'name': 'PodFitsPorts'}, {'name': 'zones', 'argument': {'labelsPresence': {'labels': ['zone'], 'presence': true}}}],
        'priorities': [{'name': 'a', 'weight': 3, 'argument': {'labelPreference': {'label': 'x', 'presence': true}}},
          {'name': 'b', 'weight': 3, 'argument': {'labelPreference': {'label': 'y', 'presence': false}}},
          {'name': 'EqualPriority', 'weight': 1}, {'name': 'ServiceSpreadingPriority', 'weight': 7}],
        'extenders': [{'URLPrefix': 'http://x', 'FilterVerb': 'f', 'httpTimeout': 5, 'odd': 1}]}"}}"#;
    let config = parse("v1.20.15", &text.replace('\n', " ")).unwrap();
    assert_eq!(filters(&config), [P::NodeUnschedulable, P::NodePorts, P::TaintToleration, P::NodeLabel]);
    assert_eq!(scores(&config), [(P::NodeLabel, 6), (P::PodTopologySpread, 7)]);
    assert_eq!(config.profiles[0].not_emulated.len(), 1);
}

#[test]
fn a_policy_that_upstream_refuses_is_refused() {
    let refused = |version: &str, rest: &str| {
        let text = format!(r#"{{"apiVersion":"v1","kind":"Policy",{rest}}}"#);
        parse(version, &text).err().unwrap_or_else(|| panic!("{rest} was accepted"))
    };
    for (rest, expected) in [
        (r#""predicates":[{"name":"Odd"}]"#, "predicate type not found for \"Odd\""),
        (r#""priorities":[{"name":"Odd","weight":1}]"#, "priority type not found for \"Odd\""),
        (r#""priorities":[{"name":"ImageLocalityPriority"}]"#, "should have a positive weight"),
        (r#""hardPodAffinitySymmetricWeight":101"#, "not in valid range [0-100]"),
        (r#""odd":1"#, "unknown field"),
    ] {
        let error = refused("v1.22.6", rest);
        assert!(error.contains(expected), "{error}");
    }
    assert!(refused("v1.24.4", r#""predicates":[]"#).contains("no kind"));
}
