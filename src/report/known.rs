//! Facts about a pod for which no node is needed, as text.

use crate::analysis::{Known, LastReported};
use crate::output::Lines;
use crate::plural::count;

/// Limit on the budgets of a namespace that a text names.
const BUDGETS_NAMED: usize = 8;

impl Known {
    /// Returns the facts, one a line, and the last report of the cluster's scheduler first.
    pub fn text(&self, there: Option<&LastReported>) -> Lines {
        let mut out = Lines::default();
        if let Some(there) = there {
            let at = there.at.map_or_else(String::new, |at| format!(" at {at}"));
            out.line(format_args!("the cluster's scheduler reported{at}: {}", there.message));
        } else {
            out.push("the cluster's scheduler has reported nothing about this pod");
        }
        for gate in &self.scheduling_gates {
            out.line(format_args!("held back by the scheduling gate {gate}"));
        }
        for (claims, what) in [(&self.missing_claims, "claim"), (&self.missing_resource_claims, "resource claim")] {
            match claims {
                Some(missing) => missing.iter().for_each(|name| {
                    out.line(format_args!("its {what} {:?} does not exist", name.as_str()));
                }),
                None => {
                    out.line(format_args!("whether its {what}s exist is unknown"));
                }
            }
        }
        self.budget_lines(&mut out);
        let class = if self.priority_class.is_empty() { String::new() } else { format!(", class {}", self.priority_class) };
        out.line(format_args!("priority {}{class}", self.priority));
        out
    }

    fn budget_lines(&self, out: &mut Lines) {
        let Some(budgets) = &self.budgets else {
            out.push("the budgets of its namespace are unknown");
            return;
        };
        for budget in budgets.iter().take(BUDGETS_NAMED) {
            let covers = if budget.covers_pod { ", and covers this pod" } else { "" };
            let allowed = count(usize::try_from(budget.disruptions_allowed).unwrap_or(0), "disruption");
            out.line(format_args!("budget {} of its namespace allows {allowed}{covers}", budget.name));
        }
        if budgets.len() > BUDGETS_NAMED {
            out.line(format_args!("and {}", count(budgets.len() - BUDGETS_NAMED, "more budget")));
        }
    }
}
