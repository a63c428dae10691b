//! Turns a checked tree into an evaluation plan: attributes with their qualifiers, calls bound to overloads, and
//! precomputed constants.
//!
//! Mirrors cel-go's `interpreter/planner.go` and the decorators of `interpreter/decorators.go` and `cel/library.go`
//! that Kubernetes enables, because costs and error texts depend on them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::ast::{Call, Expr, Fold, Kind, op};
use super::convert;
use super::decls::{self, FUNCTIONS, Named};
use super::error::EvalError;
use super::eval;
use super::regex_syntax::{self, Pattern};
use super::types::Type;
use super::value::{Key, Value};
use crate::cluster::Str;

/// A node of the plan.
#[derive(Debug)]
pub(super) enum Node {
    Const(Value),
    /// A variable or a value with fields and indexes; `test` if only its presence matters.
    Attribute {
        attribute: Attribute,
        test: bool,
    },
    And(Vec<Node>),
    Or(Vec<Node>),
    Equals {
        operands: Box<[Node; 2]>,
        negated: bool,
    },
    Call(Box<CallNode>),
    /// `optional.or(…)`, or `orValue(…)` if `value`.
    OptionalOr {
        operands: Box<[Node; 2]>,
        value: bool,
    },
    /// `in` a list of constants.
    Member {
        arg: Box<Node>,
        set: BTreeSet<Key>,
    },
    List(Vec<(Node, bool)>),
    Map(Vec<(Node, Node, bool)>),
    Message {
        name: Str,
        fields: Vec<(Str, Node)>,
    },
    Fold(Box<FoldNode>),
}

/// A call of a function.
#[derive(Debug)]
pub(super) struct CallNode {
    pub(super) function: Str,
    /// The overload, if only one matches.
    pub(super) overload: Option<usize>,
    /// The overloads whose parameters are compared with the arguments; empty for functions that check by themselves.
    pub(super) guards: Vec<usize>,
    pub(super) args: Vec<Node>,
    /// The pattern, if it is constant.
    pub(super) regex: Option<Pattern>,
}

#[derive(Debug)]
pub(super) struct Attribute {
    pub(super) root: Root,
    pub(super) qualifiers: Vec<Qualifier>,
}

#[derive(Debug)]
pub(super) enum Root {
    Variable(Str),
    Relative(Box<Node>),
    /// `condition ? first : second`
    Conditional(Box<(Node, Attribute, Attribute)>),
}

impl Root {
    pub(super) fn is_choice(&self) -> bool {
        matches!(self, Self::Conditional(_))
    }
}

/// A field or an index.
#[derive(Clone, Debug)]
pub(super) struct Qualifier {
    pub(super) by: By,
    pub(super) optional: bool,
    /// Whether only its presence matters.
    pub(super) test: bool,
}

#[derive(Clone, Debug)]
pub(super) enum By {
    Constant(Value),
    Computed(Arc<Attribute>),
}

#[derive(Debug)]
pub(super) struct FoldNode {
    pub(super) range: Node,
    pub(super) var: Str,
    pub(super) var2: Option<Str>,
    pub(super) accu_var: Str,
    pub(super) accu: Node,
    pub(super) cond: Node,
    pub(super) step: Node,
    pub(super) result: Node,
}

/// Functions with a single implementation for all operands; it returns its own errors.
const SINGLETONS: [&str; 25] = [
    op::NOT,
    op::ADD,
    op::SUBTRACT,
    op::MULTIPLY,
    op::DIVIDE,
    op::MODULO,
    op::NEGATE,
    op::LESS,
    op::LESS_EQUALS,
    op::GREATER,
    op::GREATER_EQUALS,
    op::IN,
    op::SORT_BY_KEYS,
    op::NOT_STRICTLY_FALSE,
    "size",
    "type",
    "dyn",
    "matches",
    "sort",
    "contains",
    "startsWith",
    "endsWith",
    "flatten",
    op::CONDITIONAL,
    "includes",
];

type Planned<T> = Result<T, EvalError>;

/// Plans a tree; a constant that fails makes the plan fail.
pub(super) fn plan(expr: &Expr) -> Planned<Node> {
    Ok(match &expr.kind {
        Kind::Error => Node::Const(Value::Null),
        Kind::Literal(literal) => Node::Const(Value::from(literal)),
        Kind::Ident(name) => ident(name, &expr.ty)?,
        Kind::Select { operand, field, test } => {
            let by = By::Constant(Value::String(field.clone()));
            let mut attribute = attribute_of(plan(operand)?);
            attribute.qualify(&Qualifier { by, optional: false, test: *test });
            Node::Attribute { attribute, test: *test }
        }
        Kind::Call(call) => plan_call(call)?,
        Kind::List(elements) => {
            let items = elements.iter().map(|e| Ok((plan(&e.value)?, e.optional))).collect::<Planned<Vec<_>>>()?;
            let constant = items.iter().all(|(item, _)| matches!(item, Node::Const(_)));
            folded(Node::List(items), constant)?
        }
        Kind::Map(entries) => {
            let entries = entries.iter().map(|e| Ok((plan(&e.key)?, plan(&e.value)?, e.optional))).collect::<Planned<Vec<_>>>()?;
            let constant = entries.iter().all(|(key, value, _)| matches!((key, value), (Node::Const(_), Node::Const(_))));
            folded(Node::Map(entries), constant)?
        }
        Kind::Struct { name, fields } => {
            let fields = fields.iter().map(|f| Ok((f.name.clone(), plan(&f.value)?))).collect::<Planned<Vec<_>>>()?;
            Node::Message { name: name.clone(), fields }
        }
        Kind::Fold(fold) => plan_fold(fold)?,
    })
}

/// Plans a name. A name of type `type` must be a type's name: a variable that holds a type cannot be looked up.
fn ident(name: &Str, ty: &Type) -> Planned<Node> {
    Ok(match (decls::named(name), ty) {
        (Some(Named::Type(ty)), Type::Type(_)) => Node::Const(Value::Type(ty.instantiate(&mut |_| Type::Dyn))),
        (_, Type::Type(_)) => return Err(EvalError::UndefinedType(name.clone())),
        (Some(Named::Int(value)), _) => Node::Const(Value::Int(value)),
        _ => Node::Attribute { attribute: Attribute { root: Root::Variable(name.clone()), qualifiers: Vec::new() }, test: false },
    })
}

/// Evaluates constant nodes.
fn folded(node: Node, constant: bool) -> Planned<Node> {
    if constant { eval::constant(&node).map(Node::Const) } else { Ok(node) }
}

/// Returns the node as the root of an attribute.
fn attribute_of(node: Node) -> Attribute {
    match node {
        Node::Attribute { attribute, .. } => attribute,
        other => Attribute { root: Root::Relative(Box::new(other)), qualifiers: Vec::new() },
    }
}

impl Attribute {
    /// Adds a field or an index; for a conditional, to both branches.
    fn qualify(&mut self, qualifier: &Qualifier) {
        match &mut self.root {
            Root::Conditional(parts) => {
                parts.1.qualify(qualifier);
                parts.2.qualify(qualifier);
            }
            _ => self.qualifiers.push(qualifier.clone()),
        }
    }
}

fn plan_call(call: &Call) -> Planned<Node> {
    let mut args = call.target.iter().chain(&call.args).map(plan).collect::<Planned<Vec<_>>>()?;
    let function = call.function.as_str();
    let pair = |args: Vec<Node>| <[Node; 2]>::try_from(args).map(Box::new).map_err(|_| EvalError::NoSuchOverload);
    match function {
        op::AND => return Ok(Node::And(args)),
        op::OR => return Ok(Node::Or(args)),
        op::EQUALS | op::NOT_EQUALS => return Ok(Node::Equals { operands: pair(args)?, negated: function == op::NOT_EQUALS }),
        op::CONDITIONAL => {
            let [condition, then, otherwise] = <[Node; 3]>::try_from(args).map_err(|_| EvalError::NoSuchOverload)?;
            let root = Root::Conditional(Box::new((condition, attribute_of(then), attribute_of(otherwise))));
            return Ok(Node::Attribute { attribute: Attribute { root, qualifiers: Vec::new() }, test: false });
        }
        op::INDEX | op::OPT_INDEX | op::OPT_SELECT => {
            let [operand, index] = *pair(args)?;
            let by = match index {
                Node::Const(value) => By::Constant(qualifier(value)?),
                other => By::Computed(Arc::new(attribute_of(other))),
            };
            let mut attribute = attribute_of(operand);
            attribute.qualify(&Qualifier { by, optional: function != op::INDEX, test: false });
            return Ok(Node::Attribute { attribute, test: false });
        }
        "or" | "orValue" if args.len() == 2 => return Ok(Node::OptionalOr { operands: pair(args)?, value: function == "orValue" }),
        _ => {}
    }
    let overload = if let [only] = call.overloads.as_slice() { Some(*only) } else { None };
    let id = overload.map(|index| FUNCTIONS.overload(index).id.as_str());
    if id == Some("in_list")
        && let [_, Node::Const(Value::List(items))] = args.as_slice()
    {
        if items.is_empty() {
            return Ok(Node::Const(Value::Bool(false)));
        }
        if let Some(set) = constant_set(items) {
            let arg = Box::new(args.swap_remove(0));
            return Ok(Node::Member { arg, set });
        }
    }
    let regex = match (function, args.get(1)) {
        ("matches" | "find" | "findAll", Some(Node::Const(Value::String(pattern)))) => {
            Some(regex_syntax::compile(pattern).map_err(EvalError::Regex)?)
        }
        _ => None,
    };
    let guards = if SINGLETONS.contains(&function) || regex.is_some() {
        Vec::new()
    } else {
        overload.map_or_else(|| FUNCTIONS.named(function).unwrap_or_default().to_vec(), |index| vec![index])
    };
    let constant = convert::is_conversion(function) && matches!(args.as_slice(), [Node::Const(_)]);
    let node = Node::Call(Box::new(CallNode { function: call.function.clone(), overload, guards, args, regex }));
    folded(node, constant)
}

/// Returns a constant that can be an index.
fn qualifier(value: Value) -> Planned<Value> {
    match value {
        Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Double(_) | Value::String(_) => Ok(value),
        other => Err(EvalError::Qualifier(other.go_type())),
    }
}

/// Returns the constants of a list as a set, including equal numbers of other types.
fn constant_set(items: &[Value]) -> Option<BTreeSet<Key>> {
    let mut set = BTreeSet::new();
    for item in items {
        let mut add = |value: Value| {
            set.insert(Key(value));
        };
        match item {
            Value::Bool(_) | Value::String(_) => add(item.clone()),
            Value::Double(d) => {
                add(item.clone());
                if d.fract() == 0.0 && *d > i64::MIN as f64 && *d < i64::MAX as f64 {
                    add(Value::Int(*d as i64));
                }
                if d.fract() == 0.0 && *d >= 0.0 && *d < u64::MAX as f64 {
                    add(Value::Uint(*d as u64));
                }
            }
            Value::Int(i) => {
                add(item.clone());
                add(Value::Double(*i as f64));
                if let Ok(u) = u64::try_from(*i) {
                    add(Value::Uint(u));
                }
            }
            Value::Uint(u) => {
                add(item.clone());
                add(Value::Double(*u as f64));
                if let Ok(i) = i64::try_from(*u) {
                    add(Value::Int(i));
                }
            }
            _ => return None,
        }
    }
    Some(set)
}

fn plan_fold(fold: &Fold) -> Planned<Node> {
    Ok(Node::Fold(Box::new(FoldNode {
        accu: plan(&fold.accu)?,
        range: plan(&fold.range)?,
        cond: plan(&fold.cond)?,
        step: plan(&fold.step)?,
        result: plan(&fold.result)?,
        var: fold.var.clone(),
        var2: fold.var2.clone(),
        accu_var: fold.accu_var.clone(),
    })))
}
