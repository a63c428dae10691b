//! `schedscope info`: what this program is and what it emulates.

use std::fmt::Write as _;

use strum::IntoEnumIterator as _;

use super::{Failure, print};
use crate::release::{Emulation, Gate};
use crate::scheduler::Config;

/// Prints it.
pub(super) fn run() -> Result<u8, Failure> {
    let emulation = Emulation::default();
    let mut out = format!(
        "schedscope {}\nemulates kube-scheduler {}\n\nplugins of the default profile\n",
        env!("CARGO_PKG_VERSION"),
        emulation.release()
    );
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
        let _ = writeln!(out, "  {:<32} {}", plugin.name().as_str(), points.join(", "));
    }
    for (name, _) in config.profiles.iter().flat_map(|p| &p.not_emulated) {
        let _ = writeln!(out, "  {name:<32} not emulated yet");
    }
    out.push_str("\nfeature gates (set with --feature-gates)\n");
    for gate in Gate::iter() {
        let state = if emulation.enabled(gate) { "on" } else { "off" };
        let _ = writeln!(out, "  {:<42} {state:<4} {}", gate.to_string(), gate.describe());
    }
    print(&out)
}
