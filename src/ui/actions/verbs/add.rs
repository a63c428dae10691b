//! Adds nodes like one there is.

use crate::ui::actions::arguments;
use crate::ui::actions::selected;
use crate::ui::actions::verb::{Command, Verb};
use crate::ui::actions::what_if::what_if;

/// The command `add`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |session, _, args| match args.split_once(' ') {
            None => Vec::new(),
            Some((_, rest)) => match rest.strip_prefix("like ") {
                Some(word) => arguments::nodes(session, word),
                None => arguments::words(["like"], rest),
            },
        },
        ..Command::new(&["add"], "N like [NODE]", "what if there were more nodes like this one")
    }),
    ..Verb::new("add", |state, session, args| {
        // A number alone, or with `like`, is about the selected node.
        let count = args.strip_suffix("like").unwrap_or(args).trim();
        let selected = selected::node(state, session).filter(|_| !count.is_empty() && !count.contains(char::is_whitespace));
        let args = selected.map_or_else(|| args.to_owned(), |node| format!("{count} like {node}"));
        what_if(state, session, "add", &args)
    })
}];
