//! Device selectors: the Common Expression Language as kube-scheduler evaluates it, with the environment that
//! `staging/src/k8s.io/dynamic-resource-allocation/cel/compile.go` sets up around one variable, `device`.
//!
//! A text goes through the lexer and the parser (`lex`, `parse`, `macros`), the type checker and validators (`check`,
//! `validate`), planning (`plan`) and evaluation (`eval`, `cost`, `functions` and the libraries below it). It follows cel-go
//! v0.26 step by step, because costs, the texts of errors and many odd results follow from its steps; `cel` and `kube-cel`
//! take other ways.
//!
//! No expression can take long or much memory: nesting is limited as in cel-go, evaluation by its cost, and what cel-go leaves
//! to cost alone (ranges, repeated concatenation) by size as well.

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

pub(crate) use self::error::{CelError, CompileError, EvalError};
use self::eval::Evaluator;
use self::plan::Node;
use self::source::Issues;
use self::types::Type;
use crate::cluster::Str;
use crate::cluster::resource::Device;

/// What a release and its feature gates make of selectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Environment {
    /// Whether attributes may be lists (`DRAListTypeAttributes`).
    pub list_attributes: bool,
    /// Whether `device.allowMultipleAllocations` is known.
    pub multiple_allocations: bool,
    /// Whether `includes` is known.
    pub includes: bool,
    /// Whether `slice`, `flatten`, `sort` and their kin are known.
    pub list_functions: bool,
}

impl Default for Environment {
    /// The environment of v1.36 with its default feature gates.
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

/// What became of an expression that was tried on a device; errors as kube-scheduler words them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The expression does not compile.
    Refused(String),
    /// The evaluation has no result. `cost` is what was spent.
    Failed {
        /// Why.
        error: String,
        /// In units of cel-go's cost.
        cost: u64,
    },
    /// Whether the device is selected.
    Verdict {
        /// The result.
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
    match selector.evaluate(driver, device) {
        (Ok(selected), cost) => Outcome::Verdict { selected, cost },
        (Err(error), cost) => Outcome::Failed { error: error.to_string(), cost },
    }
}

/// A selector ready to be evaluated.
#[derive(Debug)]
pub(crate) struct Selector {
    program: Node,
    environment: Environment,
    /// Whether evaluation may go deeper than a thread's stack is sure to hold.
    deep: bool,
}

/// Texts of fewer brackets, operators and words than this are shallow enough for any thread.
const SHALLOW: usize = 120;
/// The stack for deep expressions, in bytes; cel-go's own limits allow a nesting of a few thousand calls here.
const DEEP_STACK: usize = 256 << 20;

impl Selector {
    /// Compiles an expression; the error reads as kube-scheduler shows it after `CEL compile error: `.
    pub(crate) fn compile(text: &str, environment: Environment) -> Result<Self, CompileError> {
        let deep =
            text.bytes().filter(|b| !b.is_ascii_alphanumeric() && !matches!(b, b' ' | b'\n' | b'"' | b'\'' | b'_')).take(SHALLOW).count()
                == SHALLOW;
        on_stack(deep, || compile(text, environment)).map(|program| Self { program, environment, deep })
    }

    /// Whether the device is selected; the error reads as kube-scheduler shows it after `CEL runtime error: `.
    pub(crate) fn matches(&self, driver: &Str, device: &Device) -> Result<bool, EvalError> {
        self.evaluate(driver, device).0
    }

    /// The verdict on the device, and what it cost.
    fn evaluate(&self, driver: &Str, device: &Device) -> (Result<bool, EvalError>, u64) {
        let device = match device::value(driver, device, self.environment) {
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
    plan::plan(&expr).map_err(CompileError::Program)
}

/// Runs the work on a stack of its own where it may go deep.
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
