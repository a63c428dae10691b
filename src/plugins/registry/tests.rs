use strum::IntoEnumIterator as _;

use super::*;

/// Its gate is off by default in these releases.
#[test]
fn dynamic_resources_only_speaks_after_filter_while_it_is_off() {
    for (version, off) in [("1.26.4", true), ("1.30.1", true), ("1.33.0", true), ("1.34.1", false), ("1.25.4", false)] {
        let emulation: Emulation = crate::release::nearest(version.parse().unwrap()).profile.into();
        let of_release = |row: &&Row| row.name == PluginName::DynamicResources && row.releases.contains(emulation.release());
        let row = ROWS.iter().find(of_release);
        let made = row.and_then(|row| if let Make::Plugin(make) = row.make { make(None, emulation).ok() } else { None });
        let is_off = made.is_some_and(|plugin| plugin.post_filter().is_some() && plugin.pre_enqueue().is_none());
        assert_eq!(is_off, off, "{version}");
    }
}
use crate::release::{Gate, Profile};

#[test]
fn every_plugin_of_a_release_has_one_row() {
    for &release in Profile::all() {
        for name in PluginName::iter() {
            let rows = ROWS.iter().filter(|row| row.name == name && row.releases.contains(release.release)).count();
            assert!(rows <= 1, "{name}");
        }
        for api_version in release.config_api_versions {
            for (_, plugin) in release.plugins(api_version, |gate| gate != Gate::DefaultPodTopologySpread) {
                let row = find(plugin.name, Emulation::from(release));
                let has_row = matches!(row, Some(Row { make: Make::Plugin(_), .. }));
                assert!(has_row || plugin.name == "SelectorSpread", "{} of {}", plugin.name, release.release);
            }
        }
    }
    assert!(ROWS.is_sorted_by_key(|row| row.name));
    let in_tree = PluginName::iter().filter(|name| !name.is_out_of_tree());
    let unregistered: Vec<PluginName> = in_tree.filter(|name| ROWS.iter().all(|row| row.name != *name)).collect();
    assert_eq!(unregistered, [PluginName::Extender]);
}

#[test]
fn a_plugin_is_made_under_its_own_name() {
    for row in ROWS {
        let of_row = Profile::all().iter().copied().find(|p| row.releases.contains(p.release)).unwrap();
        let emulation = Emulation::from(of_row);
        match row.make {
            Make::Plugin(make) => {
                let needed = serde_json::json!({"shape": [{"utilization": 0, "score": 10}]});
                let args = (row.name == PluginName::RequestedToCapacityRatio).then_some(&needed);
                assert_eq!(make(args, emulation).unwrap().name(), row.name);
            }
            Make::NotEmulated(points) => assert!(!points.is_empty()),
        }
    }
}

#[test]
fn plugins_score_up_to_what_the_engine_accepts() {
    assert_eq!(crate::framework::MAX_NODE_SCORE, Emulation::default().behaviour().cycle.score_max);
}

#[test]
fn what_is_no_plugin_of_the_release_is_not_found() {
    for name in ["", "*", "Extender", "EBSLimits", "nodename", "Coscheduling"] {
        assert!(find(name, Emulation::default()).is_none(), "{name}");
    }
}
