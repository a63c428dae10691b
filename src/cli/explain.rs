//! `schedscope explain`: one pod's decision.

use super::args::{ExplainArgs, Output};
use super::{EXIT_NO_FIT, EXIT_OK, Failure, print};
use crate::cluster::{Key, Kind};
use crate::report::{Decision, text};
use crate::scheduler::Evictions;
use crate::source::Loaded;
use crate::trace::{CycleView, Outcome};

/// Decides and prints.
pub(super) fn run(args: &ExplainArgs) -> Result<u8, Failure> {
    let mut loaded = super::load(&super::inputs(&args.source)?, &args.limits.limits())?;
    loaded.report.forget_origins();
    let scheduler = super::scheduler(&args.scheduler, &mut loaded, Evictions::AtOnce)?;
    let name = args.pod.strip_prefix("pod/").unwrap_or(&args.pod);
    let key = Key::new(args.namespace.as_str(), name);
    let pod = scheduler.state().cluster().pods.get(&key).ok_or_else(|| Failure::usage(format!("pod {key} is not in the source")))?;
    if !pod.node_name.is_empty() {
        return Err(Failure::usage(format!("pod {key} is not pending: it is bound to {}", pod.node_name)));
    }
    if pod.is_terminal() {
        return Err(Failure::usage(format!("pod {key} is not pending: its phase is {}", pod.status.phase)));
    }
    let view = CycleView::of(&scheduler.explain(pod));
    print(&match args.output {
        Output::Text => text(&view) + &unknown(&view, &loaded),
        Output::Wide => text(&view) + &unknown(&view, &loaded) + &super::completeness(&loaded),
        Output::Markdown => format!("### {key}\n\n```\n{}{}```\n", text(&view), unknown(&view, &loaded)),
        Output::Json => super::json(&Decision::of(&view))? + "\n",
        Output::Yaml => serde_yaml::to_string(&Decision::of(&view)).map_err(|e| Failure::source(e.to_string()))?,
    })?;
    Ok(if view.outcome == Some(Outcome::Scheduled) { EXIT_OK } else { EXIT_NO_FIT })
}

/// What the answer cannot know for want of objects in the source.
fn unknown(view: &CycleView, loaded: &Loaded) -> String {
    let preempts = view.preemption.as_ref().is_some_and(|p| !p.candidates.is_empty());
    let absent = loaded.report.absent.iter().find(|a| a.kind == Kind::PodDisruptionBudget).filter(|_| preempts);
    absent.map_or_else(String::new, |a| format!("\nUNKNOWN\n  {}\n", a.effect))
}
