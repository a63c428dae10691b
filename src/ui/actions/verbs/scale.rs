//! Scales a workload.

use crate::ui::actions::arguments;
use crate::ui::actions::selected;
use crate::ui::actions::verb::{Command, Verb};
use crate::ui::actions::what_if::{what_if, with_first};
use crate::whatif::workload_of;

/// The command `scale`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |session, _, word| if word.contains(' ') { Vec::new() } else { arguments::owners(session, word) },
        ..Command::new(&["scale"], "[KIND/[NAMESPACE/]NAME] N", "what if a workload had this many pods")
    }),
    ..Verb::new("scale", |state, session, args| {
        let args = with_first(args, || {
            let pod = selected::pod(state, session)?;
            let cluster = &session.timeline().keyframe().cluster;
            workload_of(cluster, cluster.pods.get(&pod)?).map(|owner| owner.to_string())
        });
        what_if(state, session, "scale", &args)
    })
}];
