//! Device selectors: the part of the Common Expression Language that
//! `staging/src/k8s.io/dynamic-resource-allocation/cel/compile.go` sets up around one variable, `device`.
//!
//! An evaluator of our own: `cel` and `kube-cel` have no maps that make up empty domains for `device.attributes["…"]`, do
//! not check fields and operand types before evaluation, word failures differently, and can panic on odd texts. Dates,
//! addresses, URLs, formats and optionals are left out; a selector that uses them does not compile.

mod check;
mod eval;
mod functions;
mod lex;
mod parse;
mod semver;
#[cfg(test)]
mod tests;
mod value;

use regex::Regex;

use self::check::Ty;
use self::functions::Regexes;
use self::parse::{Expr, Kind, Literal, Problem};
use self::value::{DeviceView, Value};
use crate::cluster::Str;
use crate::cluster::resource::Device;

/// A selector ready to be evaluated.
#[derive(Debug)]
pub(in crate::plugins) struct Selector {
    expr: Expr,
    regexes: Regexes,
}

impl Selector {
    /// Compiles an expression; the error is what kube-scheduler shows after `CEL compile error: `.
    pub(in crate::plugins) fn compile(text: &str) -> Result<Self, String> {
        let issue = |problem: Problem| format!("compilation failed: {}", locate(text, &problem));
        let expr = parse::parse(text).map_err(issue)?;
        match check::check(&expr).map_err(issue)? {
            Ty::Bool | Ty::Any => {}
            other => return Err(format!("must evaluate to bool or the unknown type, not {other}")),
        }
        let mut regexes = Regexes::new();
        collect_regexes(&expr, &mut regexes)?;
        Ok(Self { expr, regexes })
    }

    /// Whether the device is selected; the error is what kube-scheduler shows after `CEL runtime error: `.
    pub(in crate::plugins) fn matches(&self, driver: &Str, device: &Device) -> Result<bool, String> {
        let view = DeviceView { driver, device };
        if let Some(defect) = view.defect() {
            return Err(defect);
        }
        match eval::Evaluator::new(Value::Device(view), &self.regexes).eval(&self.expr)? {
            Value::Bool(matches) => Ok(matches),
            other => {
                let ty = other.type_name();
                Err(format!("CEL result of type {ty} could not be converted to bool: unsupported type conversion from '{ty}' to bool"))
            }
        }
    }
}

/// The problem with its place in the text, as cel-go shows it.
fn locate(text: &str, problem: &Problem) -> String {
    let at = problem.at.min(text.len());
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count();
    let column = before.rsplit('\n').next().unwrap_or("").chars().count();
    let snippet = text.split('\n').nth(line).unwrap_or("").replace('\t', " ");
    format!("ERROR: <input>:{}:{}: {}\n | {snippet}\n | {}^", line + 1, column + 1, problem.message, ".".repeat(column))
}

/// Compiles every regular expression that is a literal.
fn collect_regexes(expr: &Expr, regexes: &mut Regexes) -> Result<(), String> {
    if let Kind::Call { name, args, .. } = &expr.kind
        && matches!(name.as_str(), "matches" | "find" | "findAll")
    {
        for arg in args {
            if let Kind::Literal(Literal::String(pattern)) = &arg.kind {
                let regex = Regex::new(pattern).map_err(|_| format!("program instantiation failed: error parsing regexp: `{pattern}`"))?;
                regexes.insert(pattern.clone(), regex);
            }
        }
    }
    parse::children(&expr.kind).try_for_each(|child| collect_regexes(child, regexes))
}
