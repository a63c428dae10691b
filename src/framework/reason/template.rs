//! Text templates with placeholders: `%s` for a plain fact, `%q` for one in double quotes, as in Go.

use std::borrow::Cow;

/// Returns the literal text before the first placeholder, then each placeholder with the literal text after it.
fn parts(template: &'static str) -> (&'static str, Vec<(bool, &'static str)>) {
    let mut places = Vec::new();
    let mut pieces = template.split('%');
    let first = pieces.next().unwrap_or_default();
    for piece in pieces {
        places.push((piece.starts_with('q'), piece.get(1..).unwrap_or_default()));
    }
    (first, places)
}

/// Returns the literal text before the first placeholder.
pub(super) fn first_literal(template: &'static str) -> &'static str {
    template.split('%').next().unwrap_or_default()
}

/// Returns whether the template has no placeholders.
pub(super) fn is_plain(template: &str) -> bool {
    !template.contains('%')
}

/// Returns the literal texts of a template, in order.
pub(super) fn literals(template: &'static str) -> impl Iterator<Item = &'static str> {
    let (first, places) = parts(template);
    std::iter::once(first).chain(places.into_iter().map(|(_, literal)| literal))
}

pub(super) fn fill(template: &'static str, facts: &[Cow<'_, str>]) -> String {
    let mut pieces = template.split('%');
    let mut out = String::with_capacity(template.len() + facts.iter().map(|fact| fact.len()).sum::<usize>());
    out += pieces.next().unwrap_or_default();
    for (i, piece) in pieces.enumerate() {
        let fact = facts.get(i).map_or("", |f| f.as_ref());
        if piece.starts_with('q') {
            out += &format!("{fact:?}");
        } else {
            out += fact;
        }
        out += piece.get(1..).unwrap_or_default();
    }
    out
}

/// Extracts the facts from a text of the template; `None` if the text does not match.
///
/// A fact ends at the next literal text, the last one at the end. With `exact` no text may follow the template.
pub(super) fn read<'t>(template: &'static str, text: &'t str, exact: bool) -> Option<Vec<&'t str>> {
    let mut pieces = template.split('%');
    let mut rest = text.strip_prefix(pieces.next().unwrap_or_default())?;
    let last = template.rsplit('%').next().filter(|_| !is_plain(template)).and_then(|piece| piece.get(1..)).unwrap_or_default();
    // The end is soon compared, and rarely equal.
    if exact && !rest.ends_with(last) {
        return None;
    }
    let mut facts = Vec::new();
    let mut pieces = pieces.peekable();
    while let Some(piece) = pieces.next() {
        let (quoted, literal) = (piece.starts_with('q'), piece.get(1..).unwrap_or_default());
        let (fact, after) = if literal.is_empty() {
            (rest, "")
        } else if pieces.peek().is_none() && exact {
            (rest.strip_suffix(literal)?, "")
        } else {
            rest.split_once(literal)?
        };
        rest = after;
        facts.push(if quoted { fact.strip_prefix('"')?.strip_suffix('"')? } else { fact });
    }
    (!exact || rest.is_empty()).then_some(facts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_filled_and_read_back() {
        for (template, facts, text) in [
            ("plain", vec![], "plain"),
            ("Insufficient %s", vec!["cpu"], "Insufficient cpu"),
            ("claim %q not found", vec!["a b"], "claim \"a b\" not found"),
            ("taint {%s: %s} here", vec!["k", ""], "taint {k: } here"),
            ("%s CSI driver", vec!["ebs"], "ebs CSI driver"),
        ] {
            let filled = fill(template, &facts.iter().map(|f| Cow::Borrowed(*f)).collect::<Vec<_>>());
            assert_eq!(filled, text);
            assert_eq!(read(template, text, true).as_deref(), Some(&facts[..]), "{text}");
            assert_eq!(read(template, "something else", true), None);
        }
        assert_eq!(read("plain", "plain and more", true), None);
        assert_eq!(read("plain", "plain and more", false), Some(vec![]));
        assert_eq!(read("claim %q not found", "claim x not found", true), None);
        assert_eq!(literals("claim %q not found").collect::<Vec<_>>(), ["claim ", " not found"]);
        assert!(is_plain("x") && !is_plain("%s"));
    }
}
