use super::*;
use crate::release::Profile;

fn weights(config: &Config) -> Vec<(PluginName, i64)> {
    config.profiles[0].score.iter().map(|(p, weight)| (p.name(), *weight)).collect()
}

#[test]
fn weights_and_plugins_change_in_every_profile_and_stay_in_another_release() {
    let text = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{schedulerName: a}, {schedulerName: b}]\n";
    let config = Config::parse(text, Emulation::default()).unwrap();
    let heavy = config.edited(&ConfigEdit::Weights(vec![(PluginName::NodeResourcesFit, 7)])).unwrap();
    let off = heavy.edited(&ConfigEdit::PluginOff(PluginName::TaintToleration)).unwrap();
    let older = off.of_release(Profile::named("v1.33.0").unwrap().into()).unwrap();
    for config in [&off, &older] {
        for profile in &config.profiles {
            let fit = profile.score.iter().find(|(p, _)| p.name() == PluginName::NodeResourcesFit).map(|(_, weight)| *weight);
            assert_eq!(fit, Some(7));
            let lists = [&profile.filter, &profile.pre_score, &profile.all, &profile.pre_filter];
            assert!(lists.iter().all(|list| list.iter().all(|p| p.name() != PluginName::TaintToleration)));
            assert!(profile.score.iter().all(|(p, _)| p.name() != PluginName::TaintToleration));
        }
    }
    assert_eq!(weights(&config).iter().find(|(p, _)| *p == PluginName::NodeResourcesFit).map(|(_, w)| *w), Some(1), "as it was");
}

#[test]
fn gates_keep_the_edits_before_them() {
    let config = Config::defaults(Emulation::default());
    let off = config.edited(&ConfigEdit::PluginOff(PluginName::ImageLocality)).unwrap();
    let gated = off.edited(&ConfigEdit::Gates("SchedulerAsyncPreemption=false".into())).unwrap();
    assert!(gated.emulation.gate_changes().contains("SchedulerAsyncPreemption=false"));
    assert!(gated.profiles[0].all.iter().all(|p| p.name() != PluginName::ImageLocality));
    let again = gated.edited(&ConfigEdit::Gates("SchedulerAsyncPreemption=false".into()));
    assert_eq!(again.err(), Some(ConfigEditError::Unchanged));
}

#[test]
fn what_the_scheduler_would_not_start_with_is_refused() {
    let config = Config::defaults(Emulation::default());
    let refused = |edit: ConfigEdit| config.edited(&edit).expect_err("refused");
    let off = |plugin| refused(ConfigEdit::PluginOff(plugin));
    let weight = |plugin, weight| refused(ConfigEdit::Weights(vec![(plugin, weight)]));
    assert_eq!(off(PluginName::PrioritySort), ConfigEditError::Required(PluginName::PrioritySort));
    assert_eq!(off(PluginName::DefaultBinder), ConfigEditError::Required(PluginName::DefaultBinder));
    assert_eq!(off(PluginName::CheckNodeCondition), ConfigEditError::NotEnabled(PluginName::CheckNodeCondition));
    assert_eq!(weight(PluginName::NodeName, 2), ConfigEditError::NotScoring(PluginName::NodeName));
    assert_eq!(weight(PluginName::CheckNodeCondition, 2), ConfigEditError::NotEnabled(PluginName::CheckNodeCondition));
    assert_eq!(weight(PluginName::NodeResourcesFit, 0), ConfigEditError::Weight(PluginName::NodeResourcesFit));
    assert_eq!(weight(PluginName::NodeResourcesFit, 1), ConfigEditError::Unchanged);
    assert!(matches!(refused(ConfigEdit::Gates("NoSuchGate=true".into())), ConfigEditError::Gates(_)));
}
