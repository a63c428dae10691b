//! Redacts attributes of devices. Their texts are serial numbers and addresses as often as models, so they are kept only
//! if an expression would select another device otherwise.

use std::collections::BTreeSet;

use crate::cel::{Part, parts};

/// Attributes that name a kind of device.
const SORTS: [&str; 7] = ["architecture", "brand", "family", "model", "productName", "type", "vendor"];

/// Functions that use a text only for equality.
const PLAIN_FUNCTIONS: [&str; 6] = ["bind", "compareTo", "has", "isGreaterThan", "isLessThan", "type"];

/// Functions that parse a text. Those of a literal do not depend on attributes.
const PARSING: [&str; 2] = ["quantity", "semver"];

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
            self.all |= found.computed || found.names.iter().any(|name| OVER_ALL.contains(&name.as_str()));
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
    /// It computes the name of an attribute.
    computed: bool,
}

impl Found {
    fn of(expression: &str) -> Self {
        let parts = parts(expression);
        let mut found = Self { literals: BTreeSet::new(), names: BTreeSet::new(), plain: true, computed: false };
        for (at, part) in parts.iter().enumerate() {
            let next = |n: usize| parts.get(at + n);
            let is = |n: usize, symbol: &str| next(n) == Some(&Part::Symbol(symbol));
            match part {
                Part::Text(Some(text)) => {
                    found.plain &= !may_be_replacement(text);
                    found.literals.insert(text.clone());
                }
                Part::Text(None) => found.plain = false,
                Part::Name(name) => {
                    let of_literal = PARSING.contains(name) && matches!(next(2), Some(Part::Text(_))) && (is(3, ")") || is(3, ","));
                    found.plain &= !is(1, "(") || of_literal || PLAIN_FUNCTIONS.contains(name);
                    found.names.insert((*name).to_owned());
                }
                // A comparison with a number does not depend on texts.
                Part::Symbol("<" | "<=" | ">" | ">=") => {
                    found.plain &= next(1 + usize::from(is(1, "-"))) == Some(&Part::Number);
                }
                Part::Symbol("+") => found.plain = false,
                Part::Symbol("[") => {
                    found.plain &= !is(1, "?");
                    let indexes = match at.checked_sub(1).map(|before| &parts[before]) {
                        // The driver's domain.
                        Some(Part::Name("attributes" | "capacity")) => false,
                        Some(Part::Name(_) | Part::Symbol(")" | "]" | "}")) => true,
                        _ => false,
                    };
                    found.computed |= indexes && !(matches!(next(1), Some(Part::Text(_))) && is(2, "]"));
                }
                Part::Number | Part::Symbol(_) => {}
            }
        }
        found
    }
}

/// Returns whether a text may equal a replacement.
fn may_be_replacement(text: &str) -> bool {
    let rest = text.strip_prefix(['q', 'r']).unwrap_or_default();
    rest.starts_with(|c: char| c.is_ascii_digit()) && rest.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_lowercase())
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
        // Functions that parse a text see more than its equality.
        check(&format!("semver({serial}).isGreaterThan(semver('1.0.0'))"), "serial", "1.2.3", true);
        check(&format!("quantity({serial}).isGreaterThan(quantity('1Gi'))"), "serial", "80Gi", true);
        check(&format!("{serial}.isLessThan(semver('v2', true))"), "serial", "1.2.3", false);
        check(&format!("cel.bind(s, {serial}, quantity(s).isGreaterThan(quantity('1Gi')))"), "serial", "80Gi", true);
        check(&format!("cel.bind(s, {serial}, s == 'a')"), "serial", "80Gi", false);
        // Comments are no part of an expression.
        check(&format!("{serial} == 'GPU-1' // it's\n && {serial} != 'GPU-2'"), "serial", "GPU-2", true);
        check(&format!("{serial} != 'x' // size(GPU)"), "serial", "GPU-2", false);
        // Literals have their values.
        check(&format!("{serial} == \"GPU\\u002d2\""), "serial", "GPU-2", true);
        check(&format!("{serial} == r'GPU-2'"), "serial", "GPU-2", true);
        check(&format!("{serial} == \"\"\"GPU-2\"\"\""), "serial", "GPU-2", true);
        check(&format!("{serial} == 'q10000a'"), "serial", "GPU-2", true);
        // A computed name may be that of any attribute.
        check("device.attributes['acme.com']['ser' + 'ial'].startsWith('G')", "serial", "GPU-2", true);
        check("device.attributes[device.driver].model.startsWith('G')", "serial", "GPU-2", false);
    }
}
