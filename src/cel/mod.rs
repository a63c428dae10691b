//! Device selectors: the Common Expression Language as kube-scheduler evaluates it, with the environment that
//! `staging/src/k8s.io/dynamic-resource-allocation/cel/compile.go` sets up around one variable, `device`.
//!
//! A text passes the lexer and the parser (`lex`, `parse`, `macros`), the type checker and validators (`check`,
//! `validate`), planning (`plan`) and evaluation (`eval`, `cost`, `functions` and the libraries below it). It follows
//! the steps of cel-go v0.26, because costs, error texts and many odd results depend on them. The crates `cel` and
//! `kube-cel` work differently.
//!
//! An evaluation without a result is an `EvalError`. Where Go wraps the text of one error in that of another (addresses, URLs,
//! formatting), the helpers return that text as a `String`: it is data of the message, and no code decides by it.
//!
//! Every expression has bounded time and memory. Nesting is limited as in cel-go, and evaluation by its cost. Ranges
//! and repeated concatenation, which cel-go limits by cost only, are limited by size as well.

mod address;
mod arithmetic;
mod ast;
mod budget;
mod check;
mod convert;
mod cost;
mod decls;
mod device;
mod error;
mod eval;
mod format;
mod functions;
mod lex;
mod lists;
mod literal;
mod macros;
mod message;
mod named_format;
mod number;
mod parse;
mod parts;
mod plan;
mod quantity;
mod regex_syntax;
mod semver;
mod source;
mod strings;
#[cfg(test)]
mod tests;
mod time;
mod token;
mod types;
mod url;
mod validate;
mod value;

use std::cell::OnceCell;

pub(crate) use self::error::{CelError, CompileError, EvalError};
use self::eval::Evaluator;
pub(crate) use self::parts::{Part, parts};
use self::plan::Node;
use self::source::Issues;
use self::types::Type;
use self::value::Value;
use crate::cluster::Str;
use crate::cluster::resource::Device;

/// The CEL environment of a release and its feature gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Environment {
    /// Whether attributes may be lists (`DRAListTypeAttributes`).
    pub list_attributes: bool,
    /// Whether `device.allowMultipleAllocations` is declared.
    pub multiple_allocations: bool,
    /// Whether `includes` is declared.
    pub includes: bool,
    /// Whether `slice`, `flatten`, `sort` and similar are declared.
    pub list_functions: bool,
}

impl Default for Environment {
    /// Returns the environment of v1.36 with its default feature gates.
    fn default() -> Self {
        Self { list_attributes: false, multiple_allocations: true, includes: true, list_functions: true }
    }
}

impl Environment {
    fn has_function(self, name: &str) -> bool {
        let known = match name {
            "includes" => self.includes,
            "slice" | "flatten" | "sort" | "@sortByAssociatedKeys" | "lists.range" | "reverse" | "distinct" => self.list_functions,
            _ => true,
        };
        known && decls::FUNCTIONS.named(name).is_some()
    }
}

/// The result of evaluating an expression on a device. Errors are in kube-scheduler's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The expression does not compile.
    Refused(String),
    /// The evaluation failed.
    Failed {
        error: String,
        /// In units of cel-go's cost.
        cost: u64,
    },
    /// The evaluation succeeded.
    Verdict {
        /// Whether the device is selected.
        selected: bool,
        /// In units of cel-go's cost.
        cost: u64,
    },
}

/// Compiles an expression and evaluates it on a device of a driver.
pub fn evaluate(expression: &str, environment: Environment, driver: &Str, device: &Device) -> Outcome {
    let selector = match Selector::compile(expression, environment) {
        Ok(selector) => selector,
        Err(error) => return Outcome::Refused(error.to_string()),
    };
    match selector.evaluate(&Activation::new(driver, device, environment)) {
        (Ok(selected), cost) => Outcome::Verdict { selected, cost },
        (Err(error), cost) => Outcome::Failed { error: error.to_string(), cost },
    }
}

/// A device of a driver, bound to the variable of selectors. It is read when the first selector is evaluated, once for all.
#[derive(Debug)]
pub(crate) struct Activation<'a> {
    driver: &'a Str,
    device: &'a Device,
    environment: Environment,
    value: OnceCell<Result<Value, EvalError>>,
}

impl<'a> Activation<'a> {
    /// Binds a device for selectors that are compiled for `environment`.
    pub(crate) fn new(driver: &'a Str, device: &'a Device, environment: Environment) -> Self {
        Self { driver, device, environment, value: OnceCell::new() }
    }

    pub(crate) fn device(&self) -> &'a Device {
        self.device
    }

    /// Returns the device as expressions see it; the error is that of every selector.
    fn value(&self) -> Result<Value, EvalError> {
        self.value.get_or_init(|| device::value(self.driver, self.device, self.environment)).clone()
    }
}

/// A compiled selector.
#[derive(Debug)]
pub(crate) struct Selector {
    program: Node,
    /// Whether evaluation may need more stack than a thread is sure to have.
    deep: bool,
}

/// Texts with fewer brackets, operators and words are shallow enough for any thread.
const SHALLOW: usize = 120;
/// The stack for deep expressions, in bytes. cel-go's own limits allow a nesting of a few thousand calls.
const DEEP_STACK: usize = 256 << 20;

impl Selector {
    /// Compiles an expression; the error is the text after kube-scheduler's `CEL compile error: `.
    pub(crate) fn compile(text: &str, environment: Environment) -> Result<Self, CompileError> {
        let deep =
            text.bytes().filter(|b| !b.is_ascii_alphanumeric() && !matches!(b, b' ' | b'\n' | b'"' | b'\'' | b'_')).take(SHALLOW).count()
                == SHALLOW;
        on_stack(deep, || compile(text, environment)).map(|program| Self { program, deep })
    }

    /// Whether the device is selected; the error is the text after kube-scheduler's `CEL runtime error: `.
    pub(crate) fn matches(&self, activation: &Activation<'_>) -> Result<bool, EvalError> {
        self.evaluate(activation).0
    }

    /// Returns the verdict on the device as [`Self::matches`], and its cost in units of cel-go's cost.
    pub(crate) fn evaluate(&self, activation: &Activation<'_>) -> (Result<bool, EvalError>, u64) {
        let device = match activation.value() {
            Ok(device) => device,
            Err(error) => return (Err(error), 0),
        };
        on_stack(self.deep, || {
            budget::reset();
            let mut evaluator = Evaluator::new(device);
            let result = evaluator.eval(&self.program).and_then(|value| convert::to_bool(&value));
            let result = if budget::is_spent() { Err(EvalError::CostLimit) } else { result };
            (result, evaluator.cost())
        })
    }
}

fn compile(text: &str, environment: Environment) -> Result<Node, CompileError> {
    budget::reset();
    let issues = |problems: Vec<source::Problem>| CompileError::Issues(Issues::new(text, &problems));
    let mut expr = parse::parse(text).map_err(issues)?;
    check::check(&mut expr, environment).map_err(issues)?;
    validate::validate(&expr).map_err(issues)?;
    match expr.ty {
        Type::Bool | Type::Any => {}
        Type::Dyn if environment.list_attributes => {}
        other => return Err(CompileError::NotBool(other)),
    }
    let planned = plan::plan(&expr);
    let planned = if budget::is_spent() { Err(EvalError::CostLimit) } else { planned };
    planned.map_err(CompileError::Program)
}

/// Runs the work on a separate large stack if it may need one.
fn on_stack<R: Send>(deep: bool, work: impl FnOnce() -> R + Send) -> R {
    if !deep {
        return work();
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(DEEP_STACK).spawn_scoped(scope, work);
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => panic!("no thread for a deep selector: {error}"),
        }
    })
}
