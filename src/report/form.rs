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

/// A decision that cannot be written in a form.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// As JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// As YAML.
    #[error(transparent)]
    Yaml(#[from] serde_yaml::Error),
}

/// A decision in a form; forms for reading end with `more`, which is whole lines.
pub fn decision_in(view: &CycleView, format: DecisionFormat, more: &str) -> Result<String, FormatError> {
    Ok(match format {
        DecisionFormat::Text => text(view) + more,
        DecisionFormat::Markdown => {
            let pod = view.start.as_ref().map(|start| start.pod.to_string()).unwrap_or_default();
            format!("### {pod}\n\n```\n{}{more}```\n", text(view))
        }
        DecisionFormat::Json => serde_json::to_string_pretty(&Decision::of(view))? + "\n",
        DecisionFormat::Yaml => serde_yaml::to_string(&Decision::of(view))?,
    })
}
