//! The type checker; mirrors cel-go's `checker/checker.go`. Operands with an error cause no further issue, so that each
//! fault is reported once.

use super::Environment;
use super::ast::{Call, Element, Entry, Expr, Field, Fold, Kind, Literal, op};
use super::decls::{self, CIDR, DEVICE, FUNCTIONS, Named, QUANTITY};
use super::source::Problem;
use super::types::{Bindings, Type, most_general};
use crate::cluster::Str;

/// Infers all types and resolves all names of a tree; returns all problems otherwise.
pub(super) fn check(expr: &mut Expr, environment: Environment) -> Result<(), Vec<Problem>> {
    let mut checker = Checker { environment, bindings: Bindings::default(), scope: Vec::new(), problems: Vec::new() };
    checker.check(expr);
    checker.settle(expr);
    if checker.problems.is_empty() { Ok(()) } else { Err(checker.problems) }
}

struct Checker {
    environment: Environment,
    bindings: Bindings,
    /// Variables of the surrounding folds, the innermost last.
    scope: Vec<(Str, Type)>,
    problems: Vec<Problem>,
}

impl Checker {
    fn report(&mut self, at: usize, message: String) {
        self.problems.push(Problem { at: Some(at), message });
    }

    fn undeclared(&mut self, at: usize, name: &str) {
        self.report(at, format!("undeclared reference to '{name}' (in container '')"));
    }

    fn mismatch(&mut self, at: usize, expected: &Type, found: &Type) {
        self.report(at, format!("expected type '{}' but found '{}'", expected.shown(), found.shown()));
    }

    fn assignable(&mut self, a: &Type, b: &Type) -> bool {
        self.bindings.assignable(std::iter::once((a, b)))
    }

    /// Replaces the remaining type variables.
    fn settle(&self, expr: &mut Expr) {
        expr.ty = self.bindings.substitute(&expr.ty, true);
        for child in expr.children_mut() {
            self.settle(child);
        }
    }

    fn check(&mut self, expr: &mut Expr) -> Type {
        let at = expr.at;
        let ty = match &mut expr.kind {
            Kind::Error => Type::Error,
            Kind::Literal(literal) => match literal {
                Literal::Null => Type::Null,
                Literal::Bool(_) => Type::Bool,
                Literal::Int(_) => Type::Int,
                Literal::Uint(_) => Type::Uint,
                Literal::Double(_) => Type::Double,
                Literal::String(_) => Type::String,
                Literal::Bytes(_) => Type::Bytes,
            },
            Kind::Ident(name) => self.ident(at, name),
            Kind::Select { .. } => self.select(expr),
            Kind::Call(call) => self.call(at, call),
            Kind::List(elements) => self.list(elements),
            Kind::Map(entries) => self.map(entries),
            Kind::Struct { name, fields } => self.message(at, name, fields),
            Kind::Fold(fold) => self.fold(fold),
        };
        expr.ty = if ty.is_small() {
            ty
        } else {
            self.report(at, "type too large".to_owned());
            Type::Error
        };
        expr.ty.clone()
    }

    fn ident(&mut self, at: usize, name: &mut Str) -> Type {
        let plain: Str = name.strip_prefix('.').unwrap_or(name).into();
        let known = self.scope.iter().rev().find(|(n, _)| *n == plain).map(|(_, ty)| ty.clone());
        match known.or_else(|| decls::named(&plain).map(|named| named.ty())) {
            Some(ty) => {
                *name = plain;
                ty
            }
            None => {
                self.undeclared(at, &name.clone());
                Type::Error
            }
        }
    }

    fn select(&mut self, expr: &mut Expr) -> Type {
        if let Some(name) = expr.qualified_name()
            && let Some(named) = decls::named(name.trim_start_matches('.'))
        {
            expr.kind = Kind::Ident(name.trim_start_matches('.').into());
            return named.ty();
        }
        let Kind::Select { operand, field, test } = &mut expr.kind else { return Type::Error };
        let ty = self.field(expr.at, operand, field, false);
        if *test { Type::Bool } else { self.bindings.substitute(&ty, false) }
    }

    fn field(&mut self, at: usize, operand: &mut Expr, field: &str, optional: bool) -> Type {
        let operand = self.check(operand);
        let (target, is_optional) = self.bindings.substitute(&operand, false).unwrapped();
        let ty = match &target {
            Type::Map(of) => of.1.clone(),
            Type::Object(name) => self.lookup_field(at, name, field).unwrap_or(Type::Error),
            Type::Var(_) => {
                self.assignable(&Type::Dyn, &target);
                Type::Dyn
            }
            _ => {
                if !target.is_dyn() && target != Type::Error {
                    self.report(at, format!("type '{}' does not support field selection", target.shown()));
                }
                Type::Dyn
            }
        };
        if optional || is_optional { Type::optional(ty) } else { ty }
    }

    fn lookup_field(&mut self, at: usize, ty: &str, field: &str) -> Option<Type> {
        let fields = match ty {
            "kubernetes.DRADevice" => self.device_field(field),
            _ if ty.starts_with("google.protobuf.") && ty != "google.protobuf.NullValue" => message_field(ty, field),
            // Kubernetes declares these types, and a map with any field.
            "map" => Some(Type::Any),
            "bool" | "bytes" | "double" | "duration" | "int" | "list" | "null_type" | "string" | "timestamp" | "uint" => None,
            _ => {
                self.report(at, format!("unexpected failed resolution of '{ty}'"));
                return None;
            }
        };
        if fields.is_none() {
            self.report(at, format!("undefined field '{field}'"));
        }
        fields
    }

    fn device_field(&self, field: &str) -> Option<Type> {
        let domains = |value| Type::map(Type::String, Type::map(Type::String, value));
        Some(match field {
            "driver" => Type::String,
            "attributes" => domains(if self.environment.list_attributes { Type::Dyn } else { Type::Any }),
            "capacity" => domains(QUANTITY),
            "allowMultipleAllocations" if self.environment.multiple_allocations => Type::Bool,
            _ => return None,
        })
    }

    fn call(&mut self, at: usize, call: &mut Call) -> Type {
        if call.function.as_str() == op::OPT_SELECT
            && let [operand, Expr { kind: Kind::Literal(Literal::String(name)), ty, .. }] = call.args.as_mut_slice()
        {
            *ty = Type::String;
            let selected = self.field(at, operand, &name.clone(), true);
            return self.bindings.substitute(&selected, false);
        }
        for arg in &mut call.args {
            self.check(arg);
        }
        if let Some(target) = &mut call.target {
            let namespaced = target.qualified_name().map(|prefix| format!("{}.{}", prefix.trim_start_matches('.'), call.function));
            if let Some(name) = namespaced.filter(|name| self.environment.has_function(name)) {
                call.function = name.into();
                call.target = None;
            } else {
                self.check(target);
            }
        }
        let name: Str = call.function.strip_prefix('.').unwrap_or(&call.function).into();
        if !self.environment.has_function(&name) {
            self.undeclared(at, &call.function.clone());
            return Type::Error;
        }
        call.function = name;
        self.resolve(at, call)
    }

    /// Returns the type of a call from the matching overloads: that of the first, or `dyn` if they differ.
    fn resolve(&mut self, at: usize, call: &mut Call) -> Type {
        let function = call.function.as_str();
        if function == op::AND || function == op::OR {
            return self.logical(call);
        }
        let operands: Vec<Type> = call.target.iter().chain(&call.args).map(|arg| arg.ty.clone()).collect();
        let is_member = call.target.is_some();
        let mut result: Option<Type> = None;
        for &index in FUNCTIONS.named(function).unwrap_or_default() {
            let overload = FUNCTIONS.overload(index);
            if overload.member != is_member {
                continue;
            }
            let mut variables: Vec<(char, Type)> = Vec::new();
            let bindings = &mut self.bindings;
            let mut variable = |name: char| match variables.iter().find(|(n, _)| *n == name) {
                Some((_, ty)) => ty.clone(),
                None => {
                    let fresh = bindings.fresh();
                    variables.push((name, fresh.clone()));
                    fresh
                }
            };
            let params: Vec<Type> = overload.params.iter().map(|p| p.instantiate(&mut variable)).collect();
            let returns = overload.result.instantiate(&mut variable);
            if params.len() != operands.len() || !self.bindings.assignable(operands.iter().zip(&params)) {
                continue;
            }
            call.overloads.push(index);
            let returns = self.bindings.substitute(&returns, false);
            result = Some(match result {
                Some(first) if !first.is_dyn() && first != returns => Type::Dyn,
                Some(first) => first,
                None => returns,
            });
        }
        result.unwrap_or_else(|| {
            let mut shown = operands.iter().map(|ty| self.bindings.substitute(ty, true).shown());
            let target = if is_member { format!("{}.", shown.next().unwrap_or_default()) } else { String::new() };
            let args = shown.collect::<Vec<_>>().join(", ");
            let message = format!("found no matching overload for '{function}' applied to '{target}({args})'");
            self.report(at, message);
            Type::Error
        })
    }

    fn logical(&mut self, call: &mut Call) -> Type {
        call.overloads = FUNCTIONS.named(&call.function).unwrap_or_default().to_vec();
        let mut ty = Type::Bool;
        for arg in &call.args {
            let found = arg.ty.clone();
            if !self.assignable(&found, &Type::Bool) {
                self.mismatch(arg.at, &Type::Bool, &found);
                ty = Type::Error;
            }
        }
        ty
    }

    /// Returns the type inside an optional element or entry.
    fn held(&mut self, value: &Expr) -> Type {
        let (held, is_optional) = value.ty.unwrapped();
        if !is_optional && !held.is_dyn() {
            self.mismatch(value.at, &Type::optional(held.clone()), &held);
        }
        held
    }

    /// Returns the common type of an aggregate's elements so far; `dyn` if they differ.
    fn join(&mut self, previous: Option<Type>, current: Type) -> Type {
        match previous {
            None => current,
            Some(previous) if self.assignable(&previous, &current) => most_general(&previous, &current),
            Some(_) => Type::Dyn,
        }
    }

    fn list(&mut self, elements: &mut [Element]) -> Type {
        let mut of = None;
        for element in elements {
            let ty = self.check(&mut element.value);
            let ty = if element.optional { self.held(&element.value) } else { ty };
            of = Some(self.join(of, ty));
        }
        Type::list(of.unwrap_or_else(|| self.bindings.fresh()))
    }

    fn map(&mut self, entries: &mut [Entry]) -> Type {
        let (mut keys, mut values) = (None, None);
        for entry in entries {
            let key = self.check(&mut entry.key);
            keys = Some(self.join(keys, key));
            let value = self.check(&mut entry.value);
            let value = if entry.optional { self.held(&entry.value) } else { value };
            values = Some(self.join(values, value));
        }
        let keys = keys.unwrap_or_else(|| self.bindings.fresh());
        let values = values.unwrap_or_else(|| self.bindings.fresh());
        Type::map(keys, values)
    }

    fn message(&mut self, at: usize, name: &mut Str, fields: &mut [Field]) -> Type {
        let plain: Str = name.strip_prefix('.').unwrap_or(name).into();
        let Some(named) = decls::named(&plain) else {
            self.undeclared(at, &name.clone());
            return Type::Error;
        };
        *name = plain;
        let (result, looked_up) = match named {
            Named::Device | Named::Int(_) => {
                self.report(at, format!("'{}' is not a type", named.ty().name()));
                (Type::Error, name.to_string())
            }
            Named::Type(ty) | Named::UndefinedType(ty) => match message_name(&ty) {
                Some(message) => (ty, message.to_owned()),
                None => {
                    self.report(at, format!("'{}' is not a message type", ty.name()));
                    (Type::Error, name.to_string())
                }
            },
        };
        for field in fields {
            self.check(&mut field.value);
            let expected = self.lookup_field(field.at, &looked_up, &field.name).unwrap_or(Type::Error);
            let ty = if field.optional { self.held(&field.value) } else { field.value.ty.clone() };
            if !self.assignable(&expected, &ty) {
                let message =
                    format!("expected type of field '{}' is '{}' but provided type is '{}'", field.name, expected.shown(), ty.shown());
                self.report(field.at, message);
            }
        }
        result
    }

    fn fold(&mut self, fold: &mut Fold) -> Type {
        self.check(&mut fold.range);
        let accu = self.check(&mut fold.accu);
        let range = self.bindings.substitute(&fold.range.ty, false);
        let two = fold.var2.is_some();
        let (first, second) = match &range {
            Type::List(of) if two => (Type::Int, (**of).clone()),
            Type::List(of) => ((**of).clone(), Type::Dyn),
            Type::Map(of) => (of.0.clone(), of.1.clone()),
            Type::Dyn | Type::Error | Type::Var(_) => {
                self.assignable(&Type::Dyn, &range);
                (Type::Dyn, Type::Dyn)
            }
            _ => {
                let message =
                    format!("expression of type '{}' cannot be range of a comprehension (must be list, map, or dynamic)", range.shown());
                self.report(fold.range.at, message);
                (Type::Error, Type::Error)
            }
        };
        let outer = self.scope.len();
        self.scope.push((fold.accu_var.clone(), accu.clone()));
        self.scope.push((fold.var.clone(), first));
        if let Some(var2) = &fold.var2 {
            self.scope.push((var2.clone(), second));
        }
        self.check(&mut fold.cond);
        self.assert_type(&fold.cond, &Type::Bool);
        self.check(&mut fold.step);
        self.assert_type(&fold.step, &accu);
        self.scope.truncate(outer + 1);
        let result = self.check(&mut fold.result);
        self.scope.truncate(outer);
        self.bindings.substitute(&result, false)
    }

    fn assert_type(&mut self, expr: &Expr, expected: &Type) {
        let found = expr.ty.clone();
        if !self.assignable(expected, &found) {
            self.mismatch(expr.at, expected, &found);
        }
    }
}

/// Returns the name under which the fields of a message are declared; `None` for a type that is not a message.
/// Well-known types use the name of their kind, so `google.protobuf.Int32Value` has the fields of
/// `google.protobuf.Int64Value`.
fn message_name(ty: &Type) -> Option<&'static str> {
    Some(match ty {
        Type::Any => "google.protobuf.Any",
        Type::Dyn => "google.protobuf.Value",
        Type::Duration => "google.protobuf.Duration",
        Type::Timestamp => "google.protobuf.Timestamp",
        Type::Null => "google.protobuf.NullValue",
        Type::List(of) if **of == Type::Dyn => "google.protobuf.ListValue",
        Type::Map(of) if of.0 == Type::String && of.1 == Type::Dyn => "google.protobuf.Struct",
        Type::Wrapper(of) => match **of {
            Type::Bool => "google.protobuf.BoolValue",
            Type::Bytes => "google.protobuf.BytesValue",
            Type::Double => "google.protobuf.DoubleValue",
            Type::Int => "google.protobuf.Int64Value",
            Type::Uint => "google.protobuf.UInt64Value",
            _ => "google.protobuf.StringValue",
        },
        _ if *ty == DEVICE => "kubernetes.DRADevice",
        Type::Object(name) if *ty != CIDR => name,
        _ => return None,
    })
}

fn message_field(message: &str, field: &str) -> Option<Type> {
    Some(match (message.trim_start_matches("google.protobuf."), field) {
        ("BoolValue", "value") | ("Value", "bool_value") => Type::Bool,
        ("BytesValue" | "Any", "value") => Type::Bytes,
        ("DoubleValue", "value") | ("Value", "number_value") => Type::Double,
        ("Int64Value", "value") | ("Duration" | "Timestamp", "seconds" | "nanos") | ("Value", "null_value") => Type::Int,
        ("UInt64Value", "value") => Type::Uint,
        ("StringValue", "value") | ("Any", "type_url") | ("Value", "string_value") => Type::String,
        ("ListValue", "values") | ("Value", "list_value") => Type::list(Type::Dyn),
        ("Struct", "fields") | ("Value", "struct_value") => Type::map(Type::String, Type::Dyn),
        _ => return None,
    })
}
