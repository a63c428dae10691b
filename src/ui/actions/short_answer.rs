//! The answer about what is selected, in short: a sentence, the best fix and its command.

use crate::cluster::{Key, Str};
use crate::framework::Victim;
use crate::ui::actions::{overview, selected};
use crate::ui::model::list::RowId;
use crate::ui::model::pane::Pane;
use crate::ui::model::session_handle::SessionHandle;
use crate::ui::model::state::State;
use crate::ui::model::text;
use crate::ui::model::text_view::{Target, TextView};

/// Returns the name and the text of the answer about what is selected; `None` where there is none.
pub fn of(state: &State, session: &dyn SessionHandle) -> Option<(String, String)> {
    match state.selected_row() {
        Some(RowId::Cause(_) | RowId::CauseFix(_)) if state.focus == Pane::OVERVIEW => return of_cause(state),
        Some(RowId::Budget(budget)) => return of_budget(session, budget),
        Some(RowId::Pod(pod)) => return of_pod(session, pod),
        Some(RowId::Node(node)) => return of_node(state, node),
        _ => {}
    }
    match state.focus {
        Pane::NODES | Pane::NODE | Pane::PREEMPTION | Pane::CANDIDATE => of_node(state, &selected::node(state, session)?),
        _ => of_pod(session, &selected::pod(state, session)?),
    }
}

fn of_pod(session: &dyn SessionHandle, pod: &Key) -> Option<(String, String)> {
    Some((format!("the answer about {pod}"), session.short_answer(pod)?))
}

fn of_cause(state: &State) -> Option<(String, String)> {
    let cause = overview::selected_cause(state)?;
    let pods = cause.count();
    let mut words = format!("{}: {}{}\n", text::count(pods, "pod"), cause.sentence, cause.preemption.clause(cause.helped, pods));
    words += &format!("{}\n", cause.fix_words());
    if let Some(commands) = cause.fix.found().and_then(|fix| fix.fix.kubectl.as_ref()) {
        words += &format!("{commands}\n");
    }
    Some(("the answer about the cause".to_owned(), words))
}

fn of_node(state: &State, node: &Str) -> Option<(String, String)> {
    let cycle = &state.view_model.cycle.whole;
    let pod = cycle.pod()?;
    let verdict = cycle.filter.verdicts.get(node)?;
    let words = if verdict.status.is_success() { "fits".to_owned() } else { verdict.status.message() };
    let mut answer = format!("{pod} on {node}: {words}\n");
    if let Some(candidate) = cycle.preemption.as_ref().and_then(|preemption| preemption.candidate(node)) {
        let victims: Vec<String> = candidate.victims.iter().map(Victim::key).map(|key| key.to_string()).collect();
        answer += &format!("Preemption there evicts {}\n", victims.join(", "));
    }
    Some((format!("the answer about {node}"), answer))
}

fn of_budget(session: &dyn SessionHandle, key: &Key) -> Option<(String, String)> {
    let cluster = &session.timeline().keyframe().cluster;
    let status = &cluster.pod_disruption_budgets.get(key)?.status;
    let (allowed, healthy, desired) = (status.disruptions_allowed, status.current_healthy, status.desired_healthy);
    let words = format!("budget {key} allows {allowed} disruptions: {healthy} healthy, {desired} desired\n");
    Some((format!("the answer about budget {key}"), words))
}

/// Returns the name and the text of what is selected in a text: the commands of a fix or, without any, the fix; a command; or else
/// the whole text.
pub fn of_text(view: &TextView) -> (String, String) {
    if let Some(at) = view.view.selected.filter(|at| *at < view.rows.len()) {
        if let Some(Target::Fix(fix)) = view.links.get(&at) {
            // The fix of a cause is the only one of its text, whose commands come after its pods.
            let all = (at + 1..view.rows.len()).filter_map(|at| view.command(at));
            let own = (at + 1..view.rows.len()).map_while(|at| view.command(at));
            let commands: Vec<&str> = if fix.pods.is_empty() { own.collect() } else { all.collect() };
            return if commands.is_empty() {
                ("the fix, which has no command".to_owned(), format!("{}\n", view.line(at).trim()))
            } else {
                ("the commands of the fix".to_owned(), commands.join("\n") + "\n")
            };
        }
        if let Some(command) = view.command(at) {
            return ("the command".to_owned(), format!("{command}\n"));
        }
    }
    let lines: Vec<&str> = view.shown().into_iter().map(|at| view.line(at)).collect();
    (view.title.clone(), lines.join("\n") + "\n")
}
