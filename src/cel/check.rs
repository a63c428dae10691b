//! What can be told about a selector before it meets a device: unknown names, unknown fields, operators and functions
//! that no overload of takes such operands, and a result that cannot be a decision.
//!
//! Attributes have no type until they are read; whatever depends on one is left to evaluation.

use std::fmt;

use super::eval::TYPES;
use super::functions;
use super::parse::{Expr, Form, Kind, Literal, Problem};
use super::value::Part;
use crate::cluster::Str;

/// Static types, as coarse as the checks need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    /// Known only when evaluated.
    Any,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Null,
    List,
    Map,
    Quantity,
    Semver,
    Type,
    Device,
    Domains(Part),
    Domain(Part),
}

impl Ty {
    /// Whether an operand of type `actual` can stand where this type is asked for.
    pub(super) fn takes(self, actual: Self) -> bool {
        let is_map = |ty| matches!(ty, Self::Map | Self::Domains(_) | Self::Domain(_));
        self == Self::Any || actual == Self::Any || self == actual || (is_map(self) && is_map(actual))
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Any => "any",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::Null => "null",
            Self::List => "list(any)",
            Self::Map => "map(any, any)",
            Self::Quantity => "kubernetes.Quantity",
            Self::Semver => "kubernetes.Semver",
            Self::Type => "type",
            Self::Device => "kubernetes.DRADevice",
            Self::Domains(Part::Attributes) => "map(string, map(string, any))",
            Self::Domains(Part::Capacity) => "map(string, map(string, kubernetes.Quantity))",
            Self::Domain(Part::Attributes) => "map(string, any)",
            Self::Domain(Part::Capacity) => "map(string, kubernetes.Quantity)",
        })
    }
}

/// Infers the type of an expression.
pub(super) fn check(expr: &Expr) -> Result<Ty, Problem> {
    Checker { scope: Vec::new() }.infer(expr)
}

struct Checker {
    scope: Vec<(Str, Ty)>,
}

fn problem<T>(expr: &Expr, message: String) -> Result<T, Problem> {
    Err(Problem { at: expr.at, message })
}

fn no_overload<T>(expr: &Expr, name: &str, target: Option<Ty>, args: &[Ty]) -> Result<T, Problem> {
    let args = args.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let applied = target.map_or_else(|| format!("({args})"), |target| format!("{target}.({args})"));
    problem(expr, format!("found no matching overload for '{name}' applied to '{applied}'"))
}

/// The type of a value that is one of two things.
fn join(a: Ty, b: Ty) -> Ty {
    if a == b { a } else { Ty::Any }
}

impl Checker {
    fn infer(&mut self, expr: &Expr) -> Result<Ty, Problem> {
        match &expr.kind {
            Kind::Literal(literal) => Ok(match literal {
                Literal::Null => Ty::Null,
                Literal::Bool(_) => Ty::Bool,
                Literal::Int(_) => Ty::Int,
                Literal::Uint(_) => Ty::Uint,
                Literal::Double(_) => Ty::Double,
                Literal::String(_) => Ty::String,
                Literal::Bytes(_) => Ty::Bytes,
            }),
            Kind::Ident(name) => self.ident(expr, name),
            Kind::Select { operand, field, test } => {
                let operand = self.infer(operand)?;
                let ty = select(expr, operand, field)?;
                Ok(if *test { Ty::Bool } else { ty })
            }
            Kind::Index(operand, index) => {
                let (operand, index) = (self.infer(operand)?, self.infer(index)?);
                match operand {
                    Ty::Domains(part) if Ty::String.takes(index) => Ok(Ty::Domain(part)),
                    Ty::Domain(Part::Capacity) if Ty::String.takes(index) => Ok(Ty::Quantity),
                    Ty::Domain(Part::Attributes) if Ty::String.takes(index) => Ok(Ty::Any),
                    Ty::List if matches!(index, Ty::Int | Ty::Uint | Ty::Double | Ty::Any) => Ok(Ty::Any),
                    Ty::Map | Ty::Any => Ok(Ty::Any),
                    _ => no_overload(expr, "_[_]", None, &[operand, index]),
                }
            }
            Kind::Call { name, target, args } => {
                let target = target.as_deref().map(|t| self.infer(t)).transpose()?;
                let args = args.iter().map(|a| self.infer(a)).collect::<Result<Vec<_>, _>>()?;
                call(expr, name, target, &args)
            }
            Kind::Unary(op, operand) => {
                let operand = self.infer(operand)?;
                match (op, operand) {
                    ('!', Ty::Bool | Ty::Any) => Ok(Ty::Bool),
                    ('-', Ty::Int | Ty::Double | Ty::Any) => Ok(operand),
                    _ => no_overload(expr, &format!("{op}_"), None, &[operand]),
                }
            }
            Kind::Binary(op, left, right) => {
                let (left, right) = (self.infer(left)?, self.infer(right)?);
                binary(expr, op, left, right)
            }
            Kind::And(terms) | Kind::Or(terms) => {
                let name = if matches!(expr.kind, Kind::And(_)) { "_&&_" } else { "_||_" };
                let types = terms.iter().map(|t| self.infer(t)).collect::<Result<Vec<_>, _>>()?;
                if types.iter().all(|t| Ty::Bool.takes(*t)) { Ok(Ty::Bool) } else { no_overload(expr, name, None, &types) }
            }
            Kind::Conditional(parts) => {
                let types = parts.iter().map(|p| self.infer(p)).collect::<Result<Vec<_>, _>>()?;
                match types.as_slice() {
                    [condition, then, otherwise] if Ty::Bool.takes(*condition) && then.takes(*otherwise) => Ok(join(*then, *otherwise)),
                    _ => no_overload(expr, "_?_:_", None, &types),
                }
            }
            Kind::List(items) => items.iter().try_for_each(|i| self.infer(i).map(drop)).map(|()| Ty::List),
            Kind::Map(entries) => {
                entries.iter().try_for_each(|(k, v)| self.infer(k).and_then(|_| self.infer(v)).map(drop)).map(|()| Ty::Map)
            }
            Kind::Comprehension { form, range, var, body } => self.comprehension(*form, range, var, body),
            Kind::Bind { var, init, body } => {
                let init = self.infer(init)?;
                self.scope.push((var.clone(), init));
                let ty = self.infer(body);
                self.scope.pop();
                ty
            }
        }
    }

    fn ident(&self, expr: &Expr, name: &str) -> Result<Ty, Problem> {
        if let Some((_, ty)) = self.scope.iter().rev().find(|(n, _)| n.as_str() == name) {
            return Ok(*ty);
        }
        match name {
            "device" => Ok(Ty::Device),
            _ if TYPES.contains(&name) => Ok(Ty::Type),
            _ => problem(expr, format!("undeclared reference to '{name}' (in container '')")),
        }
    }

    fn comprehension(&mut self, form: Form, range: &Expr, var: &Str, body: &[Expr]) -> Result<Ty, Problem> {
        let over = self.infer(range)?;
        let item = match over {
            Ty::Domains(_) | Ty::Domain(_) => Ty::String,
            Ty::List | Ty::Map | Ty::Any => Ty::Any,
            other => {
                return problem(
                    range,
                    format!("expression of type '{other}' cannot be range of a comprehension (must be list, map, or dynamic)"),
                );
            }
        };
        self.scope.push((var.clone(), item));
        let types = body.iter().map(|b| self.infer(b)).collect::<Result<Vec<_>, _>>();
        self.scope.pop();
        let types = types?;
        let conditions = if form == Form::Map { types.len() - 1 } else { types.len() };
        for (ty, expr) in types.iter().zip(body).take(conditions) {
            if !Ty::Bool.takes(*ty) {
                return problem(expr, format!("expected type 'bool' but found '{ty}'"));
            }
        }
        Ok(if matches!(form, Form::Filter | Form::Map) { Ty::List } else { Ty::Bool })
    }
}

fn select(expr: &Expr, operand: Ty, field: &str) -> Result<Ty, Problem> {
    match (operand, field) {
        (Ty::Device, "driver") => Ok(Ty::String),
        (Ty::Device, "allowMultipleAllocations") => Ok(Ty::Bool),
        (Ty::Device, "attributes") => Ok(Ty::Domains(Part::Attributes)),
        (Ty::Device, "capacity") => Ok(Ty::Domains(Part::Capacity)),
        (Ty::Device, _) => problem(expr, format!("undefined field '{field}'")),
        (Ty::Domains(part), _) => Ok(Ty::Domain(part)),
        (Ty::Domain(Part::Capacity), _) => Ok(Ty::Quantity),
        (Ty::Domain(Part::Attributes) | Ty::Map | Ty::Any, _) => Ok(Ty::Any),
        _ => problem(expr, format!("type '{operand}' does not support field selection")),
    }
}

fn call(expr: &Expr, name: &str, target: Option<Ty>, args: &[Ty]) -> Result<Ty, Problem> {
    let operands: Vec<Ty> = target.into_iter().chain(args.iter().copied()).collect();
    let mut overloads = functions::overloads(name).peekable();
    if overloads.peek().is_none() {
        return problem(
            expr,
            if functions::is_left_out(name) {
                format!("function {name}() is not supported here")
            } else {
                format!("undeclared reference to '{name}' (in container '')")
            },
        );
    }
    let fits = |o: &&functions::Overload| {
        o.member == target.is_some() && o.params.len() == operands.len() && o.params.iter().zip(&operands).all(|(p, a)| p.takes(*a))
    };
    match overloads.filter(fits).map(|o| o.returns).reduce(join) {
        Some(ty) => Ok(ty),
        None => no_overload(expr, name, target, args),
    }
}

fn binary(expr: &Expr, op: &str, left: Ty, right: Ty) -> Result<Ty, Problem> {
    let number = |ty| matches!(ty, Ty::Int | Ty::Uint | Ty::Double | Ty::Any);
    let ok = match op {
        "==" | "!=" => left.takes(right) || left == Ty::Null || right == Ty::Null,
        "in" => {
            matches!(right, Ty::List | Ty::Map | Ty::Any) || (matches!(right, Ty::Domains(_) | Ty::Domain(_)) && Ty::String.takes(left))
        }
        "<" | "<=" | ">" | ">=" => {
            let ordered = |ty| number(ty) || matches!(ty, Ty::Bool | Ty::String | Ty::Bytes);
            ordered(left) && ordered(right) && (left.takes(right) || (number(left) && number(right)))
        }
        "+" => left.takes(right) && [left, right].iter().all(|t| number(*t) || matches!(t, Ty::String | Ty::Bytes | Ty::List)),
        "%" => left.takes(right) && number(left) && number(right) && left != Ty::Double && right != Ty::Double,
        _ => left.takes(right) && number(left) && number(right),
    };
    if !ok {
        let name = if op == "in" { "@in".to_owned() } else { format!("_{op}_") };
        return no_overload(expr, &name, None, &[left, right]);
    }
    Ok(match op {
        "+" | "-" | "*" | "/" | "%" => join(left, right),
        _ => Ty::Bool,
    })
}
