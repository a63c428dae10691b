//! Folds many events at once.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{CycleView, Verdict};
use crate::cluster::{Key, Str};
use crate::framework::Status;
use crate::trace::event::Event;
use crate::trace::scores::{NodeScore, Row};

/// Consecutive events about nodes that a view does not have yet. Their map is built at once, which takes less time and leaves no room
/// in it.
#[derive(Default)]
pub(crate) struct Fold {
    verdicts: Vec<(Str, Verdict)>,
    scores: Vec<(Str, Row<NodeScore>)>,
    /// The only pod of a group about whose nodes events are applied; `None` applies those of all.
    only: Option<Key>,
}

impl Fold {
    /// Leaves out what is about nodes for other pods of a group than this one.
    pub(crate) fn of_nodes_for(pod: Key) -> Self {
        Self { only: Some(pod), ..Self::default() }
    }

    /// Applies one more event to a view, at the latest with [`Self::finish`].
    pub(crate) fn apply(&mut self, view: &mut CycleView, event: Cow<'_, Event>) {
        if matches!(&*event, Event::NodeFiltered { .. } | Event::NodeScored(_)) && self.leaves_out(view) {
            return;
        }
        match event {
            Cow::Owned(Event::NodeFiltered { node, status, nominated }) if view.extenders.statuses.is_empty() => {
                self.keep_verdict(view, node, Verdict { status, nominated });
            }
            Cow::Borrowed(Event::NodeFiltered { node, status, nominated }) if view.extenders.statuses.is_empty() => {
                self.keep_verdict(view, node.clone(), Verdict { status: Status::clone(status), nominated: nominated.clone() });
            }
            event => match &*event {
                Event::NodeScored(score) => {
                    if !self.verdicts.is_empty() {
                        self.finish(view);
                    }
                    self.scores.push((score.node.clone(), score.clone()));
                }
                Event::CycleStarted(start) => {
                    self.finish(view);
                    view.start_cycle(start);
                }
                event => {
                    self.finish(view);
                    view.apply(event);
                }
            },
        }
    }

    /// Returns whether what is about nodes for the pod of this cycle is left out.
    fn leaves_out(&self, view: &CycleView) -> bool {
        let pod = view.start.as_ref().map(|start| &start.pod).filter(|_| view.group.is_some());
        self.only.is_some() && pod.is_some() && self.only.as_ref() != pod
    }

    fn keep_verdict(&mut self, view: &mut CycleView, node: Str, verdict: Verdict) {
        if !self.scores.is_empty() {
            self.finish(view);
        }
        self.verdicts.push((node, verdict));
    }

    /// Applies what is left.
    pub(crate) fn finish(&mut self, view: &mut CycleView) {
        let last = self.verdicts.last().map(|(node, _)| node).or(self.scores.last().map(|(node, _)| node));
        let Some(last) = last else { return };
        view.current_node = Some(last.clone());
        add(&mut view.filter.verdicts, &mut self.verdicts);
        add(&mut view.scoring.scores, &mut self.scores);
    }
}

/// Moves entries to a map; the last of several for one node is kept.
fn add<V>(map: &mut BTreeMap<Str, V>, entries: &mut Vec<(Str, V)>) {
    if map.is_empty() && !entries.is_empty() {
        *map = entries.drain(..).collect();
    } else {
        map.extend(entries.drain(..));
    }
}

#[cfg(test)]
mod tests;
