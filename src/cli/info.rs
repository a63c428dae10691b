//! `schedscope info`: what this program is and what it emulates.

use strum::IntoEnumIterator as _;

use super::args::InfoArgs;
use super::{Failure, print};
use crate::output::Lines;
use crate::release::{Emulation, Gate, supported};
use crate::scheduler::Config;

/// Prints it.
pub(super) fn run(args: &InfoArgs) -> Result<u8, Failure> {
    let profile = super::emulate::profile(args.emulate);
    let emulation = Emulation::from(profile);
    let mut out = Lines::default();
    out.line(format_args!("schedscope {}", env!("CARGO_PKG_VERSION")));
    let answers_for = args.emulate.map(super::emulate::answers_for).unwrap_or_default();
    out.line(format_args!("emulates kube-scheduler {}{answers_for}", emulation.release()));
    let not_verified: Vec<String> = profile.not_verified().map(|part| part.to_string()).collect();
    if !not_verified.is_empty() {
        out.line(format_args!("not verified against it: {}", not_verified.join(", ")));
    }
    out.line(format_args!("knows {}", supported()));
    out.blank();
    out.push("plugins of the default profile");
    let config = Config::defaults(emulation);
    for plugin in config.profiles.iter().flat_map(|p| &p.all) {
        let points = [
            ("PreEnqueue", plugin.pre_enqueue().is_some()),
            ("QueueSort", plugin.sorts_queue()),
            ("PreFilter", plugin.pre_filter().is_some()),
            ("Filter", plugin.filter().is_some()),
            ("PostFilter", plugin.post_filter().is_some()),
            ("PreScore", plugin.pre_score().is_some()),
            ("Score", plugin.score().is_some()),
            ("Reserve", plugin.reserve().is_some()),
            ("Permit", plugin.permit().is_some()),
            ("PreBind", plugin.pre_bind().is_some()),
            ("Bind", plugin.binds()),
        ];
        let points: Vec<&str> = points.into_iter().filter(|(_, has)| *has).map(|(name, _)| name).collect();
        let weight = config.profiles.iter().flat_map(|p| &p.score).find(|(scored, _)| scored.name() == plugin.name());
        let weight = weight.map_or_else(String::new, |(_, weight)| format!(" (weight {weight})"));
        out.line(format_args!("  {:<32} {}{weight}", plugin.name().as_str(), points.join(", ")));
    }
    for (name, _) in config.profiles.iter().flat_map(|p| &p.not_emulated) {
        out.line(format_args!("  {name:<32} not emulated yet"));
    }
    out.blank();
    out.push("feature gates (set with --feature-gates)");
    for gate in Gate::iter() {
        let state = if emulation.enabled(gate) { "on" } else { "off" };
        out.line(format_args!("  {:<42} {state:<4} {}", gate.to_string(), gate.describe()));
    }
    print(&out.into())
}
