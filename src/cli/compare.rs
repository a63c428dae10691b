//! `schedscope run --compare`: decides every pending pod as two releases would.

use std::sync::Arc;

use rayon::prelude::*;

use super::args::{RunArgs, SchedulerArgs};
use super::emulate::Emulate;
use super::{EXIT_NO_FIT, EXIT_OK, EXIT_SOURCE, Failure, StandardError, emulate, print};
use crate::analysis::{Missing, ReleaseReport, decision_parts};
use crate::cluster::Pod;
use crate::limits::engine::RUN_STEPS_OF_COMPARED;
use crate::output::{self, Document};
use crate::release::{Emulated, ReleaseChoice};
use crate::report::{Answer, PodComparison, ReleaseComparison};
use crate::scheduler::{Evictions, Options, Scheduler, StepBound};
use crate::session::{PodDecisions, pending};
use crate::source::Loaded;

/// Pods decided per batch; each batch is printed before the next is decided.
const AT_ONCE: usize = 16;

/// Decides each pending pod twice and prints both. Returns `EXIT_NO_FIT` if an outcome, node or victim differs, and
/// `EXIT_SOURCE` if pods are not decided, or none is known to be pending and some may be.
pub(super) fn run(args: &RunArgs, other: Emulate, mut loaded: Loaded) -> Result<u8, Failure> {
    loaded.report.forget_origins();
    let scheduler_args = args.cluster.scheduler(&args.scheduler);
    let choice = emulate::choose(Some(other), &loaded);
    let second = second_config(&scheduler_args, &loaded, choice)?;
    if let Some(line) = emulate::substitution(choice) {
        output::say(line);
    }
    let from = super::scheduler(&scheduler_args, &mut loaded, Evictions::AtOnce, &StandardError)?;
    let state = from.state();
    let options = Options { release: choice, ..from.options().clone() };
    let to = Scheduler::new(second, state.cluster().objects().collect(), options);
    let schedulers = [&from, &to];
    let pods = pending(schedulers);
    let parts = [&from, &to].map(|s| decision_parts(s.state().config()));
    let reports = [ReleaseReport::of(from.emulated(), &parts[0]), ReleaseReport::of(to.emulated(), &parts[1])];
    let mut comparison =
        ReleaseComparison::new(reports, [from.emulated(), to.emulated()].map(|e: Emulated| e.version()), state.cluster().unknown);
    let stream = args.output.compared_pods();
    if let Some(stream) = stream {
        print(&(stream.head)(&comparison)?)?;
    }
    let mut differs = false;
    let left = decide_within(StepBound::allowance(&from), schedulers, &pods, |number, decided| {
        differs |= decided.iter().any(PodDecisions::differs);
        match stream {
            Some(stream) => {
                let pods: Vec<PodComparison> = decided.iter().map(PodComparison::of).collect();
                print(&(stream.pods)(&pods, number == 0)?)?;
            }
            None => comparison.add(&decided, args.output.lists_compared_pods()),
        }
        Ok(())
    })?;
    match stream {
        Some(stream) => print(&(stream.tail)(left))?,
        None => {
            comparison.undecided = left;
            let mut more = super::unread(&from);
            more.append(completeness(args, &loaded));
            print(&args.output.write(&Answer::Comparison(&comparison), more)?)?
        }
    };
    let is_unknown = || Missing::all(state.cluster().unknown).iter().any(|missing| missing.leaves_pending_unknown().is_some());
    let code = if left > 0 {
        EXIT_SOURCE
    } else if differs {
        EXIT_NO_FIT
    } else if pods.is_empty() && is_unknown() {
        EXIT_SOURCE
    } else {
        EXIT_OK
    };
    let code = super::code(code, &from);
    // Skip the destructors: the process exits here, and freeing a large cluster takes time.
    std::mem::forget((from, to, loaded));
    Ok(code)
}

/// Reads the configuration as the other release does. Prefixes errors with `--compare` and that release.
fn second_config(args: &SchedulerArgs, loaded: &Loaded, choice: ReleaseChoice) -> Result<crate::scheduler::Config, Failure> {
    let option = format!("--compare {}", choice.profile().release);
    super::loading::config(args, loaded, choice.profile()).map_err(|failure| failure.of_option(&option))
}

fn completeness(args: &RunArgs, loaded: &Loaded) -> Document {
    if args.output.wide { super::completeness(loaded) } else { Document::default() }
}

/// Decides pods, some at once, until they have taken this many steps. Returns how many are left.
fn decide_within(
    most: u64,
    schedulers: [&Scheduler; 2],
    pods: &[[Arc<Pod>; 2]],
    mut take: impl FnMut(usize, Vec<PodDecisions>) -> Result<(), Failure>,
) -> Result<usize, Failure> {
    let (mut steps, mut left) = (0_u64, pods.len());
    for (number, some) in pods.chunks(AT_ONCE).enumerate() {
        if steps >= most {
            break;
        }
        let decided: Vec<PodDecisions> = some.par_iter().map(|pods| PodDecisions::of(schedulers, [&pods[0], &pods[1]])).collect();
        left -= some.len();
        steps = steps.saturating_add(decided.iter().map(|pod| pod.steps).sum::<u64>().saturating_mul(RUN_STEPS_OF_COMPARED));
        take(number, decided)?;
    }
    Ok(left)
}

#[cfg(test)]
mod tests;
