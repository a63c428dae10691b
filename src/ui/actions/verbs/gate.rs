//! Sets feature gates.

use strum::IntoEnumIterator as _;

use crate::release::Gate;
use crate::ui::actions::arguments;
use crate::ui::actions::verb::{Command, Verb};
use crate::ui::actions::what_if::what_if;

/// The command `gate`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |_, _, args| {
            let gates = Gate::iter().flat_map(|gate| [format!("{gate}=true"), format!("{gate}=false")]);
            arguments::words(gates, arguments::last(args))
        },
        ..Command::new(&["gate"], "GATE=true | GATE=false", "what if a feature gate of kube-scheduler were on, or off")
    }),
    ..Verb::new("gate", |state, session, args| what_if(state, session, "gate", args))
}];
