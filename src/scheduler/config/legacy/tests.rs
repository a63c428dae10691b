use super::*;
use crate::release::Profile;
use crate::scheduler::runtime::PluginRef;

fn emulation(release: &str) -> Emulation {
    Profile::named(release).unwrap().into()
}

fn names<'p>(plugins: impl IntoIterator<Item = &'p PluginRef>) -> Vec<&'static str> {
    plugins.into_iter().map(|plugin| plugin.name().as_str()).collect()
}

fn read(text: &str) -> Framework {
    Config::parse(text, emulation("v1.12.0")).unwrap().profiles.remove(0)
}

fn refused(text: &str) -> String {
    Config::parse(text, emulation("v1.12.0")).unwrap_err().to_string()
}

#[test]
fn releases_have_their_own_defaults() {
    for (release, predicates, priorities) in [("v1.12.0", 13, 8), ("v1.11.1", 12, 7)] {
        let config = Config::defaults(emulation(release));
        let framework = &config.profiles[0];
        assert_eq!((framework.filter.len(), framework.score.len()), (predicates, priorities), "{release}");
        assert_eq!(names(&framework.filter)[..3], ["CheckNodeCondition", "GeneralPredicates", "NoDiskConflict"]);
        assert_eq!(framework.score.iter().map(|(_, weight)| *weight).max(), Some(10_000));
        assert_eq!((&*framework.name, framework.filters), ("default-scheduler", FilterRun::UntilRejection));
        assert_eq!(names(&framework.post_filter), ["Preempt"]);
    }
}

#[test]
fn taints_take_the_place_of_conditions() {
    let mut by_taints = emulation("v1.12.0");
    by_taints.set(Gate::TaintNodesByCondition, true);
    let config = Config::defaults(by_taints);
    let found = names(&config.profiles[0].filter);
    assert_eq!((found[0], found.len()), ("CheckNodeUnschedulable", 10));
    assert!(!found.iter().any(|name| name.ends_with("Pressure")), "{found:?}");
}

#[test]
fn a_configuration_is_read() {
    let framework = read(
        "apiVersion: componentconfig/v1alpha1\nkind: KubeSchedulerConfiguration\nschedulerName: own\ndisablePreemption: true\n\
         algorithmSource: {provider: ClusterAutoscalerProvider}\n",
    );
    assert_eq!((&*framework.name, framework.post_filter.len()), ("own", 0));
    let priorities = names(framework.score.iter().map(|(plugin, _)| plugin));
    assert!(priorities.contains(&"MostRequestedPriority") && !priorities.contains(&"LeastRequestedPriority"), "{priorities:?}");
    let config = |rest: &str| format!("apiVersion: componentconfig/v1alpha1\nkind: KubeSchedulerConfiguration\n{rest}");
    assert!(refused(&config("algorithmSource: {provider: Own}")).contains("\"Own\" has not been registered"));
    assert!(refused(&config("hardPodAffinitySymmetricWeight: 101")).contains("must be in the range 0-100"));
    assert!(refused("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n").contains("v1"));
    let elsewhere = read(&config("algorithmSource: {policy: {file: {path: /p}}}"));
    assert_eq!(elsewhere.not_emulated.len(), 1);
}

#[test]
fn a_policy_says_what_runs() {
    let framework = read(
        r#"{"kind": "Policy", "apiVersion": "v1", "alwaysCheckAllPredicates": true, "extenders": [{"urlPrefix": "http://e", "filterVerb": "f"}],
        "predicates": [{"name": "MatchInterPodAffinity"}, {"name": "PodFitsPorts"}, {"name": "PodFitsResources"},
            {"name": "CheckNodeLabelPresence", "argument": {"labelsPresence": {"labels": ["rack"], "presence": true}}},
            {"name": "Rack", "argument": {"labelsPresence": {"labels": ["rack"]}}}],
        "priorities": [{"name": "EqualPriority", "weight": 3}, {"name": "Mine", "weight": 2, "argument": {"labelPreference": {"label": "rack"}}}]}"#,
    );
    let predicates = ["CheckNodeCondition", "PodFitsResources", "CheckNodeLabelPresence", "MatchInterPodAffinity"];
    assert_eq!(names(&framework.filter), predicates);
    assert_eq!(framework.filters, FilterRun::All);
    let priorities: Vec<_> = framework.score.iter().map(|(plugin, weight)| (plugin.name().as_str(), *weight)).collect();
    assert_eq!(priorities, [("EqualPriority", 3), ("NodeLabelPriority", 2)]);
    assert_eq!(framework.not_emulated.len(), 1);
    let empty = read(r#"{"kind": "Policy", "predicates": [], "priorities": []}"#);
    assert_eq!((names(&empty.filter), empty.score.len()), (vec!["CheckNodeCondition"], 0));
    let absent = read("kind: Policy\n");
    assert_eq!((absent.filter.len(), absent.score.len()), (13, 8));
}

#[test]
fn a_policy_in_its_config_map_is_read() {
    let framework =
        read(r#"{"kind": "ConfigMap", "apiVersion": "v1", "data": {"policy.cfg": "{\"kind\": \"Policy\", \"predicates\": []}"}}"#);
    assert_eq!(framework.filter.len(), 1);
}

#[test]
fn what_a_policy_cannot_name_is_refused() {
    for (text, says) in [
        (r#"{"kind": "Policy", "predicates": [{"name": "Own"}]}"#, "Predicate type not found for Own"),
        (r#"{"kind": "Policy", "predicates": [{"name": "CheckServiceAffinity"}]}"#, "Predicate type not found for CheckServiceAffinity"),
        (r#"{"kind": "Policy", "predicates": [{"name": "Own", "argument": {}}]}"#, "Exactly 1 predicate argument is required"),
        (r#"{"kind": "Policy", "priorities": [{"name": "Own", "weight": 1}]}"#, "Priority type not found for Own"),
        (r#"{"kind": "Policy", "priorities": [{"name": "Own", "weight": 1, "argument": {}}]}"#, "Exactly 1 priority argument is required"),
        (r#"{"kind": "Policy", "priorities": [{"name": "EqualPriority"}]}"#, "should have a positive weight"),
    ] {
        assert!(refused(text).contains(says), "{text}: {}", refused(text));
    }
}
