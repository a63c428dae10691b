//! From the text of a selector to a tree, following the grammar of the Common Expression Language.
//!
//! The tree's depth is limited as in cel-go, so that neither parsing, evaluating nor dropping it can exhaust the stack.

use super::lex::{self, Token};
use crate::cluster::Str;

/// How deep an expression may nest. cel-go allows 250; fewer keep to the stack of a thread also without optimization.
const MAX_DEPTH: u16 = 150;
/// How many brackets may be open at once.
const MAX_OPEN: u16 = 50;

/// A node of the tree.
#[derive(Debug)]
pub(super) struct Expr {
    /// What it is.
    pub(super) kind: Kind,
    /// Byte offset of the token that names it.
    pub(super) at: usize,
    depth: u16,
}

/// The kinds of nodes.
#[derive(Debug)]
pub(super) enum Kind {
    Literal(Literal),
    Ident(Str),
    /// `operand.field`, or `has(operand.field)` when `test`.
    Select {
        operand: Box<Expr>,
        field: Str,
        test: bool,
    },
    Index(Box<Expr>, Box<Expr>),
    Call {
        name: Str,
        target: Option<Box<Expr>>,
        args: Vec<Expr>,
    },
    Unary(char, Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// `&&` over two or more terms.
    And(Vec<Expr>),
    /// `||` over two or more terms.
    Or(Vec<Expr>),
    Conditional(Box<[Expr; 3]>),
    List(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
    /// `range.all(var, body)` and its kin; `body` has two parts only for a `map` that filters.
    Comprehension {
        form: Form,
        range: Box<Expr>,
        var: Str,
        body: Vec<Expr>,
    },
    /// `cel.bind(var, init, body)`
    Bind {
        var: Str,
        init: Box<Expr>,
        body: Box<Expr>,
    },
}

/// The macros over lists and maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    All,
    Exists,
    ExistsOne,
    Filter,
    Map,
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

/// Where and why a text is no expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Problem {
    /// Byte offset.
    pub(super) at: usize,
    /// What is wrong.
    pub(super) message: String,
}

pub(super) type Parsed<T> = Result<T, Problem>;

pub(super) fn problem<T>(at: usize, message: impl Into<String>) -> Parsed<T> {
    Err(Problem { at, message: message.into() })
}

/// Parses a whole text.
pub(super) fn parse(text: &str) -> Parsed<Expr> {
    let mut parser = Parser { tokens: lex::tokens(text)?, next: 0, depth: 0 };
    let expr = parser.expr()?;
    match parser.peek() {
        Token::End => Ok(expr),
        other => problem(parser.at(), format!("Syntax error: extraneous input '{}' expecting <EOF>", other.show())),
    }
}

struct Parser {
    tokens: Vec<(usize, Token)>,
    next: usize,
    depth: u16,
}

const RELATIONS: [&str; 7] = ["==", "!=", "<=", ">=", "<", ">", "in"];

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.next.min(self.tokens.len() - 1)].1
    }

    fn at(&self) -> usize {
        self.tokens[self.next.min(self.tokens.len() - 1)].0
    }

    fn take(&mut self) -> (usize, Token) {
        let token = (self.at(), self.peek().clone());
        self.next += 1;
        token
    }

    /// Takes the operator if it comes next, and says where it stood.
    fn accept(&mut self, op: &str) -> Option<usize> {
        matches!(self.peek(), Token::Op(o) if *o == op).then(|| self.take().0)
    }

    fn accept_any(&mut self, ops: &[&'static str]) -> Option<(usize, &'static str)> {
        ops.iter().find_map(|op| self.accept(op).map(|at| (at, *op)))
    }

    fn expect(&mut self, op: &str) -> Parsed<usize> {
        match self.accept(op) {
            Some(at) => Ok(at),
            None => self.unexpected(&format!("'{op}'")),
        }
    }

    fn unexpected<T>(&self, wanted: &str) -> Parsed<T> {
        problem(self.at(), format!("Syntax error: mismatched input '{}' expecting {wanted}", self.peek().show()))
    }

    fn node(at: usize, kind: Kind) -> Parsed<Expr> {
        let depth = 1 + children(&kind).map(|e| e.depth).max().unwrap_or(0);
        if depth > MAX_DEPTH {
            return problem(at, format!("expression recursion limit exceeded: {MAX_DEPTH}"));
        }
        Ok(Expr { kind, at, depth })
    }

    fn expr(&mut self) -> Parsed<Expr> {
        self.depth += 1;
        if self.depth > MAX_OPEN {
            return problem(self.at(), format!("expression recursion limit exceeded: {MAX_DEPTH}"));
        }
        let condition = self.logical("||")?;
        let expr = match self.accept("?") {
            None => condition,
            Some(at) => {
                let then = self.logical("||")?;
                self.expect(":")?;
                let otherwise = self.expr()?;
                Self::node(at, Kind::Conditional(Box::new([condition, then, otherwise])))?
            }
        };
        self.depth -= 1;
        Ok(expr)
    }

    fn logical(&mut self, op: &'static str) -> Parsed<Expr> {
        let operand = |p: &mut Self| if op == "||" { p.logical("&&") } else { p.chain(0) };
        let first = operand(self)?;
        let Some(at) = self.accept(op) else { return Ok(first) };
        let mut terms = vec![first, operand(self)?];
        while self.accept(op).is_some() {
            terms.push(operand(self)?);
        }
        Self::node(at, if op == "||" { Kind::Or(terms) } else { Kind::And(terms) })
    }

    /// Relations, sums and products, by rising precedence; all group to the left.
    fn chain(&mut self, level: usize) -> Parsed<Expr> {
        let ops: &[&'static str] = match level {
            0 => &RELATIONS,
            1 => &["+", "-"],
            2 => &["*", "/", "%"],
            _ => return self.unary(),
        };
        let mut left = self.chain(level + 1)?;
        while let Some((at, op)) = self.accept_any(ops) {
            let right = self.chain(level + 1)?;
            left = Self::node(at, Kind::Binary(op, Box::new(left), Box::new(right)))?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let Some((at, op)) = self.accept_any(&["!", "-"]) else {
            let expr = self.member()?;
            return match expr.kind {
                Kind::Literal(Literal::Int(i64::MIN)) => problem(expr.at, "invalid int literal"),
                _ => Ok(expr),
            };
        };
        // An even number of signs cancels out.
        let mut odd = true;
        while self.accept(op).is_some() {
            odd = !odd;
        }
        let operand = self.member()?;
        let symbol = if op == "!" { '!' } else { '-' };
        let kind = match operand.kind {
            Kind::Literal(Literal::Int(n)) if symbol == '-' && odd => Kind::Literal(Literal::Int(n.wrapping_neg())),
            Kind::Literal(Literal::Double(n)) if symbol == '-' && odd => Kind::Literal(Literal::Double(-n)),
            Kind::Literal(Literal::Int(i64::MIN)) => return problem(operand.at, "invalid int literal"),
            kind if !odd => kind,
            kind => Kind::Unary(symbol, Box::new(Expr { kind, ..operand })),
        };
        Self::node(at, kind)
    }

    fn member(&mut self) -> Parsed<Expr> {
        let mut expr = self.primary()?;
        loop {
            if let Some(at) = self.accept(".") {
                let (name_at, Token::Ident(field)) = self.take() else {
                    self.next -= 1;
                    return self.unexpected("IDENTIFIER");
                };
                expr = match self.accept("(") {
                    Some(open) => {
                        let args = self.list(")")?;
                        Self::method(open, name_at, expr, field, args)?
                    }
                    None => Self::node(at, Kind::Select { operand: Box::new(expr), field, test: false })?,
                };
            } else if let Some(at) = self.accept("[") {
                let index = self.expr()?;
                self.expect("]")?;
                expr = Self::node(at, Kind::Index(Box::new(expr), Box::new(index)))?;
            } else {
                return Ok(expr);
            }
        }
    }

    /// Comma-separated expressions up to the closing token; a comma may trail in list literals.
    fn list(&mut self, close: &str) -> Parsed<Vec<Expr>> {
        let mut items = Vec::new();
        while self.accept(close).is_none() {
            items.push(self.expr()?);
            if self.accept(",").is_none() {
                self.expect(close)?;
                break;
            }
        }
        Ok(items)
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let (at, token) = self.take();
        match token {
            Token::Literal(literal) => Self::node(at, Kind::Literal(literal)),
            Token::Op("(") => {
                let expr = self.expr()?;
                self.expect(")")?;
                Ok(expr)
            }
            Token::Op("[") => {
                let items = self.list("]")?;
                Self::node(at, Kind::List(items))
            }
            Token::Op("{") => self.map(at),
            Token::Ident(name) => match self.accept("(") {
                Some(open) => {
                    let args = self.list(")")?;
                    Self::function(open, name, args)
                }
                None if matches!(self.peek(), Token::Op("{")) => problem(at, format!("undeclared reference to '{name}' (in container '')")),
                None => Self::node(at, Kind::Ident(name)),
            },
            _ => {
                self.next -= 1;
                self.unexpected(
                    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
                )
            }
        }
    }

    fn map(&mut self, at: usize) -> Parsed<Expr> {
        let mut entries = Vec::new();
        while self.accept("}").is_none() {
            let key = self.expr()?;
            self.expect(":")?;
            entries.push((key, self.expr()?));
            if self.accept(",").is_none() {
                self.expect("}")?;
                break;
            }
        }
        Self::node(at, Kind::Map(entries))
    }

    /// A call without target; `has` is a macro.
    fn function(at: usize, name: Str, mut args: Vec<Expr>) -> Parsed<Expr> {
        if name == "has" && args.len() == 1 {
            return match args.pop() {
                Some(Expr { kind: Kind::Select { operand, field, .. }, at, .. }) => {
                    Self::node(at, Kind::Select { operand, field, test: true })
                }
                _ => problem(at, "invalid argument to has() macro"),
            };
        }
        Self::node(at, Kind::Call { name, target: None, args })
    }

    /// A call with target, which may be a macro.
    fn method(at: usize, name_at: usize, target: Expr, name: Str, mut args: Vec<Expr>) -> Parsed<Expr> {
        let form = match (name.as_str(), args.len()) {
            ("all", 2) => Some(Form::All),
            ("exists", 2) => Some(Form::Exists),
            ("exists_one" | "existsOne", 2) => Some(Form::ExistsOne),
            ("filter", 2) => Some(Form::Filter),
            ("map", 2 | 3) => Some(Form::Map),
            _ => None,
        };
        if let Some(form) = form {
            let var = variable(args.remove(0))?;
            return Self::node(at, Kind::Comprehension { form, range: Box::new(target), var, body: args });
        }
        if let Kind::Ident(namespace) = &target.kind {
            if namespace == "cel" && name == "bind" && args.len() == 3 {
                let (Some(body), Some(init)) = (args.pop(), args.pop()) else { return problem(at, "cel.bind() needs three arguments") };
                let var = variable(args.remove(0))?;
                return Self::node(at, Kind::Bind { var, init: Box::new(init), body: Box::new(body) });
            }
            if matches!(namespace.as_str(), "sets" | "math" | "base64" | "strings" | "optional" | "cel") {
                let name = format!("{namespace}.{name}").into();
                return Self::node(at.max(name_at), Kind::Call { name, target: None, args });
            }
        }
        Self::node(at, Kind::Call { name, target: Some(Box::new(target)), args })
    }
}

fn variable(expr: Expr) -> Parsed<Str> {
    match expr.kind {
        Kind::Ident(name) => Ok(name),
        _ => problem(expr.at, "argument must be a simple name"),
    }
}

pub(super) fn children(kind: &Kind) -> Box<dyn Iterator<Item = &Expr> + '_> {
    match kind {
        Kind::Literal(_) | Kind::Ident(_) => Box::new(std::iter::empty()),
        Kind::Select { operand, .. } => Box::new(std::iter::once(&**operand)),
        Kind::Index(a, b) | Kind::Binary(_, a, b) => Box::new([&**a, &**b].into_iter()),
        Kind::Call { target, args, .. } => Box::new(target.as_deref().into_iter().chain(args)),
        Kind::Unary(_, a) => Box::new(std::iter::once(&**a)),
        Kind::And(terms) | Kind::Or(terms) | Kind::List(terms) => Box::new(terms.iter()),
        Kind::Conditional(parts) => Box::new(parts.iter()),
        Kind::Map(entries) => Box::new(entries.iter().flat_map(|(k, v)| [k, v])),
        Kind::Comprehension { range, body, .. } => Box::new(std::iter::once(&**range).chain(body)),
        Kind::Bind { init, body, .. } => Box::new([&**init, &**body].into_iter()),
    }
}
