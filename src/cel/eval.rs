//! Evaluates a plan and counts its cost; mirrors cel-go's `interpreter/interpretable.go`, `interpreter/attributes.go`
//! and `interpreter/runtimecost.go`.

use std::ops::Bound;
use std::sync::Arc;

use super::budget;
use super::cost;
use super::decls::FUNCTIONS;
use super::error::EvalError;
use super::functions;
use super::message;
use super::plan::{Attribute, By, CallNode, FoldNode, Node, Qualifier, Root};
use super::value::{Key, Map, Value};
use crate::cluster::Str;

/// The cost limit of one evaluation: `CELSelectorExpressionMaxCost` in `pkg/apis/resource/types.go`.
const COST_LIMIT: u64 = 1_000_000;
/// The accumulator of macros that build lists and maps.
const ACCU: &str = "@result";

type Evaluated<T> = Result<T, EvalError>;

/// Evaluates a node without variables.
pub(super) fn constant(node: &Node) -> Evaluated<Value> {
    Evaluator::new(Value::Null).eval(node)
}

/// One evaluation.
pub(super) struct Evaluator<'p> {
    device: Value,
    cost: u64,
    /// The folds around the current node.
    frames: Vec<Frame<'p>>,
    /// The innermost fold whose variables are visible.
    current: Option<usize>,
}

struct Frame<'p> {
    fold: &'p FoldNode,
    outer: Option<usize>,
    /// The accumulator; `None` until first used.
    accu: Option<Evaluated<Value>>,
    /// The values of the variables; `None` while the result is computed.
    items: Option<(Value, Value)>,
}

impl<'p> Evaluator<'p> {
    pub(super) fn new(device: Value) -> Self {
        Self { device, cost: 0, frames: Vec::new(), current: None }
    }

    /// Returns the cost so far.
    pub(super) fn cost(&self) -> u64 {
        self.cost
    }

    fn charge(&mut self, cost: u64) -> Evaluated<()> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > COST_LIMIT || budget::is_spent() { Err(EvalError::CostLimit) } else { Ok(()) }
    }

    pub(super) fn eval(&mut self, node: &'p Node) -> Evaluated<Value> {
        match node {
            Node::Const(value) => Ok(value.clone()),
            Node::Attribute { attribute, test } => {
                let value = self.resolve(attribute);
                if matches!(&value, Err(error) if error.is_final()) {
                    return value;
                }
                match (attribute.root.is_choice(), *test) {
                    (false, false) => self.charge(1)?,
                    // cel-go takes back a cost that it has not charged.
                    (true, true) => {
                        self.cost = self.cost.wrapping_sub(1);
                        self.charge(0)?;
                    }
                    _ => {}
                }
                match value? {
                    Value::Optional(held) if *test => Ok(Value::Bool(held.is_some())),
                    value => Ok(value),
                }
            }
            Node::And(terms) => self.logical(terms, false),
            Node::Or(terms) => self.logical(terms, true),
            Node::Equals { operands, negated } => {
                let [left, right] = &**operands;
                let (left, right) = (self.side(left)?, self.side(right)?);
                let failed = Value::Null;
                self.charge(cost::equality(left.as_ref().unwrap_or(&failed), right.as_ref().unwrap_or(&failed), *negated))?;
                let equal = left?.equals(&right?);
                // Values that cannot be compared are different.
                Ok(Value::Bool(if *negated { equal != Ok(true) } else { equal? }))
            }
            Node::Call(call) => self.call(call),
            Node::OptionalOr { operands, value } => {
                let [left, right] = &**operands;
                match self.eval(left)? {
                    Value::Optional(None) => self.eval(right),
                    Value::Optional(Some(held)) if *value => held_value(&held),
                    other => Ok(other),
                }
            }
            Node::Member { arg, set } => match self.eval(arg)? {
                value if value.is_unhashable() => Err(EvalError::Unhashable(value.go_type())),
                value => Ok(Value::Bool(set.contains(&Key(value)))),
            },
            Node::List(items) => {
                let mut values = Vec::with_capacity(items.len());
                for (item, optional) in items {
                    match self.side(item)? {
                        Ok(Value::Optional(held)) if *optional => values.extend(held.map(|v| (*v).clone())),
                        Ok(value) if !optional => values.push(value),
                        other => {
                            self.charge(cost::LIST)?;
                            return Err(other.map_or_else(|error| error, |other| EvalError::OptionalElement(other.show())));
                        }
                    }
                }
                self.charge(cost::LIST)?;
                Ok(Value::list(values))
            }
            Node::Map(entries) => {
                let map = self.map(entries);
                if !matches!(&map, Err(error) if error.is_final()) {
                    self.charge(cost::MAP)?;
                }
                map
            }
            Node::Message { name, fields } => {
                let fields = fields.iter().map(|(name, node)| Ok((name, self.eval(node)?))).collect::<Evaluated<Vec<_>>>()?;
                self.charge(cost::MESSAGE)?;
                message::make(name, &fields)
            }
            Node::Fold(fold) => self.fold(fold),
        }
    }

    /// Evaluates an operand whose failure does not immediately end the evaluation.
    fn side(&mut self, node: &'p Node) -> Evaluated<Evaluated<Value>> {
        match self.eval(node) {
            Err(error) if error.is_final() => Err(error),
            other => Ok(other),
        }
    }

    /// Evaluates `
    ///
    /// ` if `decides` is true, else `&&`. A term that decides takes precedence over failures; otherwise the first
    /// failure is returned.
    fn logical(&mut self, terms: &'p [Node], decides: bool) -> Evaluated<Value> {
        let mut failure = None;
        for term in terms {
            match self.side(term)? {
                Ok(Value::Bool(value)) if value == decides => return Ok(Value::Bool(decides)),
                Ok(Value::Bool(_)) => {}
                Ok(_) => failure = failure.or(Some(EvalError::NoSuchOverload)),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(Value::Bool(!decides)), Err)
    }

    fn map(&mut self, entries: &'p [(Node, Node, bool)]) -> Evaluated<Value> {
        let mut map = Map::default();
        for (key, value, optional) in entries {
            let key = self.eval(key)?;
            let value = self.eval(value)?;
            let entry = match value {
                Value::Optional(held) if *optional => held.map(|v| (*v).clone()),
                other if *optional => return Err(EvalError::OptionalEntry { key: key.show(), value: other.show() }),
                value => Some(value),
            };
            if key.is_unhashable() {
                let error = if entry.is_some() { EvalError::Unhashable } else { EvalError::UnhashableEntry };
                return Err(error(key.go_type()));
            }
            match entry {
                Some(value) => map.entries.insert(Key(key), value),
                None => map.entries.remove(&Key(key)),
            };
        }
        Ok(Value::Map(Arc::new(map)))
    }

    fn call(&mut self, call: &'p CallNode) -> Evaluated<Value> {
        let id = call.overload.map(|index| FUNCTIONS.overload(index).id.as_str());
        // Calls with one or two arguments evaluate all of them. Calls that choose among overloads stop at the first
        // failure.
        let binary = call.regex.is_none() && call.function.as_str() != "format";
        let all = call.args.len() <= 2 && call.guards.len() <= 1 && binary;
        let mut args = Vec::with_capacity(call.args.len());
        let mut failure = None;
        for arg in &call.args {
            match self.side(arg)? {
                Ok(value) => args.push(value),
                Err(error) if call.function.as_str() == super::ast::op::NOT_STRICTLY_FALSE => {
                    self.charge(1)?;
                    drop(error);
                    return Ok(Value::Bool(true));
                }
                // The cost of the call counts a failed argument as one.
                Err(error) => {
                    args.push(Value::Failed(Arc::new(error.clone())));
                    failure = failure.or(Some(error));
                }
            }
            if failure.is_some() && !all {
                break;
            }
        }
        if args.len() == call.args.len() {
            cost::check(id, &args)?;
        }
        if let Some(error) = failure {
            // The cost counts only if no argument is left.
            if args.len() == call.args.len() {
                self.charge(cost::call(&call.function, id, &args, &Value::Null))?;
            }
            return Err(error);
        }
        let fits = call.guards.is_empty()
            || call.guards.iter().any(|index| {
                let params = &FUNCTIONS.overload(*index).params;
                params.len() == args.len() && args.iter().zip(params).all(|(arg, param)| arg.fits(param))
            });
        if !fits {
            self.charge(cost::call(&call.function, id, &args, &Value::Null))?;
            let types = args.iter().map(Value::type_name).collect();
            return Err(EvalError::NoSuchFunction { function: call.function.clone(), types });
        }
        if let Some(value) = self.gather(call, &mut args) {
            self.charge(1)?;
            return value;
        }
        if !budget::spend_bytes(args.iter().map(Value::bytes).sum()) {
            return Err(EvalError::CostLimit);
        }
        let nothing = Value::Null;
        // Charging first, where the cost does not depend on the result, prevents work beyond the limit.
        if !cost::by_result(&call.function) {
            let before = self.cost;
            self.charge(cost::call(&call.function, id, &args, &nothing))?;
            let result = functions::call(&call.function, &args, call.regex.as_ref());
            if matches!(result, Err(EvalError::Unhashable(_))) {
                self.cost = before;
            }
            return result;
        }
        let result = functions::call(&call.function, &args, call.regex.as_ref());
        self.charge(cost::call(&call.function, id, &args, result.as_ref().unwrap_or(&nothing)))?;
        result
    }

    /// Appends to the accumulator of a macro in place; `None` for any other call.
    fn gather(&mut self, call: &'p CallNode, args: &mut Vec<Value>) -> Option<Evaluated<Value>> {
        let Some(Node::Attribute { attribute: Attribute { root: Root::Variable(name), qualifiers }, .. }) = call.args.first() else {
            return None;
        };
        if name.as_str() != ACCU || !qualifiers.is_empty() {
            return None;
        }
        let frame = &mut self.frames[self.current?];
        match (&args[..], call.function.as_str()) {
            ([Value::List(_), Value::List(_)], super::ast::op::ADD) => {
                frame.accu = None;
                let (added, gathered) = (args.pop()?, args.pop()?);
                let (Value::List(mut gathered), Value::List(added)) = (gathered, added) else { return None };
                Arc::make_mut(&mut gathered).extend(added.iter().cloned());
                Some(Ok(Value::List(gathered)))
            }
            ([Value::Map(_), ..], super::ast::op::MAP_INSERT) => {
                frame.accu = None;
                let entries: Vec<(Value, Value)> = match &args[1..] {
                    [key, value] => vec![(key.clone(), value.clone())],
                    [Value::Map(added)] => added.entries.iter().map(|(k, v)| (k.0.clone(), v.clone())).collect(),
                    _ => return None,
                };
                args.truncate(1);
                let Some(Value::Map(mut gathered)) = args.pop() else { return None };
                let map = Arc::make_mut(&mut gathered);
                for (key, value) in entries {
                    if map.find(&key).is_some() {
                        return Some(Err(EvalError::RepeatedKey(key.show())));
                    }
                    map.entries.insert(Key(key), value);
                }
                Some(Ok(Value::Map(gathered)))
            }
            _ => None,
        }
    }

    fn variable(&mut self, name: &Str) -> Evaluated<Value> {
        let mut at = self.current;
        while let Some(index) = at {
            let frame = &self.frames[index];
            if frame.fold.accu_var == *name {
                if frame.accu.is_none() {
                    let (fold, outer) = (frame.fold, frame.outer);
                    let value = self.within(outer, |evaluator| evaluator.eval(&fold.accu));
                    if matches!(&value, Err(error) if error.is_final()) {
                        return value;
                    }
                    self.frames[index].accu = Some(value);
                }
                return self.frames[index].accu.clone().unwrap_or(Ok(Value::Null));
            }
            if let Some((first, second)) = &frame.items {
                if frame.fold.var == *name {
                    return Ok(first.clone());
                }
                if frame.fold.var2.as_ref() == Some(name) {
                    return Ok(second.clone());
                }
            }
            at = frame.outer;
        }
        Ok(self.device.clone())
    }

    fn within<R>(&mut self, frame: Option<usize>, work: impl FnOnce(&mut Self) -> R) -> R {
        let before = std::mem::replace(&mut self.current, frame);
        let result = work(self);
        self.current = before;
        result
    }

    fn resolve(&mut self, attribute: &'p Attribute) -> Evaluated<Value> {
        let root = match &attribute.root {
            Root::Variable(name) => self.variable(name)?,
            Root::Relative(node) => self.eval(node)?,
            Root::Conditional(parts) => {
                return match self.eval(&parts.0)? {
                    Value::Bool(true) => self.resolve(&parts.1),
                    Value::Bool(false) => self.resolve(&parts.2),
                    _ => Err(EvalError::NoSuchOverload),
                };
            }
        };
        let (mut value, mut optional) = match &root {
            Value::Optional(None) => return Ok(root),
            Value::Optional(Some(held)) => (held.round_trip(), true),
            _ => (root, false),
        };
        for qualifier in &attribute.qualifiers {
            optional |= qualifier.optional;
            match self.qualify(&value, qualifier, optional)? {
                Some(next) => value = next,
                None => return Ok(Value::NONE),
            }
        }
        Ok(if optional { Value::some(value) } else { value })
    }

    /// Returns the field or element; `None` if it is missing and `optional`.
    fn qualify(&mut self, value: &Value, qualifier: &'p Qualifier, optional: bool) -> Evaluated<Option<Value>> {
        let index = match &qualifier.by {
            By::Constant(index) => index.clone(),
            By::Computed(attribute) => {
                let computed = match self.resolve(attribute) {
                    Ok(index @ (Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Double(_) | Value::String(_))) => Ok(index),
                    Ok(other) => Err(EvalError::Qualifier(other.go_type())),
                    Err(error) => Err(error),
                };
                match computed {
                    Ok(index) => index,
                    Err(error) if error.is_final() => return Err(error),
                    Err(error) => {
                        self.charge(u64::from(!optional))?;
                        return Err(error);
                    }
                }
            }
        };
        let found = lookup(value, &index, optional || qualifier.test);
        match found {
            Ok(None) if qualifier.test && !optional => {
                self.charge(1)?;
                Ok(Some(Value::Bool(false)))
            }
            Ok(None) => Ok(None),
            Ok(Some(found)) => {
                self.charge(1)?;
                Ok(Some(if qualifier.test && !optional { Value::Bool(true) } else { found }))
            }
            Err(error) => {
                self.charge(u64::from(!optional))?;
                Err(error)
            }
        }
    }

    fn fold(&mut self, fold: &'p FoldNode) -> Evaluated<Value> {
        let items = match (self.eval(&fold.range)?, &fold.var2) {
            (Value::List(items), _) => Items::List { items, next: 0, indexed: fold.var2.is_some() },
            (Value::Map(map), _) => Items::Map { map, last: None },
            (other, None) => return Err(EvalError::NotIterable(other.go_type())),
            (other, Some(_)) => return Err(EvalError::NotFoldable(other.go_type())),
        };
        let at = self.frames.len();
        self.frames.push(Frame { fold, outer: self.current, accu: None, items: None });
        let result = self.within(Some(at), |evaluator| evaluator.iterate(fold, at, items));
        self.frames.truncate(at);
        result
    }

    fn iterate(&mut self, fold: &'p FoldNode, at: usize, items: Items) -> Evaluated<Value> {
        for item in items {
            self.frames[at].items = Some(item);
            if let Ok(Value::Bool(false)) = self.side(&fold.cond)? {
                break;
            }
            let next = self.side(&fold.step)?;
            self.frames[at].accu = Some(next);
        }
        self.frames[at].items = None;
        self.eval(&fold.result)
    }
}

/// The elements that a fold goes through, taken one by one: it may end at the first.
enum Items {
    List {
        items: Arc<Vec<Value>>,
        next: usize,
        indexed: bool,
    },
    /// In order of keys, from behind the last one.
    Map {
        map: Arc<Map>,
        last: Option<Key>,
    },
}

impl Iterator for Items {
    type Item = (Value, Value);

    fn next(&mut self) -> Option<(Value, Value)> {
        match self {
            Self::List { items, next, indexed } => {
                let item = items.get(*next)?.clone();
                let index = *next as i64;
                *next += 1;
                Some(if *indexed { (Value::Int(index), item) } else { (item, Value::Null) })
            }
            Self::Map { map, last } => {
                let after = last.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
                let (key, value) = map.entries.range((after, Bound::Unbounded)).next()?;
                let found = (key.0.clone(), value.clone());
                *last = Some(key.clone());
                Some(found)
            }
        }
    }
}

/// Returns the value in an optional.
pub(super) fn held_value(held: &Value) -> Evaluated<Value> {
    match held {
        Value::Failed(error) => Err((**error).clone()),
        value => Ok(value.clone()),
    }
}

/// Looks up a field or an element; `None` if it is missing and `may_miss`.
fn lookup(value: &Value, index: &Value, may_miss: bool) -> Evaluated<Option<Value>> {
    if !budget::spend_bytes(index.bytes()) {
        return Err(EvalError::CostLimit);
    }
    let missing = |error: EvalError| if may_miss { Ok(None) } else { Err(error) };
    match value {
        Value::Map(map) => match map.find(index) {
            Some(found) => Ok(Some(found)),
            None => missing(EvalError::NoSuchKey(index.show())),
        },
        Value::List(items) => {
            let at = match index {
                Value::Int(i) => *i,
                Value::Uint(u) => i64::try_from(*u).map_err(|_| EvalError::IndexValue(index.show()))?,
                Value::Double(d) if d.fract() == 0.0 && d.abs() < 9.3e18 => *d as i64,
                Value::Double(_) => return Err(EvalError::IndexValue(index.show())),
                other => return Err(EvalError::IndexType(other.ty().to_string())),
            };
            match usize::try_from(at).ok().and_then(|at| items.get(at)) {
                Some(found) => Ok(Some(found.clone())),
                None => missing(EvalError::IndexOutOfBounds(index.show())),
            }
        }
        Value::Failed(error) => Err((**error).clone()),
        _ => missing(EvalError::NoSuchKey(index.show())),
    }
}
