//! A document as one page of HTML that needs nothing else: no script, no other file. Text from outside stays text: it reaches no tag,
//! no attribute and no style.

use std::fmt::Write as _;

use super::document::nested;
use super::{Block, CodeLine, Document, Item, Span, Text, Words, escape, without_passwords};

/// The style of the page.
const STYLE: &str = include_str!("html.css");

/// The SHA-256 of [`STYLE`] in base64, by which the page's policy allows that style and no other.
const STYLE_HASH: &str = "x1CbobJqaiNvemCXZYMFT2JjZO2ck9vKUsvCrEjqt3Y=";

/// The number of sections from which a page lists them at its top.
const LISTED: usize = 3;

impl Document {
    /// Returns the document as a page of HTML. The first heading is its title; a heading of level 2 begins a section that is open, one
    /// of a higher level a part of it that is folded. On paper all are open.
    pub fn html(&self) -> Text {
        let title =
            self.blocks().iter().find_map(|block| if let Block::Heading(1, words) = block { Some(words.to_string()) } else { None });
        let title = text(title.as_deref().unwrap_or("schedscope"));
        let mut page = Page::default();
        self.blocks().iter().for_each(|block| page.block(block));
        page.close(0);
        let mut out = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        // No script, picture, font, form or other page: whatever a text were to do, the browser would refuse.
        let _ = writeln!(
            out,
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{STYLE_HASH}'; base-uri 'none'; \
             form-action 'none'\">"
        );
        out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        out.push_str("<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"generator\" content=\"schedscope\">\n");
        let _ = write!(out, "<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{}", page.head);
        if page.sections.len() >= LISTED {
            let links = page.sections.iter().enumerate().map(|(at, title)| format!("<a href=\"#s{}\">{title}</a>\n", at + 1));
            let _ = write!(out, "<nav>\n{}</nav>\n", links.collect::<String>());
        }
        let _ = write!(out, "<main>\n{}</main>\n</body>\n</html>\n", page.body);
        Text::written(out)
    }
}

/// A page that is being written.
#[derive(Debug, Default)]
struct Page {
    /// The title's heading.
    head: String,
    /// The titles of sections, as HTML.
    sections: Vec<String>,
    body: String,
    /// The levels of the open headings, outermost first.
    open: Vec<usize>,
}

impl Page {
    fn block(&mut self, block: &Block) {
        match block {
            Block::Heading(level, words) if *level <= 1 && self.head.is_empty() => {
                self.close(0);
                self.head = format!("<h1>{}</h1>\n", inline(words));
            }
            Block::Heading(level, words) => self.heading((*level).clamp(2, 6), &inline(words)),
            Block::Paragraph(words) => {
                let _ = writeln!(self.body, "<p>{}</p>", inline(words));
            }
            Block::List(items) => self.list(items),
            Block::Code(_, lines) => self.code(lines),
            Block::Table(head, rows) => self.table(head, rows),
            Block::Blank => {}
        }
    }

    /// Ends the sections of this level and of higher ones.
    fn close(&mut self, level: usize) {
        while self.open.pop_if(|open| *open >= level).is_some() {
            self.body.push_str("</details>\n");
        }
    }

    fn heading(&mut self, level: usize, words: &str) {
        self.close(level);
        let begin = if level == 2 {
            self.sections.push(words.to_owned());
            format!("<details open id=\"s{}\">", self.sections.len())
        } else {
            "<details>".to_owned()
        };
        let _ = writeln!(self.body, "{begin}<summary><h{level}>{words}</h{level}></summary>");
        self.open.push(level);
    }

    fn list(&mut self, items: &[Item]) {
        let mut depth = 0;
        self.body.push_str("<ul>\n");
        for (at, ((next, _), item)) in nested(items).into_iter().zip(items).enumerate() {
            if next > depth {
                // A list within a list belongs to an item of it.
                self.body.push_str(&"<ul>\n".repeat(next - depth));
            } else {
                self.body.push_str(if at == 0 { "" } else { "</li>\n" });
                self.body.push_str(&"</ul></li>\n".repeat(depth - next));
            }
            let _ = write!(self.body, "<li>{}", inline(&item.words));
            depth = next;
        }
        self.body.push_str(if items.is_empty() { "" } else { "</li>\n" });
        self.body.push_str(&"</ul></li>\n".repeat(depth));
        self.body.push_str("</ul>\n");
    }

    fn code(&mut self, lines: &[CodeLine]) {
        self.body.push_str("<pre><code>");
        for line in lines {
            self.body.push_str(&text(&line.text));
            if !line.remark.is_empty() {
                let _ = write!(self.body, "  <span class=\"remark\">{}</span>", text(line.remark));
            }
            self.body.push('\n');
        }
        self.body.push_str("</code></pre>\n");
    }

    fn table(&mut self, head: &[String], rows: &[Vec<String>]) {
        // A table whose columns have no names is one of facts, each named by its first cell.
        let is_named = head.iter().any(|name| !name.is_empty());
        self.body.push_str(if is_named { "<div class=\"rows\"><table class=\"named\">\n" } else { "<div class=\"rows\"><table>\n" });
        if is_named {
            let names = head.iter().map(|name| format!("<th scope=\"col\">{}</th>", text(name)));
            let _ = writeln!(self.body, "<thead><tr>{}</tr></thead>", names.collect::<String>());
        }
        self.body.push_str("<tbody>\n");
        for row in rows {
            self.body.push_str("<tr>");
            for (at, name) in head.iter().enumerate() {
                let cell = row.get(at).map_or("", String::as_str);
                // Shown where the page is too narrow for columns.
                let label =
                    if cell.is_empty() || !is_named { String::new() } else { format!("<span class=\"label\">{}</span>", text(name)) };
                let is_number = is_named && !cell.is_empty() && cell.bytes().all(|byte| byte.is_ascii_digit());
                let _ = match (at, is_named, is_number) {
                    (0, false, _) => write!(self.body, "<th scope=\"row\">{}</th>", text(cell)),
                    (_, _, true) => write!(self.body, "<td class=\"number\">{label}{}</td>", text(cell)),
                    _ => write!(self.body, "<td>{label}{}</td>", text(cell)),
                };
            }
            self.body.push_str("</tr>\n");
        }
        self.body.push_str("</tbody></table></div>\n");
    }
}

/// Returns words as HTML. Names are isolated, so that one in a script that runs from right to left leaves its neighbours in place.
fn inline(words: &Words) -> String {
    let span = |span: &Span| match span {
        Span::Text(words) => text(words),
        Span::Remark(words) => format!("<span class=\"remark\">{}</span>", text(words)),
        Span::Fix(_, words) => format!("<span class=\"fix\">{}</span>", text(words)),
        Span::Pod(pod) => format!("<bdi class=\"pod\">{}</bdi>", text(&pod.to_string())),
        Span::Node(node) => format!("<bdi class=\"node\">{}</bdi>", text(node)),
    };
    words.spans().iter().map(span).collect()
}

/// Returns a text from outside as text of HTML.
fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in escape(&without_passwords(text)).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::is_plain;
    use super::*;
    use crate::cluster::Key;

    /// Returns a document that has a text wherever one can be.
    fn everywhere(text: &str) -> Document {
        let mut doc = Document::default();
        doc.heading(1, text);
        doc.paragraph(Words::of_pod(&Key::new(text, text)).text(text).node(&text.into()).remark(text));
        doc.heading(2, Words::of_node(&text.into()));
        doc.item(0, Words::of_fix(0, text));
        doc.item(4, text);
        doc.item(6, text);
        doc.item(0, text);
        doc.heading(3, text);
        doc.code(2, [CodeLine { text: text.to_owned(), remark: "# careful" }]);
        doc.table([text, "B"], [vec![text.to_owned()]]);
        doc.heading(2, text);
        doc.table(["", ""], [vec![text.to_owned(), text.to_owned()]]);
        doc.heading(1, text);
        doc.blank();
        doc
    }

    /// Splits a page into its tags and the text between them.
    fn parts(page: &str) -> (Vec<&str>, String) {
        let (mut tags, mut words) = (Vec::new(), String::new());
        for part in page.split_inclusive('>') {
            let at = part.find('<').unwrap_or(part.len());
            words.push_str(&part[..at]);
            tags.push(&part[at..]);
        }
        (tags, words)
    }

    #[test]
    fn the_policy_allows_the_style_of_the_page() {
        assert_eq!(format!("sha256-{STYLE_HASH}"), super::super::style_hash(STYLE), "STYLE_HASH is of another html.css");
        assert!(!STYLE.contains("</") && !STYLE.contains("url(") && !STYLE.contains("@import"));
    }

    #[test]
    fn sections_fold_and_lists_nest() {
        let mut doc = Document::default();
        doc.heading(1, "A & <b>");
        doc.paragraph(Words::from("on ").node(&"n1".into()));
        doc.heading(2, "Nodes");
        doc.item(2, "one");
        doc.item(4, "a part");
        doc.item(2, Words::of_pod(&Key::new("a", "b")));
        doc.heading(3, "a fold");
        doc.code(0, [CodeLine { text: "kubectl delete pod p".to_owned(), remark: "# careful" }]);
        doc.heading(2, "More");
        doc.table(["A", "B"], [vec!["12".to_owned()]]);
        doc.table(["", ""], [vec!["Source".to_owned(), "x".to_owned()]]);
        let page = doc.html();
        let body = page.as_str().split_once("<body>\n").unwrap().1;
        insta::assert_snapshot!(body);
    }

    #[test]
    fn a_long_page_lists_its_sections() {
        let mut doc = Document::default();
        for title in ["One", "<two>", "Three"] {
            doc.heading(2, title);
        }
        let page = doc.html();
        assert!(
            page.as_str().contains("<a href=\"#s2\">&lt;two&gt;</a>") && page.as_str().contains("<details open id=\"s2\">"),
            "{page:?}"
        );
        assert!(page.as_str().contains("<title>schedscope</title>"), "a document without a title has the program's name");
    }

    proptest! {
        #[test]
        fn whatever_a_name_is_it_stays_text(name in r#"(<|>|/|"|'|&|script|style|!--|-->|=|onload|a|\PC|\p{Cc}|\u{202e}){0,12}n"#) {
            let page = everywhere(&name).html();
            let plain = everywhere("x").html();
            prop_assert!(page.as_str().chars().all(|c| c == '\n' || is_plain(c)), "{page:?}");
            let (tags, words) = parts(page.as_str());
            // A text of digits is a number.
            let expected: Vec<&str> = parts(plain.as_str()).0;
            prop_assert_eq!(&tags, &expected);
            let read = words.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'").replace("&amp;", "&");
            let shown = escape(&name).into_owned();
            // Key writes a slash between namespace and name.
            prop_assert!(read.matches(shown.as_str()).count() >= 15 || shown.is_empty(), "{shown:?} in {read}");
        }
    }
}
