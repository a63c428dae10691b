//! A text on the screen as a Markdown document: headings, lists, commands, and how it is made again.

use super::Origin;
use super::ticket::reproduction;
use crate::output::{Lines, Markdown, Text};

/// Spaces before a command in a text.
const COMMAND: usize = 5;

/// Returns a text as a document. Lines that are not indented and end in a colon are headings, indented ones are items, and those that
/// begin with a command are code.
pub fn page(title: &str, lines: &[String], origin: Option<&Origin>) -> Text {
    let mut doc = Markdown::default();
    doc.heading(1, title);
    if let Some(origin) = origin {
        let at = origin.at.map_or_else(String::new, |at| format!(", at {at}"));
        doc.paragraph(&format!("Source: {}{at}.", origin.source));
        if !origin.what_ifs.is_empty() {
            doc.paragraph(&format!("With what-if: {}. The cluster itself is not changed.", origin.what_ifs.join("; ")));
        }
    }
    body(&mut doc, lines);
    if let Some(origin) = origin {
        reproduction(&mut doc, origin);
    }
    doc.finish()
}

/// Adds lines as headings, paragraphs, lists and code.
pub(super) fn body(doc: &mut Markdown, lines: &[String]) {
    let (mut items, mut code): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    let flush = |doc: &mut Markdown, items: &mut Vec<&str>, code: &mut Vec<&str>| {
        if !items.is_empty() {
            doc.list(items.drain(..));
        }
        if !code.is_empty() {
            doc.code(&code.drain(..).map(str::to_owned).collect::<Lines>());
        }
    };
    for line in lines {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if is_command(text) && indent >= COMMAND {
            if !items.is_empty() {
                flush(doc, &mut items, &mut code);
            }
            code.push(text);
        } else if text.is_empty() {
            flush(doc, &mut items, &mut code);
        } else if indent > 0 {
            if !code.is_empty() {
                flush(doc, &mut items, &mut code);
            }
            items.push(text);
        } else {
            flush(doc, &mut items, &mut code);
            match text.strip_suffix(':') {
                Some(heading) => doc.heading(2, heading),
                None => doc.paragraph(text),
            }
        }
    }
    flush(doc, &mut items, &mut code);
}

fn is_command(text: &str) -> bool {
    ["kubectl ", "printf ", "schedscope "].iter().any(|command| text.starts_with(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_headings_lists_and_commands() {
        let lines =
            ["It is so.", "", "Fixes:", "  1. tolerate it: fits", "     kubectl patch pod p", "  2. none", "", "End"].map(str::to_owned);
        let text = page("A title", &lines, None);
        assert_eq!(
            text.as_str(),
            "# A title\n\nIt is so.\n\n## Fixes\n\n- 1\\. tolerate it: fits\n\n```\nkubectl patch pod p\n```\n\n- 2\\. none\n\nEnd\n"
        );
    }
}
