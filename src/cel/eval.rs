//! Evaluation of a checked selector.
//!
//! `&&`, `||`, `all` and `exists` swallow a failure where another operand settles the result, as CEL demands.

use std::cell::Cell;
use std::cmp::Ordering;
use std::sync::Arc;

use super::error::EvalError;
use super::functions::{self, Regexes};
use super::parse::{Expr, Form, Kind};
use super::value::Value;
use crate::cluster::Str;

/// How much one evaluation may cost, roughly in cel-go's units; `CELSelectorExpressionMaxCost` in
/// `staging/src/k8s.io/api/resource/v1/types.go`.
const MAX_COST: usize = 1_000_000;

/// The names of types, which are values themselves.
pub(super) const TYPES: [&str; 10] = ["bool", "int", "uint", "double", "string", "bytes", "list", "map", "null_type", "type"];

type Evaluated<'a> = Result<Value<'a>, EvalError>;

/// One evaluation: variables in scope, and what it has cost so far.
pub(super) struct Evaluator<'a, 'r> {
    pub(super) device: Value<'a>,
    pub(super) regexes: &'r Regexes,
    scope: Vec<(Str, Value<'a>)>,
    cost: Cell<usize>,
}

impl<'a, 'r> Evaluator<'a, 'r> {
    pub(super) fn new(device: Value<'a>, regexes: &'r Regexes) -> Self {
        Self { device, regexes, scope: Vec::new(), cost: Cell::new(0) }
    }

    fn spend(&self, cost: usize) -> Result<(), EvalError> {
        self.cost.set(self.cost.get().saturating_add(cost));
        if self.cost.get() > MAX_COST { Err(EvalError::CostLimit) } else { Ok(()) }
    }

    pub(super) fn eval(&mut self, expr: &Expr) -> Evaluated<'a> {
        self.spend(1)?;
        match &expr.kind {
            Kind::Literal(literal) => Ok(literal.into()),
            Kind::Ident(name) => self.ident(name),
            Kind::Select { operand, field, test } => {
                let (operand, key) = (self.eval(operand)?, Value::String(field.clone()));
                if *test { Ok(Value::Bool(operand.find(&key).is_some())) } else { operand.index(&key) }
            }
            Kind::Index(operand, index) => {
                let operand = self.eval(operand)?;
                operand.index(&self.eval(index)?)
            }
            Kind::Call { name, target, args } => {
                let mut operands = Vec::with_capacity(args.len() + 1);
                for operand in target.as_deref().into_iter().chain(args) {
                    operands.push(self.eval(operand)?);
                }
                self.spend(operands.iter().map(size).sum())?;
                let value = functions::call(name, &operands, self.regexes)?;
                self.spend(size(&value))?;
                Ok(value)
            }
            Kind::Unary(op, operand) => match (op, self.eval(operand)?) {
                ('!', Value::Bool(b)) => Ok(Value::Bool(!b)),
                ('-', Value::Int(i)) => i.checked_neg().map(Value::Int).ok_or(EvalError::IntegerOverflow),
                ('-', Value::Double(d)) => Ok(Value::Double(-d)),
                _ => Err(EvalError::NoSuchOverload),
            },
            Kind::Binary(op, left, right) => {
                let (left, right) = (self.eval(left)?, self.eval(right)?);
                self.spend(size(&left) + size(&right))?;
                binary(op, &left, &right)
            }
            Kind::And(terms) => self.logical(terms, false),
            Kind::Or(terms) => self.logical(terms, true),
            Kind::Conditional(parts) => match self.eval(&parts[0])? {
                Value::Bool(true) => self.eval(&parts[1]),
                Value::Bool(false) => self.eval(&parts[2]),
                _ => Err(EvalError::NoSuchOverload),
            },
            Kind::List(items) => Ok(Value::list(items.iter().map(|i| self.eval(i)).collect::<Result<_, _>>()?)),
            Kind::Map(entries) => {
                let mut map: Vec<(Value<'a>, Value<'a>)> = Vec::with_capacity(entries.len());
                for (key, value) in entries {
                    let key = self.eval(key)?;
                    if map.iter().any(|(k, _)| k.equals(&key) == Ok(true)) {
                        return Err(EvalError::RepeatedKey(key.to_string()));
                    }
                    map.push((key, self.eval(value)?));
                }
                Ok(Value::Map(Arc::new(map)))
            }
            Kind::Comprehension { form, range, var, body } => self.comprehension(*form, range, var, body),
            Kind::Bind { var, init, body } => {
                let init = self.eval(init)?;
                self.with(var, init, |e| e.eval(body))
            }
        }
    }

    fn ident(&self, name: &str) -> Evaluated<'a> {
        if let Some((_, value)) = self.scope.iter().rev().find(|(n, _)| n.as_str() == name) {
            return Ok(value.clone());
        }
        match TYPES.iter().find(|t| **t == name) {
            Some(ty) => Ok(Value::Type(ty)),
            None if name == "device" => Ok(self.device.clone()),
            None => Err(EvalError::NoSuchAttribute(name.into())),
        }
    }

    fn with<T>(&mut self, var: &Str, value: Value<'a>, run: impl FnOnce(&mut Self) -> T) -> T {
        self.scope.push((var.clone(), value));
        let result = run(self);
        self.scope.pop();
        result
    }

    /// The value that settles the operator, else the first failure, else the other value.
    fn logical(&mut self, terms: &[Expr], settles: bool) -> Evaluated<'a> {
        let mut failure = None;
        for term in terms {
            match self.eval(term) {
                Ok(Value::Bool(b)) if b == settles => return Ok(Value::Bool(settles)),
                Ok(Value::Bool(_)) => {}
                Ok(_) => failure = failure.or_else(|| Some(EvalError::NoSuchOverload)),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(Value::Bool(!settles)), Err)
    }

    fn comprehension(&mut self, form: Form, range: &Expr, var: &Str, body: &[Expr]) -> Evaluated<'a> {
        let range = self.eval(range)?;
        let items = match &range {
            Value::List(items) => items.to_vec(),
            other => match other.entries() {
                Some(entries) => entries.into_iter().map(|(key, _)| key).collect(),
                None => return Err(EvalError::NotIterable(other.type_name())),
            },
        };
        let (mut failure, mut count, mut out) = (None, 0, Vec::new());
        for item in items {
            self.spend(1)?;
            let kept = item.clone();
            let (verdict, mapped) = self.with(var, item, |e| {
                let condition = if form == Form::Map && body.len() == 1 { Ok(Value::Bool(true)) } else { e.eval(&body[0]) };
                let mapped = match (&condition, form) {
                    (Ok(Value::Bool(true)), Form::Map) => body.last().map(|b| e.eval(b)),
                    _ => None,
                };
                (condition, mapped)
            });
            let verdict = verdict.and_then(|v| if let Value::Bool(b) = v { Ok(b) } else { Err(EvalError::NoSuchOverload) });
            match (form, verdict) {
                (Form::All, Ok(false)) => return Ok(Value::Bool(false)),
                (Form::Exists, Ok(true)) => return Ok(Value::Bool(true)),
                (Form::All | Form::Exists, Err(error)) => failure = failure.or(Some(error)),
                (_, Err(error)) => return Err(error),
                (Form::ExistsOne, Ok(true)) => count += 1,
                (Form::Filter, Ok(true)) => out.push(kept),
                (Form::Map, Ok(true)) => out.extend(mapped.transpose()?),
                _ => {}
            }
        }
        match (form, failure) {
            (_, Some(error)) => Err(error),
            (Form::All, None) => Ok(Value::Bool(true)),
            (Form::Exists, None) => Ok(Value::Bool(false)),
            (Form::ExistsOne, None) => Ok(Value::Bool(count == 1)),
            (Form::Filter | Form::Map, None) => Ok(Value::list(out)),
        }
    }
}

/// What handling the value costs beyond the step itself.
fn size(value: &Value<'_>) -> usize {
    match value {
        Value::String(s) => s.len() / 10,
        Value::Bytes(b) => b.len() / 10,
        Value::List(items) => items.len(),
        _ => 0,
    }
}

fn binary<'a>(op: &str, left: &Value<'a>, right: &Value<'a>) -> Evaluated<'a> {
    let ordered = |test: fn(Ordering) -> bool| left.compare(right).map(test).map(Value::Bool);
    match op {
        "==" => left.equals(right).map(Value::Bool),
        "!=" => left.equals(right).map(|equal| Value::Bool(!equal)),
        "in" => right.contains(left).map(Value::Bool),
        "<" => ordered(Ordering::is_lt),
        "<=" => ordered(Ordering::is_le),
        ">" => ordered(Ordering::is_gt),
        ">=" => ordered(Ordering::is_ge),
        _ => arithmetic(op, left, right),
    }
}

fn arithmetic<'a>(op: &str, left: &Value<'a>, right: &Value<'a>) -> Evaluated<'a> {
    match (left, right) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) if op == "/" => Err(EvalError::DivisionByZero),
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) if op == "%" => Err(EvalError::ModulusByZero),
        (Value::Int(a), Value::Int(b)) => match op {
            "+" => a.checked_add(*b),
            "-" => a.checked_sub(*b),
            "*" => a.checked_mul(*b),
            "/" => a.checked_div(*b),
            _ => a.checked_rem(*b),
        }
        .map(Value::Int)
        .ok_or(EvalError::IntegerOverflow),
        (Value::Uint(a), Value::Uint(b)) => match op {
            "+" => a.checked_add(*b),
            "-" => a.checked_sub(*b),
            "*" => a.checked_mul(*b),
            "/" => a.checked_div(*b),
            _ => a.checked_rem(*b),
        }
        .map(Value::Uint)
        .ok_or(EvalError::UnsignedOverflow),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(match op {
            "+" => a + b,
            "-" => a - b,
            "*" => a * b,
            "/" => a / b,
            _ => return Err(EvalError::NoSuchOverload),
        })),
        (Value::String(a), Value::String(b)) if op == "+" => Ok(Value::string(format!("{a}{b}"))),
        (Value::Bytes(a), Value::Bytes(b)) if op == "+" => Ok(Value::Bytes(a.iter().chain(b.iter()).copied().collect())),
        (Value::List(a), Value::List(b)) if op == "+" => Ok(Value::list(a.iter().chain(b.iter()).cloned().collect())),
        _ => Err(EvalError::NoSuchOverload),
    }
}
