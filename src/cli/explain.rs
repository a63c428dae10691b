//! `schedscope explain`: one pod's decision.

use std::io::Write as _;

use super::args::{ExplainArgs, Output};
use super::{EXIT_NO_FIT, EXIT_OK, Failure};
use crate::cluster::Key;
use crate::report::Decision;
use crate::scheduler::{Sampling, Standing};
use crate::trace::{CycleView, Outcome};

/// Decides and prints.
pub(super) fn run(args: &ExplainArgs) -> Result<u8, Failure> {
    let config = super::config(&args.source)?;
    let loaded = super::load(&args.source)?;
    let now = loaded.report.newest.unwrap_or_default();
    let sampling = Sampling { percentage: config.percentage_of_nodes_to_score, all_nodes: args.source.all_nodes, ..Sampling::default() };
    let standing = Standing::new(config, loaded.objects, sampling, now);
    let name = args.pod.strip_prefix("pod/").unwrap_or(&args.pod);
    let key = Key::new(args.namespace.as_str(), name);
    let pod = standing.cluster.pods.get(&key).ok_or_else(|| Failure::usage(format!("pod {key} is not in the source")))?;
    let events = standing.decide(pod);
    let view = CycleView::of(&events);
    let mut out = std::io::stdout().lock();
    let printed = match args.output {
        Output::Json => {
            serde_json::to_writer_pretty(&mut out, &Decision::of(&view)).map_err(std::io::Error::from).and_then(|()| writeln!(out))
        }
        Output::Text => events.iter().try_for_each(|e| writeln!(out, "{}", e.sentence())),
    };
    super::ignore_closed_pipe(printed)?;
    Ok(if view.outcome == Some(Outcome::Scheduled) { EXIT_OK } else { EXIT_NO_FIT })
}
