//! Tests of `profile`.

use super::super::Config;
use super::*;

fn emulation(release: &str) -> Emulation {
    Emulation::from(crate::release::nearest(release.parse().unwrap()).profile)
}

fn scores(release: &str, listed: &[&str]) -> String {
    let listed: String = listed.iter().map(|name| format!("{{name: {name}}}, ")).collect();
    let text = format!(
        "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n\
         profiles: [{{plugins: {{score: {{enabled: [{listed}]}}}}}}]"
    );
    let config = Config::parse(&text, emulation(release)).unwrap();
    let names: Vec<&str> = config.profiles[0].score.iter().map(|(plugin, _)| plugin.name().as_str()).collect();
    names.join(" ").replace("NodeResources", "")
}

#[test]
fn three_overriding_plugins_were_mixed_up_once() {
    let listed = ["PodTopologySpread", "InterPodAffinity", "ImageLocality"];
    for (release, mixed_up) in [
        ("1.23.6", true),
        ("1.24.4", true),
        ("1.26.12", true),
        ("1.26.13", false),
        ("1.27.9", true),
        ("1.27.10", false),
        ("1.28.5", true),
        ("1.28.6", false),
    ] {
        let names = scores(release, &listed);
        let (first, last) = if mixed_up {
            ("PodTopologySpread ImageLocality ImageLocality ", "InterPodAffinity")
        } else {
            ("PodTopologySpread InterPodAffinity ImageLocality ", "")
        };
        assert!(names.starts_with(first) && names.ends_with(last), "{release}: {names}");
        assert_eq!(names.split(' ').count(), if mixed_up { 9 } else { 8 }, "{release}: {names}");
    }
}

#[test]
fn the_loop_that_deletes_from_its_list_repeats_and_leaves_over() {
    let names = |order, overriding: &[&str]| in_order(order, &["a", "x", "b"], overriding, &["c"]).join(" ");
    assert_eq!(names(PluginOrder::OverridesMixedUp, &[]), "c a x b");
    assert_eq!(names(PluginOrder::OverridesMixedUp, &["a"]), "a c x b");
    assert_eq!(names(PluginOrder::OverridesMixedUp, &["b", "x"]), "x b c a");
    assert_eq!(names(PluginOrder::OverridesMixedUp, &["a", "b"]), "a b b c x");
    assert_eq!(names(PluginOrder::OverridesMixedUp, &["a", "b", "x"]), "a b b c x");
    assert_eq!(names(PluginOrder::OverridesFirst, &["a", "b", "x"]), "a x b c");
    assert_eq!(names(PluginOrder::ImpliedLast, &["a", "b"]), "a x b c");
}

#[test]
fn plugins_extend_the_points_of_their_release() {
    let text = "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n\
                profiles: [{plugins: {preFilter: {enabled: [{name: VolumeZone}]}}}]";
    let error = Config::parse(text, emulation("1.26.4")).unwrap_err().to_string();
    assert!(error.contains("plugin \"VolumeZone\" does not extend PreFilterPlugin plugin"), "{error}");
    assert!(Config::parse(text, emulation("1.27.1")).is_ok());
}
