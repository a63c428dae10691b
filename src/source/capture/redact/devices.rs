//! Redacts attributes of devices. Their texts are serial numbers and addresses as often as models, so they are kept only
//! if an expression would select another device otherwise.

use std::collections::BTreeSet;

/// Attributes that name a kind of device.
const SORTS: [&str; 7] = ["architecture", "brand", "family", "model", "productName", "type", "vendor"];

/// Functions that use a text only for equality.
const PLAIN_FUNCTIONS: [&str; 8] = ["cel.bind", "compareTo", "has", "in", "isGreaterThan", "isLessThan", "quantity", "semver"];

/// Functions that use attributes without naming them.
const OVER_ALL: [&str; 7] = ["all", "exists", "exists_one", "existsOne", "filter", "map", "transformList"];

/// The use of attributes in the CEL expressions of a cluster.
#[derive(Debug, Default)]
pub(super) struct Expressions {
    /// Texts that they compare with.
    literals: BTreeSet<String>,
    /// Names in the expressions that use more of a text than equality.
    looked_into: BTreeSet<String>,
    /// An expression uses more than equality of texts that it does not name.
    all: bool,
}

impl Expressions {
    pub(super) fn add(&mut self, expression: &str) {
        let found = Found::of(expression);
        if !found.plain {
            self.looked_into.extend(found.names.iter().cloned());
            // A literal can be a key: `device.attributes["acme.com"]["serial"]`.
            self.looked_into.extend(found.literals.iter().filter_map(|text| text.rsplit('/').next()).map(str::to_owned));
            self.all |= found.names.iter().any(|name| OVER_ALL.contains(&name.as_str()));
        }
        self.literals.extend(found.literals);
    }

    /// Returns a number that grows with each expression that adds to them.
    pub(super) fn len(&self) -> usize {
        self.literals.len() + self.looked_into.len() + usize::from(self.all)
    }

    /// Returns whether the text of an attribute is kept.
    pub(super) fn keep(&self, attribute: &str, text: &str) -> bool {
        let name = attribute.rsplit('/').next().unwrap_or(attribute);
        self.all || SORTS.contains(&name) || self.looked_into.contains(name) || self.literals.contains(text)
    }
}

/// The parts of an expression.
struct Found {
    literals: BTreeSet<String>,
    names: BTreeSet<String>,
    /// Texts are at most compared for equality.
    plain: bool,
}

impl Found {
    fn of(expression: &str) -> Self {
        let mut found = Self { literals: BTreeSet::new(), names: BTreeSet::new(), plain: true };
        let mut rest = expression;
        let mut before = None;
        while let Some(first) = rest.chars().next() {
            let mut length = first.len_utf8();
            if matches!(first, '"' | '\'') {
                length = found.literal(rest, first);
            } else if first.is_ascii_alphanumeric() || first == '_' {
                length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                let name = &rest[..length];
                let called = rest[length..].trim_start().starts_with('(');
                found.plain &= !called || PLAIN_FUNCTIONS.iter().any(|f| f.rsplit('.').next() == Some(name));
                found.names.insert(name.to_owned());
            } else if matches!(first, '<' | '>') {
                // A comparison with a number does not depend on texts.
                let after = rest[1..].trim_start_matches('=').trim_start().trim_start_matches('-').chars().next();
                found.plain &= after.is_some_and(|c| c.is_ascii_digit());
            } else if first == '+' || first == '\\' || first == '?' && before == Some('[') {
                found.plain = false;
            }
            if !first.is_whitespace() {
                before = Some(first);
            }
            rest = &rest[length..];
        }
        found
    }

    /// Reads a literal at the start of `rest`; returns its length in bytes.
    fn literal(&mut self, rest: &str, quote: char) -> usize {
        let end = rest[1..].find(quote).map_or(rest.len(), |at| at + 1);
        let text = &rest[1..end];
        // A literal with escapes, or one that looks like a replacement, is not understood.
        let numbered = text.strip_prefix('r').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
        self.plain &= !text.is_empty() && !text.contains('\\') && !numbered;
        self.literals.insert(text.to_owned());
        (end + 1).min(rest.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay_where_an_expression_would_miss_them() {
        let check = |expression: &str, attribute: &str, text: &str, kept: bool| {
            let mut expressions = Expressions::default();
            expressions.add(expression);
            assert_eq!(expressions.keep(attribute, text), kept, "{expression}: {attribute} {text}");
        };
        let serial = r#"device.attributes["acme.com"].serial"#;
        check("device.driver == \"acme.com\"", "serial", "GPU-1", false);
        check("device.driver == \"acme.com\"", "acme.com/model", "a100", true);
        check(&format!("{serial} == \"GPU-1\""), "serial", "GPU-1", true);
        check(&format!("{serial} == \"GPU-1\""), "serial", "GPU-2", false);
        check(&format!("{serial} in ['GPU-1', 'GPU-2']"), "serial", "GPU-2", true);
        check(&format!("{serial}.startsWith(\"GPU\")"), "acme.com/serial", "GPU-2", true);
        check(&format!("{serial}.startsWith(\"GPU\")"), "other", "GPU-2", false);
        check(&format!("{serial}.matches('\\\\d')"), "serial", "2", true);
        check(&format!("{serial} < \"M\""), "serial", "GPU-2", true);
        check(&format!("{serial} + \"x\" == \"GPU-2x\""), "serial", "GPU-2", true);
        check(&format!("{serial} == \"r12\""), "serial", "GPU-2", true);
        check("device.attributes['acme.com']['serial'].contains('PU')", "serial", "GPU-2", true);
        check("device.attributes['acme.com'].all(k, k != 'x')", "serial", "GPU-2", true);
        check("device.attributes['acme.com'].speed >= 25 && has(device.attributes['acme.com'].serial)", "serial", "GPU-2", false);
        check("device.capacity['acme.com'].memory.compareTo(quantity('80Gi')) >= 0", "serial", "GPU-2", false);
        check("'", "serial", "GPU-2", false);
    }
}
