//! A release of kube-scheduler: its default plugins with their weights, its feature gates, and the parts of it that tests
//! verify.

use serde::Serialize;
use strum::IntoEnumIterator as _;

use crate::analysis::ReleaseReport;
use crate::output::{Document, Lines};
use crate::release::{Emulated, Emulation, Gate, Knowledge, Part, Release, supported};
use crate::scheduler::{Config, PluginRef, may_extend};

/// The answer of `info`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Info {
    /// The version of this program.
    pub schedscope: &'static str,
    /// The release, and its parts that are not verified.
    pub release: ReleaseReport,
    /// The emulated minor versions, oldest first.
    pub knows: String,
    /// The apiVersions that a configuration may have in this release.
    pub config_api_versions: &'static [&'static str],
    /// The plugins of the default profile, in order.
    pub plugins: Vec<PluginInfo>,
    /// Plugins of the default profile that are not emulated.
    pub not_emulated: Vec<String>,
    /// The emulated feature gates.
    pub feature_gates: Vec<GateInfo>,
    /// The first and the last known patch of the minor version.
    pub known_patches: [String; 2],
    /// The changes that came with patches after the first known one, oldest first.
    pub patch_changes: Vec<ChangeInfo>,
    /// The changes from the minor version before, of a release that is not verified against its own code.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub new_since_minor: Vec<NoveltyInfo>,
}

/// A change from the minor version before.
#[derive(Clone, Debug, Serialize)]
pub struct NoveltyInfo {
    /// How it is known.
    pub known: Knowledge,
    /// The pull request of kubernetes/kubernetes, if it is one.
    pub number: Option<u32>,
    /// The change.
    pub about: &'static str,
}

/// A change of behaviour that came with a patch.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeInfo {
    /// The first patch that has it.
    pub since: String,
    /// The first patch that behaves otherwise again.
    pub until: Option<String>,
    /// Whether the release has it.
    pub has: bool,
    /// The issue or pull request of kubernetes/kubernetes, if known.
    pub number: Option<u32>,
    /// The behaviour since then.
    pub about: &'static str,
    /// The patches that have it, in text.
    #[serde(skip)]
    patches: String,
}

/// A plugin of the default profile.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PluginInfo {
    pub name: &'static str,
    /// The extension points that it implements.
    pub extension_points: Vec<&'static str>,
    /// Its weight; `None` without a Score.
    pub weight: Option<i64>,
}

/// A feature gate.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GateInfo {
    pub name: String,
    /// Its default in this release.
    pub enabled: bool,
    /// Its effect.
    pub about: &'static str,
}

impl Info {
    /// Reports the defaults of a release.
    pub fn of(emulated: Emulated) -> Self {
        let emulation = Emulation::from(emulated.profile);
        let config = Config::defaults(emulation);
        let scored = |plugin: &PluginRef| config.profiles.iter().flat_map(|p| &p.score).find(|(s, _)| s.name() == plugin.name());
        let plugins = config.profiles.iter().flat_map(|p| &p.all).map(|plugin| PluginInfo {
            name: plugin.name().as_str(),
            extension_points: extension_points(plugin, emulation),
            weight: scored(plugin).map(|(_, weight)| *weight),
        });
        Self {
            schedscope: env!("CARGO_PKG_VERSION"),
            release: ReleaseReport::of(emulated, &Part::iter().collect::<Vec<_>>()),
            knows: supported(),
            config_api_versions: emulated.profile.config_api_versions,
            plugins: plugins.collect(),
            not_emulated: config.profiles.iter().flat_map(|p| &p.not_emulated).map(|(name, _)| name.clone()).collect(),
            feature_gates: Gate::iter()
                .map(|gate| GateInfo { name: gate.to_string(), enabled: emulation.enabled(gate), about: gate.describe() })
                .collect(),
            new_since_minor: emulated
                .profile
                .novelties
                .iter()
                .map(|n| NoveltyInfo { known: n.known, number: n.number, about: n.about })
                .collect(),
            known_patches: emulated.profile.known_patches().map(Release::number),
            patch_changes: emulated
                .profile
                .changes()
                .iter()
                .map(|change| ChangeInfo {
                    since: change.since.number(),
                    until: change.until.map(Release::number),
                    has: emulated.profile.has(change),
                    number: change.number,
                    about: change.about,
                    patches: change.to_string(),
                })
                .collect(),
        }
    }

    /// Returns the changes that came with patches of the minor version as text.
    pub fn patches_text(&self) -> Lines {
        let mut out = Lines::default();
        let [first, last] = &self.known_patches;
        out.blank();
        if self.patch_changes.is_empty() {
            out.line(format_args!("no change of decisions is known in the patches {first} to {last}"));
            return out;
        }
        out.line(format_args!("changes in the patches {first} to {last}"));
        for change in &self.patch_changes {
            let state = if change.has { "yes" } else { "no" };
            let number = change.number.map_or_else(String::new, |number| format!(" (kubernetes/kubernetes#{number})"));
            out.line(format_args!("  {:<18} {state:<4} {}{number}", change.patches, change.about));
        }
        out
    }

    /// Adds the changes from the minor version before, with how they are known.
    fn novelties_text(&self, out: &mut Lines) {
        if self.new_since_minor.is_empty() {
            return;
        }
        out.blank();
        out.push("changes from the version before; none was verified against its own code");
        for change in &self.new_since_minor {
            let number = change.number.map_or_else(String::new, |number| format!(" (kubernetes/kubernetes#{number})"));
            out.line(format_args!("  {:<22} {}{number}", change.known.words(), change.about));
        }
    }

    /// Returns the report as a document without a title.
    pub fn document(&self) -> Document {
        let mut out = Document::default();
        out.paragraph(format!("Version {}; emulates {}.", self.schedscope, self.release.sentence()));
        out.paragraph(format!("Supports {}. Reads configurations of {}.", self.knows, self.config_api_versions.join(", ")));
        if !self.new_since_minor.is_empty() {
            out.heading(2, "Changes from the version before");
            out.paragraph("None was verified against its own code.");
            let row = |change: &NoveltyInfo| {
                let number = change.number.map_or_else(String::new, |number| format!("kubernetes/kubernetes#{number}"));
                vec![change.about.to_owned(), change.known.words().to_owned(), number]
            };
            out.table(["Change", "Known", "Pull request"], self.new_since_minor.iter().map(row));
        }
        out.heading(2, "Plugins of the default profile");
        let row = |plugin: &PluginInfo| {
            vec![
                plugin.name.to_owned(),
                plugin.extension_points.join(", "),
                plugin.weight.map_or_else(String::new, |weight| weight.to_string()),
            ]
        };
        let missing = self.not_emulated.iter().map(|name| vec![name.clone(), "not emulated yet".to_owned()]);
        out.table(["Plugin", "Extension points", "Weight"], self.plugins.iter().map(row).chain(missing));
        out.heading(2, "Feature gates");
        out.paragraph("They are set with --feature-gates.");
        let row = |gate: &GateInfo| vec![gate.name.clone(), if gate.enabled { "on" } else { "off" }.to_owned(), gate.about.to_owned()];
        out.table(["Gate", "State", "Effect"], self.feature_gates.iter().map(row));
        out
    }

    /// Returns the report as text.
    pub fn text(&self) -> Lines {
        let mut out = Lines::default();
        out.line(format_args!("schedscope {}", self.schedscope));
        out.line(format_args!("emulates {}", self.release.sentence()));
        out.line(format_args!("supports {}", self.knows));
        out.line(format_args!("reads configurations of {}", self.config_api_versions.join(", ")));
        self.novelties_text(&mut out);
        out.blank();
        out.push("plugins of the default profile");
        for plugin in &self.plugins {
            let weight = plugin.weight.map_or_else(String::new, |weight| format!(" (weight {weight})"));
            out.line(format_args!("  {:<32} {}{weight}", plugin.name, plugin.extension_points.join(", ")));
        }
        for name in &self.not_emulated {
            out.line(format_args!("  {name:<32} not emulated yet"));
        }
        out.blank();
        out.push("feature gates (set with --feature-gates)");
        for gate in &self.feature_gates {
            let state = if gate.enabled { "on" } else { "off" };
            out.line(format_args!("  {:<42} {state:<4} {}", gate.name, gate.about));
        }
        out
    }
}

fn extension_points(plugin: &PluginRef, emulation: Emulation) -> Vec<&'static str> {
    let points = [
        ("PreEnqueue", "preEnqueue", plugin.pre_enqueue().is_some()),
        ("QueueSort", "queueSort", plugin.sorts_queue()),
        ("PreFilter", "preFilter", plugin.pre_filter().is_some()),
        ("Filter", "filter", plugin.filter().is_some()),
        ("PostFilter", "postFilter", plugin.post_filter().is_some()),
        ("PreScore", "preScore", plugin.pre_score().is_some()),
        ("Score", "score", plugin.score().is_some()),
        ("Reserve", "reserve", plugin.reserve().is_some()),
        ("Permit", "permit", plugin.permit().is_some()),
        ("PreBind", "preBind", plugin.pre_bind().is_some()),
        ("Bind", "bind", plugin.binds()),
    ];
    let has = |(_, key, has): &(&str, &str, bool)| *has && may_extend(plugin.name(), key, emulation);
    points.into_iter().filter(has).map(|(name, ..)| name).collect()
}
