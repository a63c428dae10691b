//! Macros: calls that the parser replaces by folds, conditionals and other nodes.
//!
//! Mirrors cel-go's `parser/macro.go`, `ext/comprehensions.go`, `ext/bindings.go`, `cel/library.go` (`optMap`,
//! `optFlatMap`) and `ext/lists.go` (`sortBy`). Nodes made by a macro point at the opening bracket of its call.

use super::ast::{Expr, Fold, Kind, Literal, op};
use super::source::Problem;
use crate::cluster::Str;

/// The accumulator of macros; it cannot be written as an identifier.
const ACCU: &str = "@result";
/// The accumulator of older releases, still a forbidden name.
const OLD_ACCU: &str = "__result__";
/// The variable of a fold that only binds a name.
const UNUSED: &str = "#unused";
const SORT_INPUT: &str = "@__sortBy_input__";

/// A call that may be a macro.
pub(super) struct Candidate<'a> {
    pub(super) at: usize,
    pub(super) name: &'a str,
    pub(super) target: Option<Expr>,
    pub(super) args: Vec<Expr>,
}

/// The result of expanding a call.
pub(super) enum Expansion {
    Expanded(Expr),
    Failed(Problem),
    /// The call is not a macro.
    NoMacro {
        target: Option<Expr>,
        args: Vec<Expr>,
    },
}

fn problem(at: usize, message: impl Into<String>) -> Problem {
    Problem { at: Some(at), message: message.into() }
}

/// Expands a macro. Macros are identified by name, style and number of arguments.
pub(super) fn expand(call: Candidate<'_>) -> Expansion {
    let Candidate { at, name, target, mut args } = call;
    let expanded = match (name, target, args.len()) {
        ("has", None, 1) => has(at, args.remove(0)),
        ("bind", Some(cel), 3) if matches!(&cel.kind, Kind::Ident(name) if name.as_str() == "cel") => bind(at, args),
        ("optMap" | "optFlatMap", Some(target), 2) => optional_map(at, name, target, args),
        ("sortBy", Some(target), 2) => sort_by(at, target, args),
        ("all" | "exists" | "exists_one" | "map" | "filter", Some(target), 2) | ("map", Some(target), 3) => {
            one_variable(at, name, target, args)
        }
        ("all" | "exists" | "existsOne" | "exists_one" | "transformList" | "transformMap" | "transformMapEntry", Some(target), 3)
        | ("transformList" | "transformMap" | "transformMapEntry", Some(target), 4) => two_variables(at, name, target, args),
        (_, target, _) => return Expansion::NoMacro { target, args },
    };
    expanded.map_or_else(Expansion::Failed, Expansion::Expanded)
}

fn has(at: usize, arg: Expr) -> Result<Expr, Problem> {
    match arg.kind {
        Kind::Select { operand, field, .. } => Ok(Expr::new(at, Kind::Select { operand, field, test: true })),
        _ => Err(problem(arg.at, "invalid argument to has() macro")),
    }
}

/// Makes a fold over an empty range whose result uses a bound variable.
fn binding(at: usize, var: &str, init: Expr, body: Expr) -> Expr {
    Expr::new(
        at,
        Kind::Fold(Box::new(Fold {
            range: Expr::new(at, Kind::List(Vec::new())),
            var: UNUSED.into(),
            var2: None,
            accu_var: var.into(),
            accu: init,
            cond: Expr::literal(at, Literal::Bool(false)),
            step: Expr::ident(at, var),
            result: body,
        })),
    )
}

fn simple_name(arg: &Expr, message: &str) -> Result<Str, Problem> {
    match &arg.kind {
        Kind::Ident(name) => Ok(name.clone()),
        _ => Err(problem(arg.at, message)),
    }
}

fn bind(at: usize, args: Vec<Expr>) -> Result<Expr, Problem> {
    let [var, init, body] = <[Expr; 3]>::try_from(args).map_err(|_| problem(at, "cel.bind()"))?;
    let name = simple_name(&var, "cel.bind() variable names must be simple identifiers")?;
    Ok(binding(at, &name, init, body))
}

/// Makes `target.hasValue() ? optional.of(bind(var, target.value(), body)) : optional.none()`. The body of `optFlatMap`
/// is already optional.
fn optional_map(at: usize, name: &str, target: Expr, mut args: Vec<Expr>) -> Result<Expr, Problem> {
    let body = args.remove(1);
    let var = simple_name(&args[0], &format!("{name}() variable name must be a simple identifier"))?;
    let value = Expr::member(at, "value", target.clone(), Vec::new());
    let mut mapped = binding(at, &var, value, body);
    if name == "optMap" {
        mapped = Expr::call(at, "optional.of", vec![mapped]);
    }
    let present = Expr::member(at, "hasValue", target, Vec::new());
    Ok(Expr::call(at, op::CONDITIONAL, vec![present, mapped, Expr::call(at, "optional.none", Vec::new())]))
}

fn sort_by(at: usize, target: Expr, args: Vec<Expr>) -> Result<Expr, Problem> {
    if !matches!(target.kind, Kind::List(_) | Kind::Select { .. } | Kind::Ident(_) | Kind::Fold(_) | Kind::Call { .. }) {
        return Err(problem(target.at, "sortBy can only be applied to a list, identifier, comprehension, call or select expression"));
    }
    let keys = one_variable(at, "map", Expr::ident(at, SORT_INPUT), args)?;
    let sorted = Expr::member(at, op::SORT_BY_KEYS, Expr::ident(at, SORT_INPUT), vec![keys]);
    Ok(binding(at, SORT_INPUT, target, sorted))
}

fn checked_name(arg: &Expr, name: &Str) -> Result<(), Problem> {
    if matches!(name.as_str(), ACCU | OLD_ACCU) {
        return Err(problem(arg.at, "iteration variable overwrites accumulator variable"));
    }
    Ok(())
}

fn one_variable(at: usize, name: &str, range: Expr, mut args: Vec<Expr>) -> Result<Expr, Problem> {
    let var_arg = args.remove(0);
    let quantifier = matches!(name, "all" | "exists" | "exists_one");
    let var = simple_name(&var_arg, if quantifier { "argument must be a simple name" } else { "argument is not an identifier" })?;
    checked_name(&var_arg, &var)?;
    let body = args.pop().unwrap_or_else(|| Expr::new(at, Kind::Error));
    let parts = match name {
        "map" => listed(at, args.pop(), body),
        "filter" => listed(at, Some(body), var_arg),
        _ => quantified(at, name, body),
    };
    Ok(parts.fold(at, range, var, None))
}

fn two_variables(at: usize, name: &str, range: Expr, mut args: Vec<Expr>) -> Result<Expr, Problem> {
    let body = args.pop().unwrap_or_else(|| Expr::new(at, Kind::Error));
    let var = simple_name(&args[0], "argument must be a simple name")?;
    let var2 = simple_name(&args[1], "argument must be a simple name")?;
    if var == var2 {
        return Err(problem(args[1].at, format!("duplicate variable name: {var}")));
    }
    checked_name(&args[0], &var)?;
    checked_name(&args[1], &var2)?;
    let filter = (args.len() > 2).then(|| args.remove(2));
    let parts = match name {
        "transformList" => listed(at, filter, body),
        "transformMap" => inserted(at, filter, vec![accu(at), Expr::ident(at, &var), body]),
        "transformMapEntry" => inserted(at, filter, vec![accu(at), body]),
        _ => quantified(at, name, body),
    };
    Ok(parts.fold(at, range, var, Some(var2)))
}

/// A fold without its range and variables.
struct Parts {
    init: Expr,
    cond: Expr,
    step: Expr,
    result: Expr,
}

impl Parts {
    fn fold(self, at: usize, range: Expr, var: Str, var2: Option<Str>) -> Expr {
        let Self { init, cond, step, result } = self;
        Expr::new(at, Kind::Fold(Box::new(Fold { range, var, var2, accu_var: ACCU.into(), accu: init, cond, step, result })))
    }
}

fn accu(at: usize) -> Expr {
    Expr::ident(at, ACCU)
}

fn quantified(at: usize, name: &str, body: Expr) -> Parts {
    let literal = |value| Expr::literal(at, value);
    let strictly = |value| Expr::call(at, op::NOT_STRICTLY_FALSE, vec![value]);
    match name {
        "all" => Parts {
            init: literal(Literal::Bool(true)),
            cond: strictly(accu(at)),
            step: Expr::call(at, op::AND, vec![accu(at), body]),
            result: accu(at),
        },
        "exists" => Parts {
            init: literal(Literal::Bool(false)),
            cond: strictly(Expr::call(at, op::NOT, vec![accu(at)])),
            step: Expr::call(at, op::OR, vec![accu(at), body]),
            result: accu(at),
        },
        _ => {
            let one = || literal(Literal::Int(1));
            Parts {
                init: literal(Literal::Int(0)),
                cond: literal(Literal::Bool(true)),
                step: Expr::call(at, op::CONDITIONAL, vec![body, Expr::call(at, op::ADD, vec![accu(at), one()]), accu(at)]),
                result: Expr::call(at, op::EQUALS, vec![accu(at), one()]),
            }
        }
    }
}

fn filtered(at: usize, filter: Option<Expr>, step: Expr) -> Expr {
    match filter {
        Some(filter) => Expr::call(at, op::CONDITIONAL, vec![filter, step, accu(at)]),
        None => step,
    }
}

fn listed(at: usize, filter: Option<Expr>, item: Expr) -> Parts {
    let step = Expr::call(at, op::ADD, vec![accu(at), Expr::list_of(at, item)]);
    Parts {
        init: Expr::new(at, Kind::List(Vec::new())),
        cond: Expr::literal(at, Literal::Bool(true)),
        step: filtered(at, filter, step),
        result: accu(at),
    }
}

fn inserted(at: usize, filter: Option<Expr>, args: Vec<Expr>) -> Parts {
    Parts {
        init: Expr::new(at, Kind::Map(Vec::new())),
        cond: Expr::literal(at, Literal::Bool(true)),
        step: filtered(at, filter, Expr::call(at, op::MAP_INSERT, args)),
        result: accu(at),
    }
}
