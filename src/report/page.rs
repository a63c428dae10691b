//! A text on the screen as a document of its own, with its source and how it is made again.

use super::Origin;
use super::ticket::reproduction;
use crate::output::Document;

pub fn page(title: &str, body: &Document, origin: Option<&Origin>) -> Document {
    let mut doc = Document::default();
    doc.heading(1, title);
    if let Some(origin) = origin {
        let at = origin.at.map_or_else(String::new, |at| format!(", at {at}"));
        doc.paragraph(format!("Source: {}{at}.", origin.source));
        if !origin.what_ifs.is_empty() {
            doc.paragraph(format!("With what-if: {}. The cluster itself is not changed.", origin.what_ifs.join("; ")));
        }
    }
    doc.append(body.clone());
    if let Some(origin) = origin {
        reproduction(&mut doc, origin);
    }
    doc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_lists_and_commands_stay_what_they_are() {
        let mut body = Document::default();
        body.paragraph("It is so:");
        body.heading(2, "Fixes");
        body.item(2, "1. tolerate it: fits");
        body.code(5, ["kubectl patch pod p".to_owned()]);
        body.item(2, "2. none");
        body.paragraph("End");
        assert_eq!(
            page("A title", &body, None).markdown().as_str(),
            "# A title\n\nIt is so:\n\n## Fixes\n\n- 1\\. tolerate it: fits\n\n```\nkubectl patch pod p\n```\n\n- 2\\. none\n\nEnd\n"
        );
    }
}
