//! `schedscope run --compare`: every pending pod as two releases decide about it.

use rayon::prelude::*;

use super::args::{RunArgs, SchedulerArgs};
use super::emulate::Emulate;
use super::{EXIT_NO_FIT, EXIT_OK, Failure, emulate, print};
use crate::release::{Emulated, ReleaseChoice};
use crate::report::{Answer, PodComparison, ReleaseComparison, ReleaseReport, decision_parts};
use crate::scheduler::{Evictions, Options, Scheduler};
use crate::session::{PodDecisions, pending};
use crate::source::Loaded;

/// So many pods are decided at a time: their decisions are printed before the next are taken.
const AT_ONCE: usize = 64;

/// Decides about each pending pod twice, and prints. The exit code says whether an outcome, node or victim differs.
pub(super) fn run(args: &RunArgs, other: Emulate, mut loaded: Loaded) -> Result<u8, Failure> {
    loaded.report.forget_origins();
    let scheduler_args = args.scheduler.on(&args.source);
    let choice = emulate::choose(Some(other), &loaded);
    let second = second_config(&scheduler_args, &loaded, &choice)?;
    emulate::substitution(&choice).into_iter().for_each(|line| eprintln!("{line}"));
    let from = super::scheduler(&scheduler_args, &mut loaded, Evictions::AtOnce, &|line| eprintln!("{line}"))?;
    let state = from.state();
    let options = Options { release: choice, ..from.options().clone() };
    let to = Scheduler::new(second, state.cluster().objects().collect(), options);
    let schedulers = [&from, &to];
    let pods = pending(schedulers);
    let parts = [&from, &to].map(|s| decision_parts(s.state().config()));
    let reports = [ReleaseReport::of(from.emulated(), &parts[0]), ReleaseReport::of(to.emulated(), &parts[1])];
    let mut comparison = ReleaseComparison::new(reports, [from.emulated(), to.emulated()].map(|e: Emulated| e.version()));
    let mut differs = false;
    let stream = args.output.compared_pods();
    if let Some(stream) = stream {
        print(&(stream.head)(&comparison).map_err(failed)?)?;
    }
    for (number, some) in pods.chunks(AT_ONCE).enumerate() {
        let decided: Vec<PodDecisions> = some.par_iter().map(|pods| PodDecisions::of(schedulers, [&pods[0], &pods[1]])).collect();
        differs |= decided.iter().any(PodDecisions::differs);
        match stream {
            Some(stream) => {
                let mut lines = String::new();
                for (at, pod) in decided.iter().enumerate() {
                    lines += if number + at == 0 { "\n" } else { ",\n" };
                    lines += &(stream.pod)(&PodComparison::of(pod)).map_err(failed)?;
                }
                print(&lines)?;
            }
            None => comparison.add(&decided),
        }
    }
    match stream {
        Some(stream) => print(stream.tail)?,
        None => print(&args.output.write(&Answer::Comparison(&comparison), &completeness(args, &loaded)).map_err(failed)?)?,
    };
    // The program ends here: to give a large cluster back piece by piece would only take time.
    std::mem::forget((from, to, loaded));
    Ok(if differs { EXIT_NO_FIT } else { EXIT_OK })
}

/// Reads the configuration as the other release does. Where feature gates or the file are refused, this names the release.
fn second_config(args: &SchedulerArgs, loaded: &Loaded, choice: &ReleaseChoice) -> Result<crate::scheduler::Config, Failure> {
    super::config(args, loaded, choice.profile())
        .map_err(|failure| Failure { message: format!("--compare {}: {}", choice.profile().release, failure.message), ..failure })
}

fn completeness(args: &RunArgs, loaded: &Loaded) -> String {
    if args.output.wide { super::completeness(loaded) } else { String::new() }
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::source(error.to_string())
}
