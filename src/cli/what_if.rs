//! `schedscope run --what-if`: applies verbs, runs until nothing changes, and says what became of the pods.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use super::args::RunArgs;
use super::progress::Showing;
use super::{EXIT_NO_FIT, EXIT_OK, EXIT_SOURCE, Failure, StandardError, original, print};
use crate::output::{Document, Lines};
use crate::report::{Answer, WhatIfReport};
use crate::scheduler::Evictions;
use crate::session::{GRAMMAR, VerbError};
use crate::source::Loaded;
use crate::whatif::{self, Rehearsal, Stage as _, Verb};

/// Prints the verbs with their arguments.
pub(super) fn help() -> Result<u8, Failure> {
    let rows: Vec<(String, &str)> = GRAMMAR.iter().map(|row| (format!("{} {}", row.word, row.args), row.help)).collect();
    let width = rows.iter().map(|(usage, _)| usage.len()).max().unwrap_or_default();
    print(&rows.iter().map(|(usage, help)| format!("{usage:<width$}  {help}")).collect::<Lines>().into())
}

/// Applies the verbs in order, each followed by a run until nothing changes. Returns `EXIT_NO_FIT` if a node was not
/// drained, a new pod stays pending, or no more of a pod fits, and `EXIT_SOURCE` if pods are not decided.
pub(super) fn run(args: &RunArgs, mut loaded: Loaded) -> Result<u8, Failure> {
    // Parse all verbs before the long part.
    let parse = |text: &String| {
        text.parse::<Verb>().map_err(|error| {
            let more = if matches!(error, VerbError::UnknownVerb { .. }) { "; --what-if help lists them" } else { "" };
            Failure::usage(format!("--what-if {text:?}: {error}{more}"))
        })
    };
    let verbs = args.what_if.iter().map(parse).collect::<Result<Vec<Verb>, Failure>>()?;
    let evictions = if args.graceful { Evictions::AfterGracePeriod } else { Evictions::AtOnce };
    let scheduler =
        super::begin(&args.cluster.scheduler(&args.scheduler), &mut loaded, &args.cluster.limits.limits(), evictions, &StandardError)?;
    let operations = Arc::new(AtomicUsize::new(0));
    let mut without = Rehearsal::new(scheduler.clone()).counting(&operations).among(&loaded.neighbors);
    let mut with = Rehearsal::new(scheduler).counting(&operations).among(&loaded.neighbors);
    let shown = Showing::operations(&operations);
    let applied = whatif::apply_all(&mut with, &mut without, &verbs, &|kind, key| original(&loaded, kind, key));
    drop(shown);
    let (answers, elsewhere) = applied.map_err(|(at, error)| Failure::usage(format!("--what-if \"{}\": {error}", verbs[at])))?;
    let report = WhatIfReport::new(answers, with.scheduler(), elsewhere);
    let mut more = super::unread(with.scheduler());
    more.append(if args.output.wide { super::completeness(&loaded) } else { Document::default() });
    print(&args.output.write(&Answer::WhatIf(&report), more)?)?;
    let code = match report.is_complete() {
        _ if report.is_cut_short() => EXIT_SOURCE,
        true => EXIT_OK,
        false => EXIT_NO_FIT,
    };
    let code = super::code(code, without.scheduler());

    // Skip the destructors: the process exits here, and freeing a large cluster takes time.
    std::mem::forget((without, with, loaded));
    Ok(code)
}
