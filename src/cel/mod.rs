//! Device selectors: the part of the Common Expression Language that
//! `staging/src/k8s.io/dynamic-resource-allocation/cel/compile.go` sets up around one variable, `device`.
//!
//! An evaluator of our own: `cel` and `kube-cel` have no maps that make up empty domains for `device.attributes["…"]`, do
//! not check fields and operand types before evaluation, word failures differently, and can panic on odd texts. Dates,
//! addresses, URLs, formats and optionals are left out; a selector that uses them does not compile.

mod check;
mod error;
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
use self::error::Issue;
pub(crate) use self::error::{CelError, CompileError, EvalError};
use self::functions::Regexes;
use self::parse::{Expr, Kind, Literal, Problem};
use self::value::{DeviceView, Value};
use crate::cluster::Str;
use crate::cluster::resource::Device;

/// A selector ready to be evaluated.
#[derive(Debug)]
pub(crate) struct Selector {
    expr: Expr,
    regexes: Regexes,
}

impl Selector {
    /// Compiles an expression; the error reads as kube-scheduler shows it after `CEL compile error: `.
    pub(crate) fn compile(text: &str) -> Result<Self, CompileError> {
        let issue = |problem: Problem| CompileError::Issue(Issue::of(text, problem));
        let expr = parse::parse(text).map_err(issue)?;
        match check::check(&expr).map_err(issue)? {
            Ty::Bool | Ty::Any => {}
            other => return Err(CompileError::NotBool(other)),
        }
        let mut regexes = Regexes::new();
        collect_regexes(&expr, &mut regexes)?;
        Ok(Self { expr, regexes })
    }

    /// Whether the device is selected; the error reads as kube-scheduler shows it after `CEL runtime error: `.
    pub(crate) fn matches(&self, driver: &Str, device: &Device) -> Result<bool, EvalError> {
        let view = DeviceView { driver, device };
        if let Some(defect) = view.defect() {
            return Err(defect);
        }
        match eval::Evaluator::new(Value::Device(view), &self.regexes).eval(&self.expr)? {
            Value::Bool(matches) => Ok(matches),
            other => Err(EvalError::Result(other.type_name())),
        }
    }
}

/// Compiles every regular expression that is a literal.
fn collect_regexes(expr: &Expr, regexes: &mut Regexes) -> Result<(), CompileError> {
    if let Kind::Call { name, args, .. } = &expr.kind
        && matches!(name.as_str(), "matches" | "find" | "findAll")
    {
        for arg in args {
            if let Kind::Literal(Literal::String(pattern)) = &arg.kind {
                let regex = Regex::new(pattern).map_err(|_| CompileError::Regex(pattern.clone()))?;
                regexes.insert(pattern.clone(), regex);
            }
        }
    }
    parse::children(&expr.kind).try_for_each(|child| collect_regexes(child, regexes))
}
