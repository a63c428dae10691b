//! A decision in the form that somebody asks for.

use super::{Decision, text};
use crate::trace::CycleView;

/// How a decision is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionFormat {
    /// For reading.
    Text,
    /// For a ticket.
    Markdown,
    /// For programs.
    Json,
    /// For programs that like YAML.
    Yaml,
}

/// A decision in a form; forms for reading end with `more`, which is whole lines.
///
/// # Errors
/// A sentence for the reader where it cannot be written so.
pub fn decision_in(view: &CycleView, format: DecisionFormat, more: &str) -> Result<String, String> {
    Ok(match format {
        DecisionFormat::Text => text(view) + more,
        DecisionFormat::Markdown => {
            let pod = view.start.as_ref().map(|start| start.pod.to_string()).unwrap_or_default();
            format!("### {pod}\n\n```\n{}{more}```\n", text(view))
        }
        DecisionFormat::Json => serde_json::to_string_pretty(&Decision::of(view)).map_err(|e| e.to_string())? + "\n",
        DecisionFormat::Yaml => serde_yaml::to_string(&Decision::of(view)).map_err(|e| e.to_string())?,
    })
}
