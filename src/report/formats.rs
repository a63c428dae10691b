//! The formats of answers. A new format is a row in [`FORMATS`] and a function that writes it.

use serde::{Serialize, Serializer};

use super::{
    Decision, GroupReport, Info, ManifestReport, OperationLine, Origin, PlacedReport, PodComparison, PodFacts, ReleaseComparison, Ticket,
    WhatIfReport, causes_text, documents, text,
};
use crate::analysis::{Agreements, DumpDiff, FixesReport, Known, LastReported, LogReport, ReleaseReport, SchedulerMatch, WorkloadReport};
use crate::cluster::Str;
use crate::output::{self, Document, Headings, Lines, Text};
use crate::trace::CycleView;

/// Writes an answer with lines beside it.
type WriteAnswer = fn(&Answer<'_>, Document) -> Result<Text, FormatError>;

/// Writes one operation of a run as a line.
pub type WriteOperation = fn(&OperationLine) -> Result<Text, FormatError>;

/// Writes a comparison of releases batch by batch, to keep memory bounded.
#[derive(Clone, Copy, Debug)]
pub struct WriteComparedPods {
    /// Writes the start of a comparison.
    pub head: fn(&ReleaseComparison) -> Result<Text, FormatError>,
    /// Writes a batch of pods; the second argument is true for the first batch.
    pub pods: fn(&[PodComparison], bool) -> Result<Text, FormatError>,
    /// Returns the end of a comparison with a number of pods that are not decided.
    pub tail: fn(usize) -> Text,
}

#[derive(Debug)]
pub struct Format {
    /// The name that `-o` takes.
    pub name: &'static str,
    /// A short description, for help.
    pub about: &'static str,
    /// File extensions, without the dot.
    pub endings: &'static [&'static str],
    /// Whether the text includes the source's completeness.
    pub wide: bool,
    /// Writes an answer. Text formats append the second argument.
    write: WriteAnswer,
    /// Writes one of several answers; `None` for formats that hold one.
    write_next: Option<WriteAnswer>,
    /// Writes a document, for formats of documents; they list what is unknown themselves.
    document: Option<fn(&Document) -> Text>,
    /// Writes an operation of a run as a line; `None` for formats that print a run as text.
    operation: Option<WriteOperation>,
    /// Writes a comparison batch by batch; `None` for formats that need all of it.
    compared_pods: Option<WriteComparedPods>,
}

/// A format of text that only answers are written in.
const TEXT: Format = Format {
    name: "text",
    about: "Plain text",
    endings: &[],
    wide: false,
    write: plain,
    write_next: None,
    document: None,
    operation: None,
    compared_pods: None,
};

/// Every format; the first is the default.
pub static FORMATS: &[Format] = &[
    Format { endings: &["txt"], write_next: Some(|answer, more| plain(answer, more).map(with_blank)), ..TEXT },
    Format {
        name: "wide",
        about: "Plain text, with the source's metadata and gaps",
        wide: true,
        write_next: Some(|answer, more| plain(answer, more).map(with_blank)),
        ..TEXT
    },
    Format {
        name: "json",
        about: "JSON, for programs",
        endings: &["json"],
        write: json,
        write_next: Some(|answer, _more| Ok(output::to_json_line(answer)?)),
        operation: Some(json_line),
        compared_pods: Some(WriteComparedPods { head: json_head, pods: json_pods, tail: json_tail }),
        ..TEXT
    },
    Format {
        name: "yaml",
        about: "YAML, for programs",
        endings: &["yaml", "yml"],
        write: yaml,
        write_next: Some(|answer, more| yaml(answer, more).map(|text| document(&text))),
        operation: Some(yaml_document),
        ..TEXT
    },
    Format {
        name: "markdown",
        about: "Markdown, for a ticket",
        endings: &["md"],
        write: markdown,
        write_next: Some(|answer, more| markdown(answer, more).map(with_blank)),
        document: Some(Document::markdown),
        ..TEXT
    },
    Format {
        name: "html",
        about: "One page for a browser, which needs no other file",
        endings: &["html", "htm"],
        write: html,
        document: Some(Document::html),
        ..TEXT
    },
    Format {
        name: "metrics",
        about: "Metrics in Prometheus' text format, of all pending pods",
        endings: &["prom"],
        write: metrics,
        ..TEXT
    },
];

/// An answer that can be written in any format.
#[derive(Clone, Copy, Debug)]
pub enum Answer<'a> {
    /// One pod's decision, and the emulated release.
    Decision(&'a CycleView, &'a ReleaseReport),
    /// One pod that is not decided because no node could be read, with the facts that need none.
    Undecided(&'a CycleView, &'a ReleaseReport, &'a SchedulerMatch),
    /// One pod's decision with its constraints and fixes.
    Fixes(&'a CycleView, &'a ReleaseReport, &'a FixesReport),
    /// One pod's decision with its origin, and its fixes if they were searched.
    Ticket(Ticket<'a>),
    /// All pending pods, compared with the cluster's scheduler.
    Agreements(&'a Agreements),
    /// A scheduler's log.
    Log(&'a LogReport<'a>),
    /// The emulated release: plugins, weights, feature gates.
    Info(&'a Info),
    /// Pending pods, as two releases decide them.
    Comparison(&'a ReleaseComparison),
    /// What-ifs.
    WhatIf(&'a WhatIfReport),
    /// The end of a manifest.
    Manifest(&'a ManifestReport),
    /// A pod that has a node.
    Placed(&'a PlacedReport),
    Workload(&'a WorkloadReport),
    /// Two states of a cluster.
    Diff(&'a DumpDiff),
}

/// A format's serializer failed.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// JSON serialization failed.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// YAML serialization failed.
    #[error(transparent)]
    Yaml(#[from] serde_yaml::Error),
    /// The format holds one answer, and several were asked for.
    #[error("-o {0} holds one answer: name one pod or workload, or explain --pending")]
    OneAnswer(&'static str),
    /// The format is of all pending pods.
    #[error("-o {0} is of all pending pods: explain --pending")]
    OnlyPending(&'static str),
}

impl Format {
    /// Returns the format with a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.name == name)
    }

    /// Returns the format with a file extension.
    pub fn of_ending(ending: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.endings.contains(&ending))
    }

    /// Returns whether it writes a decision as a ticket.
    pub fn is_ticket(&self) -> bool {
        self.document.is_some()
    }

    /// Returns the writer of documents; `None` for formats of data and of plain text.
    pub fn document(&self) -> Option<fn(&Document) -> Text> {
        self.document
    }

    /// Returns whether it writes other answers than that about all pending pods.
    pub fn takes_all_answers(&self) -> bool {
        self.name != "metrics"
    }

    /// Returns whether one text holds several answers.
    pub fn takes_several(&self) -> bool {
        self.write_next.is_some()
    }

    /// Writes an answer. Text formats append `more`.
    pub fn write(&self, answer: &Answer<'_>, more: impl Into<Document>) -> Result<Text, FormatError> {
        (self.write)(answer, more.into())
    }

    /// Writes an answer that others follow: a line of JSON, a document of YAML, or text with an empty line behind it. Text formats
    /// append the second argument.
    ///
    /// # Errors
    /// When the serializer fails, or the format holds one answer only.
    pub fn write_next(&self, answer: &Answer<'_>, more: impl Into<Document>) -> Result<Text, FormatError> {
        (self.write_next.ok_or(FormatError::OneAnswer(self.name))?)(answer, more.into())
    }

    /// Returns the writer of comparisons in batches; `None` for formats that need all of it.
    pub fn compared_pods(&self) -> Option<WriteComparedPods> {
        self.compared_pods
    }

    /// Returns whether a comparison lists every pod.
    pub fn lists_compared_pods(&self) -> bool {
        self.compared_pods.is_some() || self.endings.contains(&"yaml")
    }

    /// Returns the writer of single operations; `None` for formats that print a run as text.
    pub fn operation(&self) -> Option<WriteOperation> {
        self.operation
    }
}

/// The decision about a pod with its name and what is known beside it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TicketReport<'a> {
    #[serde(flatten)]
    decision: Decision,
    #[serde(skip_serializing_if = "Option::is_none")]
    fixes: Option<&'a FixesReport>,
    pod: Option<&'a Str>,
    namespace: Option<&'a Str>,
    priority: Option<i32>,
    #[serde(flatten)]
    facts: PodFacts<'a>,
}

impl<'a> TicketReport<'a> {
    fn of(ticket: &Ticket<'a>) -> Self {
        let key = ticket.view.pod();
        Self {
            decision: whole(ticket.view, ticket.release),
            fixes: ticket.fixes,
            pod: key.map(|key| &key.name),
            namespace: key.map(|key| &key.namespace),
            priority: ticket.view.start.as_ref().map(|start| start.priority).or(ticket.priority),
            facts: ticket.facts,
        }
    }
}

impl Answer<'_> {
    /// Returns the answer as a document to open and fold, with more at its end.
    fn page(&self, more: Document) -> Document {
        let origin = Origin::default();
        let of_view = |view, release, fixes| Ticket::new(view, release, fixes, &origin).page(more.clone());
        match self {
            Self::Ticket(ticket) => return ticket.page(more),
            Self::Decision(view, release) => return of_view(view, release, None),
            Self::Fixes(view, release, fixes) => return of_view(view, release, Some(fixes)),
            Self::Agreements(found) => return documents::pending(found, more),
            Self::WhatIf(found) => return documents::what_if(found, more),
            Self::Workload(found) => return documents::workload(found, more),
            Self::Diff(found) => return documents::diff(found, more),
            _ => {}
        }
        let mut doc = Document::default();
        doc.heading(1, self.title());
        match self {
            Self::Comparison(comparison) => doc.append(comparison.document()),
            Self::Manifest(manifest) => {
                doc.append(manifest.answer());
                doc.paragraph(manifest.release().sentence());
            }
            Self::Info(info) => doc.append(info.document()),
            _ => doc.code(0, self.text(&Document::default())),
        }
        doc.append(more);
        doc
    }

    fn title(&self) -> String {
        match self {
            Self::Decision(view, _) | Self::Undecided(view, ..) | Self::Fixes(view, ..) => {
                view.start.as_ref().map(|start| start.pod.to_string()).unwrap_or_default()
            }
            Self::Ticket(ticket) => ticket.answer().title(),
            Self::Agreements(_) => "Pending pods".to_owned(),
            Self::Log(_) => "The scheduler's log".to_owned(),
            Self::Info(_) => "schedscope".to_owned(),
            Self::WhatIf(_) => "What if".to_owned(),
            Self::Manifest(_) => "Manifest".to_owned(),
            Self::Placed(found) => format!("{}/{}", found.namespace, found.pod),
            Self::Workload(found) => found.workload.to_string(),
            Self::Diff(_) => "Differences".to_owned(),
            Self::Comparison(comparison) => format!("kube-scheduler {} compared with {}", comparison.from, comparison.to),
        }
    }

    fn text(&self, more: &Document) -> Lines {
        let mut lines = match self {
            Self::Decision(view, release) => {
                let mut lines = text(view);
                lines.blank();
                lines.push("RELEASE");
                lines.extend(Lines::from(release.sentence()).indented(2));
                lines
            }
            Self::Undecided(view, release, found) => {
                let mut lines = text(view);
                lines.blank();
                lines.push("KNOWN");
                lines.extend(found.text().indented(2));
                lines.blank();
                lines.push("RELEASE");
                lines.extend(Lines::from(release.sentence()).indented(2));
                lines
            }
            Self::Fixes(view, release, fixes) => {
                let mut lines = Answer::Decision(view, release).text(&Document::default());
                lines.extend(fixes.text());
                lines
            }
            Self::Ticket(ticket) => ticket.answer().text(&Document::default()),
            Self::Log(log) => log.text(),
            Self::Agreements(agreements) => {
                let mut lines = Lines::from(agreements.summary());
                lines.extend(causes_text(&agreements.causes));
                lines.extend(agreements.details().plain(Headings::Colon));
                lines
            }
            Self::Info(info) => info.text(),
            Self::Comparison(comparison) => comparison.text(),
            Self::WhatIf(what_if) => what_if.text(),
            Self::Manifest(manifest) => manifest.text(),
            Self::Placed(found) => found.text(),
            Self::Workload(found) => found.text(),
            Self::Diff(found) => found.text(),
        };
        lines.extend(more.plain(Headings::Capitals));
        lines
    }
}

/// A decision and its fixes, as one object.
#[derive(Serialize)]
struct WithFixes<'a> {
    #[serde(flatten)]
    decision: Decision,
    fixes: &'a FixesReport,
}

/// A pod that is not decided, as one object: the decision as far as it goes, what the cluster's scheduler reported, and what is known.
#[derive(Serialize)]
struct WithKnown<'a> {
    #[serde(flatten)]
    decision: Decision,
    reported: Option<&'a LastReported>,
    known: Option<&'a Known>,
}

fn whole(view: &CycleView, release: &ReleaseReport) -> Decision {
    Decision { group: GroupReport::of(view, None), release: Some(release.clone()), ..Decision::of(view) }
}

/// The version of JSON answers. Within one, fields may be added; names, meanings, and the kinds and parameters of reasons stay.
pub const SCHEMA_VERSION: u32 = 1;

/// An answer with the version of its form.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Versioned<'a> {
    schema_version: u32,
    #[serde(flatten)]
    answer: Plain<'a>,
}

impl Serialize for Answer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Versioned { schema_version: SCHEMA_VERSION, answer: Plain(self) }.serialize(serializer)
    }
}

/// An answer without the version.
struct Plain<'a>(&'a Answer<'a>);

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Answer::Decision(view, release) => whole(view, release).serialize(serializer),
            Answer::Undecided(view, release, found) => {
                let (decision, known) = (whole(view, release), found.known.as_deref());
                WithKnown { decision, reported: found.there.as_ref(), known }.serialize(serializer)
            }
            Answer::Fixes(view, release, fixes) => {
                let decision = whole(view, release);
                WithFixes { decision, fixes }.serialize(serializer)
            }
            Answer::Ticket(ticket) => TicketReport::of(ticket).serialize(serializer),
            Answer::Agreements(agreements) => agreements.serialize(serializer),
            Answer::Log(log) => log.serialize(serializer),
            Answer::Info(info) => info.serialize(serializer),
            Answer::Comparison(comparison) => comparison.serialize(serializer),
            Answer::WhatIf(what_if) => what_if.serialize(serializer),
            Answer::Manifest(manifest) => manifest.serialize(serializer),
            Answer::Placed(found) => found.serialize(serializer),
            Answer::Workload(found) => found.serialize(serializer),
            Answer::Diff(found) => found.serialize(serializer),
        }
    }
}

#[allow(clippy::unnecessary_wraps, clippy::needless_pass_by_value, reason = "the type of every format's writer")]
fn plain(answer: &Answer<'_>, more: Document) -> Result<Text, FormatError> {
    Ok(answer.text(&more).into())
}

#[allow(clippy::unnecessary_wraps, reason = "the type of every format's writer")]
fn markdown(answer: &Answer<'_>, more: Document) -> Result<Text, FormatError> {
    if let Answer::Ticket(ticket) = answer {
        return Ok(ticket.document(&more).markdown());
    }
    match answer {
        Answer::Agreements(found) => return Ok(documents::pending(found, more).markdown()),
        Answer::WhatIf(found) => return Ok(documents::what_if(found, more).markdown()),
        Answer::Diff(found) => return Ok(documents::diff(found, more).markdown()),
        Answer::Info(_) | Answer::Manifest(_) | Answer::Workload(_) => return Ok(answer.page(more).markdown()),
        _ => {}
    }
    Ok(output::to_markdown(&answer.title(), &answer.text(&more)))
}

#[allow(clippy::needless_pass_by_value, reason = "the type of every format's writer")]
fn metrics(answer: &Answer<'_>, _more: Document) -> Result<Text, FormatError> {
    match answer {
        Answer::Agreements(found) => Ok(super::metrics::metrics(found)),
        _ => Err(FormatError::OnlyPending("metrics")),
    }
}

#[allow(clippy::unnecessary_wraps, reason = "the type of every format's writer")]
fn html(answer: &Answer<'_>, more: Document) -> Result<Text, FormatError> {
    Ok(answer.page(more).html())
}

#[allow(clippy::needless_pass_by_value, reason = "the type of every format's writer")]
fn json(answer: &Answer<'_>, _more: Document) -> Result<Text, FormatError> {
    Ok(output::to_json(answer)?)
}

fn json_line(report: &OperationLine) -> Result<Text, FormatError> {
    Ok(output::to_json_line(report)?)
}

fn yaml_document(report: &OperationLine) -> Result<Text, FormatError> {
    Ok(document(&output::to_yaml(report)?))
}

/// Returns one of several YAML documents.
fn document(text: &Text) -> Text {
    let mut document = Text::from(Lines::from("---"));
    document.push(text);
    document
}

/// Adds an empty line.
fn with_blank(mut text: Text) -> Text {
    text.push(&Lines::from("").into());
    text
}

fn json_head(comparison: &ReleaseComparison) -> Result<Text, FormatError> {
    Ok(output::to_json_open(&Answer::Comparison(comparison))?)
}

fn json_pods(pods: &[PodComparison], first: bool) -> Result<Text, FormatError> {
    Ok(output::to_json_items(pods, first)?)
}

fn json_tail(undecided: usize) -> Text {
    output::json_close(&if undecided > 0 { format!(",\"undecided\":{undecided}") } else { String::new() })
}

#[allow(clippy::needless_pass_by_value, reason = "the type of every format's writer")]
fn yaml(answer: &Answer<'_>, _more: Document) -> Result<Text, FormatError> {
    Ok(output::to_yaml(answer)?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_and_endings_are_each_of_one_format() {
        let names: BTreeSet<&str> = FORMATS.iter().map(|format| format.name).collect();
        let endings: Vec<&str> = FORMATS.iter().flat_map(|format| format.endings).copied().collect();
        assert_eq!((names.len(), endings.iter().collect::<BTreeSet<_>>().len()), (FORMATS.len(), endings.len()));
        assert!(FORMATS.iter().all(|format| Format::named(format.name).is_some_and(|found| std::ptr::eq(found, format))));
        assert_eq!((Format::of_ending("yml").map(|f| f.name), Format::of_ending("").map(|f| f.name)), (Some("yaml"), None));
    }
}
