//! The syntax tree of a selector, as cel-go's parser builds it: operators are calls, and macros are already folds.

use super::types::Type;
use crate::cluster::Str;

/// A node of the tree.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) kind: Kind,
    /// Byte offset for issues with the node.
    pub(super) at: usize,
    /// The type; valid once checked.
    pub(super) ty: Type,
}

/// The kinds of nodes.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// Text that could not be parsed; its issue is already reported.
    Error,
    Literal(Literal),
    Ident(Str),
    /// `operand.field`, or `has(operand.field)` when `test`.
    Select {
        operand: Box<Expr>,
        field: Str,
        test: bool,
    },
    Call(Box<Call>),
    List(Vec<Element>),
    Map(Vec<Entry>),
    /// `name{field: value}`
    Struct {
        name: Str,
        fields: Vec<Field>,
    },
    Fold(Box<Fold>),
}

/// A call of a function or an operator.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) function: Str,
    pub(super) target: Option<Expr>,
    pub(super) args: Vec<Expr>,
    /// The matching overloads, as indexes into the declarations; known once checked.
    pub(super) overloads: Vec<usize>,
}

/// An element of a list; an optional element without a value is left out.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) value: Expr,
    pub(super) optional: bool,
}

/// An entry of a map.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: Expr,
    pub(super) value: Expr,
    pub(super) optional: bool,
}

/// A field of a message.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: Str,
    pub(super) at: usize,
    pub(super) value: Expr,
    pub(super) optional: bool,
}

/// A comprehension: `step` replaces the accumulator for each item as long as `cond` holds.
#[derive(Clone, Debug)]
pub(super) struct Fold {
    pub(super) range: Expr,
    pub(super) var: Str,
    /// The second variable: an element or a value if `var` is an index or a key.
    pub(super) var2: Option<Str>,
    pub(super) accu_var: Str,
    pub(super) accu: Expr,
    pub(super) cond: Expr,
    pub(super) step: Expr,
    pub(super) result: Expr,
}

/// Constants.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Str),
    Bytes(Vec<u8>),
}

/// Names of the operators, as in cel-go's `common/operators`.
pub(super) mod op {
    pub(in crate::cel) const CONDITIONAL: &str = "_?_:_";
    pub(in crate::cel) const AND: &str = "_&&_";
    pub(in crate::cel) const OR: &str = "_||_";
    pub(in crate::cel) const NOT: &str = "!_";
    pub(in crate::cel) const NEGATE: &str = "-_";
    pub(in crate::cel) const EQUALS: &str = "_==_";
    pub(in crate::cel) const NOT_EQUALS: &str = "_!=_";
    pub(in crate::cel) const LESS: &str = "_<_";
    pub(in crate::cel) const LESS_EQUALS: &str = "_<=_";
    pub(in crate::cel) const GREATER: &str = "_>_";
    pub(in crate::cel) const GREATER_EQUALS: &str = "_>=_";
    pub(in crate::cel) const ADD: &str = "_+_";
    pub(in crate::cel) const SUBTRACT: &str = "_-_";
    pub(in crate::cel) const MULTIPLY: &str = "_*_";
    pub(in crate::cel) const DIVIDE: &str = "_/_";
    pub(in crate::cel) const MODULO: &str = "_%_";
    pub(in crate::cel) const IN: &str = "@in";
    pub(in crate::cel) const INDEX: &str = "_[_]";
    pub(in crate::cel) const OPT_INDEX: &str = "_[?_]";
    pub(in crate::cel) const OPT_SELECT: &str = "_?._";
    pub(in crate::cel) const NOT_STRICTLY_FALSE: &str = "@not_strictly_false";
    pub(in crate::cel) const MAP_INSERT: &str = "cel.@mapInsert";
    pub(in crate::cel) const SORT_BY_KEYS: &str = "@sortByAssociatedKeys";
}

impl Expr {
    pub(super) fn new(at: usize, kind: Kind) -> Self {
        Self { kind, at, ty: Type::Dyn }
    }

    pub(super) fn literal(at: usize, literal: Literal) -> Self {
        Self::new(at, Kind::Literal(literal))
    }

    pub(super) fn ident(at: usize, name: &str) -> Self {
        Self::new(at, Kind::Ident(name.into()))
    }

    pub(super) fn call(at: usize, function: &str, args: Vec<Expr>) -> Self {
        Self::new(at, Kind::Call(Box::new(Call { function: function.into(), target: None, args, overloads: Vec::new() })))
    }

    pub(super) fn member(at: usize, function: &str, target: Expr, args: Vec<Expr>) -> Self {
        Self::new(at, Kind::Call(Box::new(Call { function: function.into(), target: Some(target), args, overloads: Vec::new() })))
    }

    /// Makes a list of one element.
    pub(super) fn list_of(at: usize, value: Expr) -> Self {
        Self::new(at, Kind::List(vec![Element { value, optional: false }]))
    }

    /// Returns `a.b.c` if the node consists only of identifiers and fields.
    pub(super) fn qualified_name(&self) -> Option<String> {
        match &self.kind {
            Kind::Ident(name) => Some(name.to_string()),
            Kind::Select { operand, field, test: false } => operand.qualified_name().map(|name| format!("{name}.{field}")),
            _ => None,
        }
    }

    /// Returns the children of the node.
    pub(super) fn children(&self) -> Vec<&Expr> {
        match &self.kind {
            Kind::Error | Kind::Literal(_) | Kind::Ident(_) => Vec::new(),
            Kind::Select { operand, .. } => vec![operand],
            Kind::Call(call) => call.target.iter().chain(&call.args).collect(),
            Kind::List(items) => items.iter().map(|item| &item.value).collect(),
            Kind::Map(entries) => entries.iter().flat_map(|e| [&e.key, &e.value]).collect(),
            Kind::Struct { fields, .. } => fields.iter().map(|f| &f.value).collect(),
            Kind::Fold(fold) => vec![&fold.range, &fold.accu, &fold.cond, &fold.step, &fold.result],
        }
    }

    /// Returns the children of the node for changing.
    pub(super) fn children_mut(&mut self) -> Vec<&mut Expr> {
        match &mut self.kind {
            Kind::Error | Kind::Literal(_) | Kind::Ident(_) => Vec::new(),
            Kind::Select { operand, .. } => vec![operand],
            Kind::Call(call) => call.target.iter_mut().chain(&mut call.args).collect(),
            Kind::List(items) => items.iter_mut().map(|item| &mut item.value).collect(),
            Kind::Map(entries) => entries.iter_mut().flat_map(|e| [&mut e.key, &mut e.value]).collect(),
            Kind::Struct { fields, .. } => fields.iter_mut().map(|f| &mut f.value).collect(),
            Kind::Fold(fold) => {
                let Fold { range, accu, cond, step, result, .. } = &mut **fold;
                vec![range, accu, cond, step, result]
            }
        }
    }
}
