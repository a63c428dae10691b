//! Builds the plugins of the profiles and sorts them by extension point; mirrors `NewFramework` in
//! `pkg/scheduler/framework/runtime/framework.go` and `pkg/scheduler/profile/profile.go`.
//!
//! kube-scheduler stops at the first error; this reports all of them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::file::{Plugin, PluginSet, Plugins, Profile};
use crate::cluster::Str;
use crate::framework::{FieldErrors, OutOfTree, PluginName};
use crate::plugins::registry::{self, Make};
use crate::release::{Emulation, PluginOrder};
use crate::scheduler::runtime::{Framework, PluginRef};

/// An extension point.
struct Point {
    /// Its name in a configuration.
    key: &'static str,
    /// The Go interface of plugins at this point.
    interface: &'static str,
    /// Whether a plugin implements the interface.
    extends: fn(&PluginRef) -> bool,
}

/// All extension points, in kube-scheduler's order.
static POINTS: [Point; 14] = [
    Point { key: "preFilter", interface: "PreFilterPlugin", extends: |p| p.pre_filter().is_some() },
    Point { key: "filter", interface: "FilterPlugin", extends: |p| p.filter().is_some() },
    Point { key: "postFilter", interface: "PostFilterPlugin", extends: |p| p.post_filter().is_some() },
    Point { key: "reserve", interface: "ReservePlugin", extends: |p| p.reserve().is_some() },
    Point { key: "preScore", interface: "PreScorePlugin", extends: |p| p.pre_score().is_some() },
    Point { key: "score", interface: "ScorePlugin", extends: |p| p.score().is_some() },
    Point { key: "preBind", interface: "PreBindPlugin", extends: |p| p.pre_bind().is_some() },
    Point { key: "bind", interface: "BindPlugin", extends: |p| p.binds() },
    Point { key: "postBind", interface: "PostBindPlugin", extends: |_| false },
    Point { key: "permit", interface: "PermitPlugin", extends: |p| p.permit().is_some() },
    Point { key: "preEnqueue", interface: "PreEnqueuePlugin", extends: |p| p.pre_enqueue().is_some() },
    Point { key: "queueSort", interface: "QueueSortPlugin", extends: |p| p.sorts_queue() },
    Point { key: "placementGenerate", interface: "PlacementGeneratePlugin", extends: |p| p.placement_generate().is_some() },
    Point { key: "placementScore", interface: "PlacementScorePlugin", extends: |p| p.placement_score().is_some() },
];

/// Points at which no plugin affects the placement of a single pod.
const WITHOUT_SAY: [&str; 3] = ["postBind", "placementGenerate", "placementScore"];

/// The meaning of a plugin name in a configuration.
#[derive(Clone)]
enum PluginRefKind {
    /// An emulated plugin.
    Known(PluginRef),
    /// A plugin of kube-scheduler at these points that is not emulated.
    PodGroup(&'static [&'static str]),
    /// An out-of-tree plugin, which may implement any point.
    Elsewhere,
    /// No plugin, or one whose arguments are invalid.
    Nothing,
}

/// Returns the frameworks of the profiles; adds errors to `errors`.
pub(super) fn build(
    api_version: &str,
    profiles: &[Profile],
    emulation: Emulation,
    out_of_tree: &OutOfTree,
    errors: &mut FieldErrors,
) -> Vec<Framework> {
    let profiles: Vec<Profile> = profiles.iter().map(|profile| with_out_of_tree(profile, out_of_tree)).collect();
    let mut first: Option<(Sort, Option<&Value>)> = None;
    let mut frameworks = Vec::new();
    for (i, profile) in profiles.iter().enumerate() {
        let name = profile.scheduler_name.as_deref().unwrap_or_default();
        let path = format!("profiles[{i}]");
        let mut builder = Builder {
            profile,
            api_version,
            emulation,
            out_of_tree,
            path: path.clone(),
            plugins: BTreeMap::new(),
            framework: Framework::default(),
            errors,
        };
        let sort = builder.build(name);
        frameworks.push(builder.framework);
        let Some(sort) = sort else { continue };
        let args = profile.plugin_config.iter().find(|c| c.name == sort.name).and_then(|c| c.args.as_ref());
        let Some((first, first_args)) = &first else {
            first = Some((sort, args));
            continue;
        };
        // One queue serves all profiles. Two out-of-tree plugins might not sort the queue at all.
        if sort.name != first.name && (sort.certain || first.certain) {
            let message = format!("different queue sort plugins for profile {name:?}: {:?}, first: {:?}", sort.name, first.name);
            errors.add(format!("{path}.plugins.queueSort"), message);
        } else if sort.name == first.name && args != *first_args {
            errors.add(format!("{path}.pluginConfig"), format!("different queue sort plugin args for profile {name:?}"));
        }
    }
    frameworks
}

/// Enables out-of-tree plugins at all their points, behind the others, in a profile that says nothing about them.
fn with_out_of_tree(profile: &Profile, out_of_tree: &OutOfTree) -> Profile {
    let mut profile = profile.clone();
    let mut multi_point = profile.plugins.at("multiPoint").clone();
    let is_named = |name: &str| profile.plugins.enables(name) || multi_point.disables(name) || multi_point.disables("*");
    let unnamed: Vec<String> = out_of_tree.names().map(|name| name.to_string()).filter(|name| !is_named(name)).collect();
    if !unnamed.is_empty() {
        multi_point.enabled.extend(unnamed.into_iter().map(|name| Plugin { name, weight: 0 }));
        profile.plugins.set("multiPoint", multi_point);
    }
    profile
}

/// The queue sort plugin.
struct Sort {
    name: String,
    /// Whether it sorts for certain; otherwise it may, since no other plugin does.
    certain: bool,
}

/// Returns the plugins of an extension point in the order in which a release runs them: those that the point lists, some
/// of which override a plugin of multiPoint, and those that only multiPoint implies.
fn in_order<'a>(order: PluginOrder, listed: &[&'a str], overriding: &[&str], implied: &[&'a str]) -> Vec<&'a str> {
    let overrides = |name: &&&str| overriding.contains(*name);
    match order {
        PluginOrder::ImpliedLast => listed.iter().chain(implied).copied().collect(),
        PluginOrder::OverridesFirst => {
            let others = listed.iter().filter(|name| !overrides(name));
            listed.iter().filter(overrides).chain(implied).chain(others).copied().collect()
        }
        PluginOrder::OverridesMixedUp => {
            // The loop goes on over the array from which it deletes.
            let (mut array, mut left) = (listed.to_vec(), listed.len());
            let mut names = Vec::with_capacity(listed.len() + implied.len());
            for at in 0..array.len() {
                let name = array[at];
                if overriding.contains(&name) {
                    names.push(name);
                    if let Some(place) = array[..left].iter().position(|other| *other == name) {
                        array.copy_within(place + 1..left, place);
                        left -= 1;
                    }
                }
            }
            names.into_iter().chain(implied.iter().copied()).chain(array[..left].iter().copied()).collect()
        }
    }
}

struct Builder<'a> {
    profile: &'a Profile,
    api_version: &'a str,
    emulation: Emulation,
    out_of_tree: &'a OutOfTree,
    path: String,
    plugins: BTreeMap<String, PluginRefKind>,
    framework: Framework,
    errors: &'a mut FieldErrors,
}

impl<'a> Builder<'a> {
    /// Fills the framework; returns the queue sort plugin, if there is one.
    fn build(&mut self, name: &str) -> Option<Sort> {
        let multi_point = self.profile.plugins.at("multiPoint");
        for plugin in multi_point.enabled_names() {
            self.meant(plugin, "multiPoint");
        }
        let mut repeated: Vec<&str> = Vec::new();
        let mut lists: BTreeMap<&str, Vec<PluginRef>> = POINTS.iter().map(|point| (point.key, self.expand(point, &mut repeated))).collect();
        let mut take = |key: &str| lists.remove(key).unwrap_or_default();
        let score = take("score");
        let (placement_generate, placement_score) = (take("placementGenerate"), take("placementScore"));
        let weights = self.weights("score", |plugin| plugin.score().is_some(), multi_point);
        let placement_weights = self.weights("placementScore", |plugin| plugin.placement_score().is_some(), multi_point);
        let sorts = self.count("queueSort", take("queueSort"));
        let binds = self.count("bind", take("bind"));
        let f = &mut self.framework;
        f.name = Str::from(name);
        f.filters = self.emulation.behaviour().cycle.filters;
        f.percentage_of_nodes_to_score = self.profile.percentage_of_nodes_to_score;
        f.pre_enqueue = take("preEnqueue");
        f.pre_filter = take("preFilter");
        f.filter = take("filter");
        f.post_filter = take("postFilter");
        f.pre_score = take("preScore");
        f.reserve = take("reserve");
        f.permit = take("permit");
        f.pre_bind = take("preBind");
        let weight = |plugin: &PluginRef| weights.get(&plugin.name()).copied().unwrap_or(1);
        f.score = score.into_iter().map(|plugin| (plugin.clone(), weight(&plugin))).collect();
        let weight = |plugin: &PluginRef| placement_weights.get(&plugin.name()).copied().unwrap_or(1);
        f.placement_score = placement_score.into_iter().map(|plugin| (plugin.clone(), weight(&plugin))).collect();
        f.placement_generate.clone_from(&placement_generate);
        self.check(name, &sorts, &binds, placement_generate);
        let sure = sorts.names.into_iter().next().map(|name| Sort { name, certain: true });
        sure.or_else(|| sorts.maybe.map(|name| Sort { name, certain: false }))
    }

    fn check(&mut self, name: &str, sorts: &Count, binds: &Count, placement_generate: Vec<PluginRef>) {
        let plugins = format!("{}.plugins", self.path);
        let of = format!("for profile with scheduler name {name:?}");
        let sorting = sorts.names.len();
        if sorting > 1 || sorting == 0 && sorts.maybe.is_none() {
            let message = format!("only one queue sort plugin required {of}, but got {sorting}");
            self.errors.add(format!("{plugins}.queueSort"), message);
        }
        if binds.names.is_empty() && binds.maybe.is_none() {
            self.errors.add(format!("{plugins}.bind"), format!("at least one bind plugin is needed {of}"));
        }
        if self.count("placementGenerate", placement_generate).names.len() > 1 {
            let message = format!("at most one placement generate plugin is allowed {of}");
            self.errors.add(format!("{plugins}.placementGenerate"), message);
        }
    }

    /// Returns the meaning of a name; builds the plugin at its first use.
    fn meant(&mut self, name: &str, point: &'static str) -> PluginRefKind {
        let met = self.plugins.get(name).cloned();
        let meant = met.unwrap_or_else(|| {
            let meant = self.make(name, point);
            self.plugins.insert(name.to_owned(), meant.clone());
            meant
        });
        let emulated = match meant {
            PluginRefKind::Known(_) | PluginRefKind::Nothing => true,
            // The points of these plugins are known.
            PluginRefKind::PodGroup(points) => !points.contains(&point),
            PluginRefKind::Elsewhere => false,
        };
        if !emulated && !WITHOUT_SAY.contains(&point) {
            match self.framework.not_emulated.iter_mut().find(|(n, _)| n == name) {
                Some((_, points)) if points.contains(&point) => {}
                Some((_, points)) => points.push(point),
                None => self.framework.not_emulated.push((name.to_owned(), vec![point])),
            }
        }
        meant
    }

    fn make(&mut self, name: &str, point: &'static str) -> PluginRefKind {
        if self.emulation.profile().removed(self.api_version, name).is_some() || matches!(name, "" | "*") {
            let interface = POINTS.iter().find(|p| p.key == point).unwrap_or(&POINTS[0]).interface;
            self.errors.add(format!("{}.plugins.{point}", self.path), format!("{interface} {name:?} does not exist"));
            return PluginRefKind::Nothing;
        }
        let make: &dyn Fn(Option<&Value>, Emulation) -> _ = match registry::find(name, self.emulation).map(|row| row.make) {
            Some(Make::Plugin(make)) => &{ make },
            Some(Make::NotEmulated(points)) => return PluginRefKind::PodGroup(points),
            None => match self.out_of_tree.find(name) {
                Some(make) => &**make,
                None => return PluginRefKind::Elsewhere,
            },
        };
        let config = self.profile.plugin_config.iter().enumerate().find(|(_, c)| c.name == name);
        let args: Option<&Value> = config.and_then(|(_, c)| c.args.as_ref());
        match make(args, self.emulation) {
            Ok(plugin) => {
                self.framework.all.push(plugin.clone());
                PluginRefKind::Known(plugin)
            }
            Err(errors) => {
                let at = config.map(|(i, _)| format!("[{i}]")).unwrap_or_default();
                self.errors.extend_at(&format!("{}.pluginConfig{at}.args", self.path), errors);
                PluginRefKind::Nothing
            }
        }
    }

    /// Returns the plugins of one extension point in execution order; mirrors `updatePluginList` and
    /// `expandMultiPointPlugins`.
    ///
    /// `repeated` collects names that multiPoint contains twice.
    fn expand(&mut self, point: &'static Point, repeated: &mut Vec<&'a str>) -> Vec<PluginRef> {
        let plugins: &'a Plugins = &self.profile.plugins;
        let (set, multi_point) = (plugins.at(point.key), plugins.at("multiPoint"));
        let path = format!("{}.plugins.{}", self.path, point.key);
        let twice = |name: &str| format!("plugin {name:?} already registered as {:?}", point.interface);
        let mut explicit: Vec<&str> = Vec::new();
        for (i, name) in set.enabled_names().enumerate() {
            let extends = match self.meant(name, point.key) {
                PluginRefKind::Known(plugin) => self.extends(&plugin, point),
                PluginRefKind::PodGroup(points) => points.contains(&point.key),
                PluginRefKind::Elsewhere | PluginRefKind::Nothing => true,
            };
            let path = format!("{path}.enabled[{i}]");
            if !extends {
                self.errors.add(path, format!("plugin {name:?} does not extend {} plugin", point.interface));
            } else if explicit.contains(&name) {
                self.errors.add(path, twice(name));
            } else {
                explicit.push(name);
            }
        }
        let mut implied: Vec<&str> = Vec::new();
        let mut overridden: Vec<&str> = Vec::new();
        let all_disabled = set.disables("*");
        for name in multi_point.enabled_names().filter(|name| !all_disabled && !set.disables(name)) {
            let extends = match self.meant(name, "multiPoint") {
                PluginRefKind::Known(plugin) => self.extends(&plugin, point),
                PluginRefKind::PodGroup(points) => {
                    let extends = points.contains(&point.key);
                    if extends {
                        self.meant(name, point.key);
                    }
                    extends
                }
                // An out-of-tree plugin may implement the point.
                PluginRefKind::Elsewhere => true,
                PluginRefKind::Nothing => false,
            };
            if !extends {
                continue;
            }
            if explicit.contains(&name) {
                overridden.push(name);
            } else if implied.contains(&name) {
                // A plugin enabled twice is so at every point; kube-scheduler reports the first.
                if !repeated.contains(&name) {
                    self.errors.add(format!("{}.plugins.multiPoint", self.path), twice(name));
                }
                repeated.push(name);
            } else {
                implied.push(name);
            }
        }
        let known = |name: &str| match self.plugins.get(name) {
            Some(PluginRefKind::Known(plugin)) => Some(plugin.clone()),
            _ => None,
        };
        let names = in_order(self.emulation.behaviour().cycle.plugin_order, &explicit, &overridden, &implied);
        names.into_iter().filter_map(known).collect()
    }

    /// Whether a plugin implements a point in this release.
    fn extends(&self, plugin: &PluginRef, point: &Point) -> bool {
        (point.extends)(plugin) && registry::may_extend(plugin.name(), point.key, self.emulation)
    }

    /// Returns the plugins that implement a point, and whether others might.
    fn count(&self, point: &str, known: Vec<PluginRef>) -> Count {
        let set = self.profile.plugins.at(point);
        let mut names: Vec<String> = known.into_iter().map(|p| p.name().as_str().to_owned()).collect();
        let mut maybe = None;
        for name in
            set.enabled_names().filter(|n| matches!(self.plugins.get(*n), Some(PluginRefKind::Elsewhere | PluginRefKind::PodGroup(_))))
        {
            names.push(name.to_owned());
        }
        for name in self.profile.plugins.at("multiPoint").enabled_names().filter(|n| !set.disables("*") && !set.disables(n)) {
            match self.plugins.get(name) {
                Some(PluginRefKind::PodGroup(points)) if points.contains(&point) && !names.iter().any(|n| n == name) => {
                    names.push(name.to_owned());
                }
                Some(PluginRefKind::Elsewhere) if maybe.is_none() => maybe = Some(name.to_owned()),
                _ => {}
            }
        }
        Count { names, maybe }
    }

    /// Returns the weights of score plugins. A weight at the extension point overrides that of multiPoint; zero or none
    /// means 1. Mirrors `getValidScoreWeights`.
    fn weights(&mut self, point: &str, scores: fn(&PluginRef) -> bool, multi_point: &PluginSet) -> BTreeMap<PluginName, i64> {
        let score_max = self.emulation.behaviour().cycle.score_max;
        let mut weights = BTreeMap::new();
        let mut total: i64 = 0;
        for plugin in self.profile.plugins.at(point).enabled.iter().chain(&multi_point.enabled) {
            let Some(PluginRefKind::Known(known)) = self.plugins.get(&plugin.name) else { continue };
            if !scores(known) || weights.contains_key(&known.name()) {
                continue;
            }
            let weight = if plugin.weight == 0 { 1 } else { i64::from(plugin.weight) };
            weights.insert(known.name(), weight);
            // Weights are too small for the limit, but after a negative weight the difference wraps around in Go.
            if weight * score_max > i64::MAX.wrapping_sub(total) {
                let of = if point == "score" { "score" } else { "placement score" };
                let message = format!("{of} plugins: total score of Score plugins could overflow");
                self.errors.add(format!("{}.plugins.{point}", self.path), message);
                break;
            }
            total += weight * score_max;
        }
        weights
    }
}

/// The plugins at a point.
struct Count {
    /// Those that implement it.
    names: Vec<String>,
    /// The first plugin that might implement it as well.
    maybe: Option<String>,
}

#[cfg(test)]
mod tests;
