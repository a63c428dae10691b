//! Validation after type checking: constants that cannot be converted, literals of mixed types, and formats.
//!
//! Mirrors the validators of cel-go's `cel/validator.go` and `ext/formatting.go` that
//! `staging/src/k8s.io/apiserver/pkg/cel/environment/base.go` enables.

use super::ast::{Call, Expr, Kind, Literal};
use super::convert;
use super::format;
use super::regex_syntax;
use super::source::Problem;
use super::types::Type;
use super::value::Value;

/// Returns all problems of a type-checked tree.
pub(super) fn validate(expr: &Expr) -> Result<(), Vec<Problem>> {
    let mut problems = Vec::new();
    visit(expr, false, &mut problems);
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn visit(expr: &Expr, in_format: bool, problems: &mut Vec<Problem>) {
    let mut report = |at: usize, message: String| problems.push(Problem { at: Some(at), message });
    let mut within = in_format;
    match &expr.kind {
        Kind::Call(call) => {
            constant_argument(call, &mut report);
            if let Some((at, message)) = format::check(expr, call) {
                report(at, message);
            }
            within |= call.function.as_str() == "format";
        }
        Kind::List(elements) if !in_format => {
            let mut first: Option<Type> = None;
            for element in elements {
                let ty = held(&element.value, element.optional);
                match &first {
                    None => first = Some(ty),
                    Some(first) if first.is_equivalent(&ty) => {}
                    Some(first) => {
                        report(element.value.at, mismatch(first, &ty));
                        break;
                    }
                }
            }
        }
        Kind::Map(entries) if !in_format => {
            let mut first: Option<(Type, Type)> = None;
            for entry in entries {
                let (key, value) = (entry.key.ty.clone(), held(&entry.value, entry.optional));
                match &first {
                    None => first = Some((key, value)),
                    Some((keys, values)) => {
                        if !keys.is_equivalent(&key) {
                            report(entry.key.at, mismatch(keys, &key));
                        }
                        if !values.is_equivalent(&value) {
                            report(entry.value.at, mismatch(values, &value));
                        }
                    }
                }
            }
        }
        _ => {}
    }
    for child in expr.children() {
        visit(child, within, problems);
    }
}

fn held(value: &Expr, optional: bool) -> Type {
    if optional { value.ty.unwrapped().0 } else { value.ty.clone() }
}

fn mismatch(expected: &Type, found: &Type) -> String {
    format!("expected type '{}' but found '{}'", expected.shown(), found.shown())
}

/// Checks conversions of constants and constant patterns. The pattern of the global `matches` is its second argument;
/// as upstream, the first is checked.
fn constant_argument(call: &Call, report: &mut impl FnMut(usize, String)) {
    let name = call.function.as_str();
    let Some(Expr { kind: Kind::Literal(literal), at, .. }) = call.args.first() else { return };
    let wrong = match (name, literal) {
        ("duration" | "timestamp", literal) => convert::convert(name, &Value::from(literal)).is_err(),
        ("matches", Literal::String(pattern)) => regex_syntax::check(pattern).is_err(),
        _ => false,
    };
    if wrong {
        report(*at, format!("invalid {name} argument"));
    }
}
