//! What is on the screen, or a decision, as something to be written to a file.

mod svg;

use ratatui::buffer::Buffer;

use crate::report::{Answer, Format, FormatError};
use crate::trace::CycleView;
use crate::ui::action::Effect;
use crate::ui::driver::Driver;
use crate::ui::text;
use crate::ui::theme::Theme;

/// What is to be written to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Export {
    /// The screen as it is drawn next.
    Screen(ScreenForm),
    /// Some text.
    Words(String),
}

/// Why something cannot be exported. The text is a sentence for the reader.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// `export` without a file.
    #[error("export needs a file: .svg is the screen as a picture, .txt, .md, .json and .yaml the decision")]
    NoFile,
    /// The ending of the file's name is no form of a screen.
    #[error("{path}: the screen can be written to a file that ends in .svg or .txt")]
    ScreenEnding {
        /// The file.
        path: String,
    },
    /// The ending of the file's name is no form of anything.
    #[error("{path}: the ending says what is written: .svg, .txt, .md, .json or .yaml")]
    Ending {
        /// The file.
        path: String,
    },
    /// A decision cannot be a picture.
    #[error("a decision is text: .txt, .md, .json or .yaml; export screen FILE.svg is a picture")]
    DecisionAsPicture,
    /// Nothing is recorded yet.
    #[error("there is no decision here yet")]
    NothingRecorded,
    /// The operation at the cursor is about something else; holds its title.
    #[error("{0} is no decision about a pod")]
    NoDecision(String),
    /// The decision cannot be written in the form.
    #[error(transparent)]
    Format(#[from] FormatError),
}

/// What becomes of a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScreenForm {
    /// A picture, as SVG.
    Picture,
    /// Its lines.
    Text,
}

impl ScreenForm {
    /// What the ending of a file's name asks for.
    pub fn of(path: &str) -> Result<Self, ExportError> {
        match ending(path) {
            "svg" => Ok(Self::Picture),
            "txt" => Ok(Self::Text),
            _ => Err(ExportError::ScreenEnding { path: path.to_owned() }),
        }
    }

    /// The screen in this form.
    pub fn write(self, buf: &Buffer, theme: &Theme) -> String {
        match self {
            Self::Picture => svg::svg(buf, theme),
            Self::Text => lines(buf),
        }
    }
}

fn ending(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// The lines of the screen, without the blanks at their ends.
pub(super) fn lines(buf: &Buffer) -> String {
    let mut out = String::new();
    for row in rows(buf) {
        let line: String = row.iter().map(|cell| cell.symbol).collect();
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// A cell that begins something; what a wide character covers besides is left out.
struct Piece<'a> {
    column: u16,
    columns: u16,
    symbol: &'a str,
    cell: &'a ratatui::buffer::Cell,
}

fn rows(buf: &Buffer) -> impl Iterator<Item = Vec<Piece<'_>>> {
    let area = buf.area;
    (area.top()..area.bottom()).map(move |y| {
        let mut row = Vec::new();
        let mut x = area.left();
        while x < area.right() {
            let cell = &buf[(x, y)];
            let columns = (text::width(cell.symbol()) as u16).clamp(1, area.right() - x);
            row.push(Piece { column: x - area.left(), columns, symbol: cell.symbol(), cell });
            x += columns;
        }
        row
    })
}

/// Answers `:export [screen|decision] FILE`.
pub(super) fn asked(driver: &dyn Driver, args: &str) -> Result<Effect, ExportError> {
    let (what, path) = match args.split_once(char::is_whitespace) {
        Some((word @ ("screen" | "decision"), path)) => (word, path.trim()),
        _ => ("", args),
    };
    if path.is_empty() || path == "screen" || path == "decision" {
        return Err(ExportError::NoFile);
    }
    let screen = what == "screen" || (what.is_empty() && ending(path) == "svg");
    let export = if screen { Export::Screen(ScreenForm::of(path)?) } else { Export::Words(decision(driver, path)?) };
    Ok(Effect::Export { path: path.to_owned(), export })
}

/// The decision at the cursor to its end, in the form that the ending of a file's name asks for.
fn decision(driver: &dyn Driver, path: &str) -> Result<String, ExportError> {
    let format = match ending(path) {
        "svg" => return Err(ExportError::DecisionAsPicture),
        ending => Format::of_ending(ending).ok_or_else(|| ExportError::Ending { path: path.to_owned() })?,
    };
    let revision = driver.timeline().revision().ok_or(ExportError::NothingRecorded)?;
    let view = CycleView::of(revision.events.iter());
    if view.start.is_none() {
        return Err(ExportError::NoDecision(revision.title.clone()));
    }
    Ok(format.write(&Answer::Decision(&view), "")?)
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;
    use crate::session::Cursor;
    use crate::ui::fixture::script;
    use crate::ui::theme::Depth;

    #[test]
    fn lines_are_as_they_are_seen() {
        let mut buf = Buffer::empty(Rect::new(3, 5, 8, 2));
        buf.set_string(3, 5, "节点 e\u{301}x", Style::new());
        assert_eq!(lines(&buf), "节点 e\u{301}x\n\n");
        assert_eq!(ScreenForm::Text.write(&buf, &Theme::fallback(Depth::True)), lines(&buf));
    }

    #[test]
    fn the_ending_and_the_word_say_what_is_written() {
        let mut driver = script(false);
        let kind = |driver: &dyn Driver, args: &str| match asked(driver, args) {
            Ok(Effect::Export { path, export: Export::Screen(form) }) => format!("{path} {form:?}"),
            Ok(Effect::Export { path, export: Export::Words(words) }) => {
                format!("{path} {}", words.lines().next().unwrap_or_default())
            }
            Ok(other) => panic!("{other:?}"),
            Err(error) => format!("! {error}"),
        };
        assert_eq!(kind(&driver, "a.md"), "! there is no decision here yet");
        assert_eq!(kind(&driver, "screen a.txt"), "a.txt Text");
        driver.run_next();
        driver.timeline_mut().seek(Cursor { revision: 0, event: 2 });
        for (args, expected) in [
            ("a b/c.svg", "a b/c.svg Picture"),
            ("screen x.svg", "x.svg Picture"),
            ("screen x.md", "! x.md: the screen can be written to a file that ends in .svg or .txt"),
            ("x.txt", "x.txt shop/payments · priority 100000 · asks for cpu 6, memory 8Gi"),
            ("decision x.md", "x.md ### shop/payments"),
            ("x.json", "x.json {"),
            ("x.yml", "x.yml outcome: unschedulable"),
            ("x.pdf", "! x.pdf: the ending says what is written: .svg, .txt, .md, .json or .yaml"),
            ("svg", "! svg: the ending says what is written: .svg, .txt, .md, .json or .yaml"),
            ("decision x.svg", "! a decision is text: .txt, .md, .json or .yaml; export screen FILE.svg is a picture"),
            ("", "! export needs a file: .svg is the screen as a picture, .txt, .md, .json and .yaml the decision"),
            ("screen", "! export needs a file: .svg is the screen as a picture, .txt, .md, .json and .yaml the decision"),
        ] {
            assert_eq!(kind(&driver, args), expected, "{args}");
        }
    }

    #[test]
    fn a_decision_is_written_to_its_end_wherever_the_cursor_stands() {
        let mut driver = script(false);
        driver.run_next();
        let json = |driver: &dyn Driver| asked(driver, "x.json").unwrap();
        driver.timeline_mut().seek(Cursor { revision: 0, event: 1 });
        let early = json(&driver);
        driver.timeline_mut().seek(Cursor::END);
        assert_eq!(early, json(&driver));
        let Effect::Export { export: Export::Words(words), .. } = early else { panic!("{early:?}") };
        let value: serde_json::Value = serde_json::from_str(&words).unwrap();
        assert_eq!(value["preemption"]["selected"], "worker-a2");
    }
}
