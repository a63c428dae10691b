//! Parses the text of a selector into a tree, following `parser/gen/CEL.g4` and the visitor of cel-go's
//! `parser/parser.go`.
//!
//! Syntax errors have the words of ANTLR's default error strategy. As in ANTLR, a single extra token is skipped and a
//! single missing one is made up. At any other error the parser stops, while ANTLR searches for a place to continue.

use super::ast::{Element, Entry, Expr, Field, Kind, Literal, op};
use super::lex;
use super::literal;
use super::macros::{self, Candidate, Expansion};
use super::source::Problem;
use super::token::TokenKind as T;
use super::token::{Token, TokenSet};
use crate::cluster::Str;

/// Maximum nesting of a grammar rule in itself, and maximum depth of the tree's operators, fields and calls.
const MAX_RECURSION: u16 = 250;
/// Maximum length of a text, in code points.
const MAX_CODE_POINTS: usize = 100_000;

/// Maximum number of nodes of the tree. cel-go has no such limit, and doubles its target with every `optMap`.
const MAX_NODES: u32 = 100_000;

/// Reserved words, which cannot be variables or functions.
const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Tokens that can begin an expression.
const EXPR: TokenSet = TokenSet::of(&[
    T::LBracket,
    T::LBrace,
    T::LParen,
    T::Dot,
    T::Minus,
    T::Exclam,
    T::True,
    T::False,
    T::Null,
    T::Float,
    T::Int,
    T::Uint,
    T::String,
    T::Bytes,
    T::Ident,
]);
/// Tokens that can follow an operand within one expression.
const OPERATORS: TokenSet = TokenSet::of(&[
    T::Dot,
    T::LBracket,
    T::Equals,
    T::NotEquals,
    T::In,
    T::Less,
    T::LessEquals,
    T::GreaterEquals,
    T::Greater,
    T::And,
    T::Or,
    T::Minus,
    T::Plus,
    T::Star,
    T::Slash,
    T::Percent,
]);

/// Why parsing ended; the problem is already reported.
enum Stop {
    Syntax,
    Recursion,
    Size,
}

/// A part of the tree with the depth of its operators, fields, indexes and calls, not counting macros.
struct Node {
    expr: Expr,
    depth: u16,
    /// Lower bound of the number of nodes, including those that macros copy.
    size: u32,
}

type Parsed<T> = Result<T, Stop>;

/// Parses a whole text; the error contains all problems.
pub(super) fn parse(text: &str) -> Result<Expr, Vec<Problem>> {
    let failed = |message: String| vec![Problem { at: None, message }];
    let size = text.chars().count();
    if size > MAX_CODE_POINTS {
        return Err(failed(format!("expression code point size exceeds limit: size: {size}, limit {MAX_CODE_POINTS}")));
    }
    let (tokens, problems) = lex::tokens(text);
    let mut parser = Parser { text, tokens, next: 0, problems, recovering: false, exprs: 0, relations: 0, calcs: 0 };
    match parser.start() {
        Ok(node) if node.depth > MAX_RECURSION => Err(failed("max recursion depth exceeded".to_owned())),
        Ok(node) if parser.problems.is_empty() => Ok(node.expr),
        Ok(_) | Err(Stop::Syntax) => Err(parser.problems),
        Err(Stop::Size) => Err(failed(format!("expression too large: more than {MAX_NODES} nodes"))),
        Err(Stop::Recursion) => Err(failed(format!("expression recursion limit exceeded: {MAX_RECURSION}"))),
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    next: usize,
    problems: Vec<Problem>,
    /// Suppresses problems after a made-up token until a token matches again.
    recovering: bool,
    exprs: u16,
    relations: u16,
    calcs: u16,
}

impl<'a> Parser<'a> {
    fn ahead(&self, n: usize) -> Token {
        self.tokens[(self.next + n).min(self.tokens.len() - 1)]
    }

    fn peek(&self) -> T {
        self.ahead(0).kind
    }

    fn second(&self) -> T {
        self.ahead(1).kind
    }

    fn take(&mut self) -> Token {
        let token = self.ahead(0);
        self.next += 1;
        self.recovering = false;
        token
    }

    fn accept(&mut self, kind: T) -> Option<Token> {
        (self.peek() == kind).then(|| self.take())
    }

    fn text_of(&self, token: Token) -> &'a str {
        &self.text[token.start..token.end]
    }

    fn report(&mut self, at: usize, message: impl Into<String>) {
        self.problems.push(Problem { at: Some(at), message: message.into() });
    }

    fn syntax(&mut self, message: &str) {
        if !self.recovering {
            let at = self.ahead(0).start;
            self.report(at, format!("Syntax error: {message}"));
        }
    }

    fn shown(&self) -> String {
        match self.peek() {
            T::Eof => "'<EOF>'".to_owned(),
            _ => escaped(self.text_of(self.ahead(0))),
        }
    }

    fn mismatched<R>(&mut self, expected: TokenSet) -> Parsed<R> {
        self.syntax(&format!("mismatched input {} expecting {expected}", self.shown()));
        Err(Stop::Syntax)
    }

    /// Reports that no rule matches the text from the current token to the one `n` ahead.
    fn no_viable<R>(&mut self, n: usize) -> Parsed<R> {
        let (start, end) = (self.ahead(0), self.ahead(n));
        let read = &self.text[start.start..end.end];
        let mut chars = read.chars();
        chars.next();
        let message = match chars.as_str() {
            word @ ("true" | "false" | "null") => format!("mismatched input '{word}' expecting IDENTIFIER"),
            _ => format!("no viable alternative at input {}", escaped(read)),
        };
        if !self.recovering {
            self.report(end.start, format!("Syntax error: {message}"));
        }
        Err(Stop::Syntax)
    }

    /// Skips one extra token before one of `expected`.
    fn sync(&mut self, expected: TokenSet) -> Parsed<()> {
        if expected.contains(self.peek()) {
            return Ok(());
        }
        if expected.contains(self.second()) {
            self.syntax(&format!("extraneous input {} expecting {expected}", self.shown()));
            self.take();
            return Ok(());
        }
        self.mismatched(expected)
    }

    /// Takes a token of a kind; `follow` is the set of tokens that can come next.
    fn expect(&mut self, kind: T, follow: TokenSet) -> Parsed<Token> {
        if let Some(token) = self.accept(kind) {
            return Ok(token);
        }
        let expected = TokenSet::of(&[kind]);
        if self.second() == kind {
            self.syntax(&format!("extraneous input {} expecting {expected}", self.shown()));
            self.take();
            return Ok(self.take());
        }
        if follow.contains(self.peek()) {
            self.syntax(&format!("missing {expected} at {}", self.shown()));
            self.recovering = true;
            return Ok(self.ahead(0));
        }
        self.mismatched(expected)
    }

    fn start(&mut self) -> Parsed<Node> {
        let node = self.expr(TokenSet::of(&[T::Eof]))?;
        self.expect(T::Eof, TokenSet::of(&[]))?;
        Ok(node)
    }

    /// Parses an expression; `follow` is the set of tokens that can come after it.
    fn expr(&mut self, follow: TokenSet) -> Parsed<Node> {
        self.exprs += 1;
        if self.exprs > MAX_RECURSION {
            return Err(Stop::Recursion);
        }
        let condition = self.logical(T::Or, follow.with(T::Question))?;
        let node = match self.accept(T::Question) {
            None => condition,
            Some(at) => {
                let then = self.logical(T::Or, TokenSet::of(&[T::Colon]))?;
                self.expect(T::Colon, EXPR)?;
                let otherwise = self.expr(follow)?;
                counted(at, op::CONDITIONAL, vec![condition, then, otherwise])
            }
        };
        self.exprs -= 1;
        Ok(node)
    }

    /// Parses a chain of `
    ///
    /// ` or `&&` into a balanced tree.
    fn logical(&mut self, kind: T, follow: TokenSet) -> Parsed<Node> {
        let operand = |p: &mut Self| if kind == T::Or { p.logical(T::And, follow) } else { p.relation(follow) };
        let mut terms = vec![operand(self)?];
        let mut ops = Vec::new();
        while let Some(token) = self.accept(kind) {
            ops.push(token.start);
            terms.push(operand(self)?);
        }
        let (depth, size) = measure(&terms, 0);
        let name = if kind == T::Or { op::OR } else { op::AND };
        let expr = balanced(name, &mut terms.into_iter().map(|t| t.expr), &ops);
        Ok(Node { expr, depth, size })
    }

    fn relation(&mut self, follow: TokenSet) -> Parsed<Node> {
        self.relations += 1;
        if self.relations > MAX_RECURSION {
            return Err(Stop::Recursion);
        }
        let mut left = self.calc(1, follow)?;
        while let Some(name) = relation_operator(self.peek()) {
            let at = self.take();
            self.relations += 1;
            if self.relations > MAX_RECURSION {
                return Err(Stop::Recursion);
            }
            let right = self.calc(1, follow)?;
            self.relations -= 1;
            left = counted(at, name, vec![left, right]);
        }
        self.relations -= 1;
        Ok(left)
    }

    /// Parses sums and products of at least a precedence.
    fn calc(&mut self, precedence: u8, follow: TokenSet) -> Parsed<Node> {
        self.calcs += 1;
        if self.calcs > MAX_RECURSION {
            return Err(Stop::Recursion);
        }
        let mut left = self.unary(follow)?;
        while let Some((name, binds)) = calc_operator(self.peek()).filter(|(_, binds)| *binds >= precedence) {
            let at = self.take();
            let right = self.calc(binds + 1, follow)?;
            left = counted(at, name, vec![left, right]);
        }
        self.calcs -= 1;
        Ok(left)
    }

    fn unary(&mut self, follow: TokenSet) -> Parsed<Node> {
        self.sync(EXPR)?;
        let is_number = |kind| matches!(kind, T::Int | T::Float);
        let (kind, name) = match self.peek() {
            T::Exclam => (T::Exclam, op::NOT),
            T::Minus if !is_number(self.second()) => (T::Minus, op::NEGATE),
            _ => return self.member(follow),
        };
        let operands = if kind == T::Minus { EXPR.without(T::Exclam) } else { EXPR };
        let first = self.ahead(0);
        let mut signs = 0;
        while self.peek() == kind {
            if kind == T::Minus && !operands.contains(self.second()) {
                return self.no_viable(1);
            }
            self.take();
            signs += 1;
            if !operands.contains(self.peek()) {
                self.syntax(&format!("extraneous input {} expecting {operands}", self.shown()));
                return Err(Stop::Syntax);
            }
        }
        let operand = self.member(follow)?;
        // An even number of signs cancels out.
        if signs % 2 == 0 {
            return Ok(operand);
        }
        Ok(Node { depth: operand.depth, size: operand.size + 1, expr: Expr::call(first.start, name, vec![operand.expr]) })
    }

    fn member(&mut self, follow: TokenSet) -> Parsed<Node> {
        let after = OPERATORS.or(follow);
        let mut node = self.primary(after)?;
        loop {
            node = match self.peek() {
                T::Dot => self.select(node, after)?,
                T::LBracket => self.index(node, after)?,
                _ => return Ok(node),
            };
        }
    }

    fn select(&mut self, operand: Node, after: TokenSet) -> Parsed<Node> {
        match (self.second(), self.ahead(2).kind) {
            (T::Ident, T::LParen) => {
                self.take();
                let name = self.take();
                let name = self.text_of(name);
                let open = self.take();
                let args = self.args(after)?;
                return self.call(open.start, name, Some(operand), args);
            }
            (T::Ident | T::EscIdent | T::Question, _) => {}
            _ => return self.no_viable(1),
        }
        let dot = self.take();
        let optional = self.accept(T::Question).is_some();
        let (at, field) = self.field_name()?;
        let (depth, size) = (operand.depth + 1, operand.size + 1);
        let kind = if optional {
            let field = Expr::literal(at, Literal::String(field));
            return Ok(Node { depth, size, expr: Expr::call(dot.start, op::OPT_SELECT, vec![operand.expr, field]) });
        } else {
            Kind::Select { operand: Box::new(operand.expr), field, test: false }
        };
        Ok(Node { depth, size, expr: Expr::new(dot.start, kind) })
    }

    /// Parses the name of a field. Names in back quotes are not supported.
    fn field_name(&mut self) -> Parsed<(usize, Str)> {
        self.sync(TokenSet::of(&[T::Ident, T::EscIdent]))?;
        let token = self.take();
        if token.kind == T::EscIdent {
            self.report(token.start, "unsupported syntax: '`'");
        }
        Ok((token.start, self.text_of(token).into()))
    }

    fn index(&mut self, operand: Node, after: TokenSet) -> Parsed<Node> {
        let open = self.take();
        self.sync(EXPR.with(T::Question))?;
        let name = if self.accept(T::Question).is_some() { op::OPT_INDEX } else { op::INDEX };
        let index = self.expr(TokenSet::of(&[T::RBracket]))?;
        self.expect(T::RBracket, after)?;
        Ok(counted(open, name, vec![operand, index]))
    }

    /// Parses arguments up to the closing bracket.
    fn args(&mut self, after: TokenSet) -> Parsed<Vec<Node>> {
        self.sync(EXPR.with(T::RParen))?;
        let mut args = Vec::new();
        if self.peek() != T::RParen {
            let follow = TokenSet::of(&[T::Comma, T::RParen]);
            args.push(self.expr(follow)?);
            while self.accept(T::Comma).is_some() {
                args.push(self.expr(follow)?);
            }
        }
        self.expect(T::RParen, after)?;
        Ok(args)
    }

    /// Makes a call, or expands it if it is a macro.
    fn call(&mut self, at: usize, name: &str, target: Option<Node>, args: Vec<Node>) -> Parsed<Node> {
        let copied = target.as_ref().filter(|_| matches!(name, "optMap" | "optFlatMap")).map_or(0, |target| target.size);
        let (depth, size) = measure(target.iter().chain(&args), u16::from(target.is_some()));
        let size = size.saturating_add(copied);
        if size > MAX_NODES {
            return Err(Stop::Size);
        }
        let candidate = Candidate { at, name, target: target.map(|n| n.expr), args: args.into_iter().map(|n| n.expr).collect() };
        let expr = match macros::expand(candidate) {
            Expansion::Expanded(expr) => expr,
            Expansion::Failed(problem) => {
                let at = problem.at.unwrap_or(at);
                self.problems.push(problem);
                Expr::new(at, Kind::Error)
            }
            Expansion::NoMacro { target: Some(target), args } => Expr::member(at, name, target, args),
            Expansion::NoMacro { target: None, args } => Expr::call(at, name, args),
        };
        Ok(Node { expr, depth, size })
    }

    fn primary(&mut self, after: TokenSet) -> Parsed<Node> {
        match self.peek() {
            T::Dot if self.second() != T::Ident => self.no_viable(1),
            T::Dot | T::Ident => self.name(after),
            T::LParen => {
                self.take();
                let node = self.expr(TokenSet::of(&[T::RParen]))?;
                self.expect(T::RParen, after)?;
                Ok(node)
            }
            T::LBracket => self.list(after),
            T::LBrace => self.map(after),
            T::Minus if !matches!(self.second(), T::Int | T::Float) => self.no_viable(1),
            _ => Ok(Node { expr: self.literal(), depth: 0, size: 1 }),
        }
    }

    /// Parses an identifier, a call or a message; each may begin with a dot.
    fn name(&mut self, after: TokenSet) -> Parsed<Node> {
        let start = self.ahead(0).start;
        let dot = if self.accept(T::Dot).is_some() { "." } else { "" };
        let mut n = 1;
        while self.ahead(n).kind == T::Dot && self.ahead(n + 1).kind == T::Ident {
            n += 2;
        }
        if self.ahead(n).kind == T::LBrace {
            return self.message(dot, n, after);
        }
        let token = self.take();
        let word = self.text_of(token);
        let name = format!("{dot}{word}");
        let open = self.accept(T::LParen);
        let args = if open.is_some() { self.args(after)? } else { Vec::new() };
        if RESERVED.contains(&word) {
            self.report(start, format!("reserved identifier: {word}"));
            return Ok(Node { expr: Expr::new(start, Kind::Error), depth: 0, size: 1 });
        }
        match open {
            Some(open) => self.call(open.start, &name, None, args),
            None => Ok(Node { expr: Expr::ident(token.start, &name), depth: 0, size: 1 }),
        }
    }

    fn message(&mut self, dot: &str, words: usize, after: TokenSet) -> Parsed<Node> {
        let tokens: Vec<Token> = (0..words).map(|_| self.take()).collect();
        let name: String = tokens.into_iter().map(|token| self.text_of(token)).collect();
        let open = self.take();
        self.sync(TokenSet::of(&[T::RBrace, T::Comma, T::Question, T::Ident, T::EscIdent]))?;
        let (mut fields, mut depth, mut size) = (Vec::new(), 0, 1_u32);
        let begins = |kind| matches!(kind, T::Question | T::Ident | T::EscIdent);
        let mut more = begins(self.peek());
        while more {
            let optional = self.accept(T::Question).is_some();
            let (_, name) = self.field_name()?;
            let colon = self.expect(T::Colon, EXPR)?;
            let value = self.expr(TokenSet::of(&[T::Comma, T::RBrace]))?;
            depth = depth.max(value.depth);
            size = size.saturating_add(value.size);
            fields.push(Field { name, at: colon.start, value: value.expr, optional });
            more = self.peek() == T::Comma && begins(self.second()) && self.accept(T::Comma).is_some();
        }
        self.close(T::RBrace, after)?;
        let kind = Kind::Struct { name: format!("{dot}{name}").into(), fields };
        Ok(Node { expr: Expr::new(open.start, kind), depth, size })
    }

    /// Parses an optional comma and the closing bracket.
    fn close(&mut self, bracket: T, after: TokenSet) -> Parsed<()> {
        self.sync(TokenSet::of(&[T::Comma, bracket]))?;
        self.accept(T::Comma);
        self.expect(bracket, after).map(drop)
    }

    fn list(&mut self, after: TokenSet) -> Parsed<Node> {
        let open = self.take();
        let items = EXPR.with(T::Question);
        self.sync(items.with(T::Comma).with(T::RBracket))?;
        let (mut elements, mut depth, mut size) = (Vec::new(), 0, 1_u32);
        let mut more = items.contains(self.peek());
        while more {
            let optional = self.accept(T::Question).is_some();
            let value = self.expr(TokenSet::of(&[T::Comma, T::RBracket]))?;
            depth = depth.max(value.depth);
            size = size.saturating_add(value.size);
            elements.push(Element { value: value.expr, optional });
            more = self.peek() == T::Comma && items.contains(self.second()) && self.accept(T::Comma).is_some();
        }
        self.close(T::RBracket, after)?;
        Ok(Node { expr: Expr::new(open.start, Kind::List(elements)), depth, size })
    }

    fn map(&mut self, after: TokenSet) -> Parsed<Node> {
        let open = self.take();
        let keys = EXPR.with(T::Question);
        self.sync(keys.with(T::Comma).with(T::RBrace))?;
        let (mut entries, mut depth, mut size) = (Vec::new(), 0, 1_u32);
        let mut more = keys.contains(self.peek());
        while more {
            let optional = self.accept(T::Question).is_some();
            let key = self.expr(TokenSet::of(&[T::Colon]))?;
            self.expect(T::Colon, EXPR)?;
            let value = self.expr(TokenSet::of(&[T::Comma, T::RBrace]))?;
            depth = depth.max(key.depth).max(value.depth);
            size = size.saturating_add(key.size).saturating_add(value.size);
            entries.push(Entry { key: key.expr, value: value.expr, optional });
            more = self.peek() == T::Comma && keys.contains(self.second()) && self.accept(T::Comma).is_some();
        }
        self.close(T::RBrace, after)?;
        Ok(Node { expr: Expr::new(open.start, Kind::Map(entries)), depth, size })
    }

    fn literal(&mut self) -> Expr {
        let start = self.ahead(0).start;
        let sign = if self.accept(T::Minus).is_some() { "-" } else { "" };
        let token = self.take();
        let text = self.text_of(token);
        let literal = match token.kind {
            T::Int => literal::int(sign, text),
            T::Float => literal::double(sign, text),
            T::Uint => literal::uint(text),
            T::String => literal::string(text),
            T::Bytes => literal::bytes(text),
            T::True => Ok(Literal::Bool(true)),
            T::False => Ok(Literal::Bool(false)),
            _ => Ok(Literal::Null),
        };
        match literal {
            Ok(literal) => Expr::literal(start, literal),
            Err(message) => {
                self.report(start, message);
                Expr::new(start, Kind::Error)
            }
        }
    }
}

/// Quotes input and escapes whitespace as ANTLR does.
fn escaped(text: &str) -> String {
    format!("'{}'", text.replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r"))
}

/// Returns the depth of a node that adds `own` to its children, and the number of nodes.
fn measure<'n>(nodes: impl IntoIterator<Item = &'n Node>, own: u16) -> (u16, u32) {
    nodes.into_iter().fold((own, 1), |(depth, size), node| (depth.max(own + node.depth), size.saturating_add(node.size)))
}

/// Makes an operator that counts towards the depth of the tree.
fn counted(at: Token, name: &str, operands: Vec<Node>) -> Node {
    let (depth, size) = measure(&operands, 1);
    Node { depth, size, expr: Expr::call(at.start, name, operands.into_iter().map(|n| n.expr).collect()) }
}

/// Builds a balanced tree with the middle operator on top; mirrors `balancedTree` in `parser/helper.go`.
fn balanced(name: &str, terms: &mut impl Iterator<Item = Expr>, ops: &[usize]) -> Expr {
    if ops.is_empty() {
        return terms.next().unwrap_or_else(|| Expr::new(0, Kind::Error));
    }
    let mid = ops.len() / 2;
    let left = balanced(name, terms, &ops[..mid]);
    let right = balanced(name, terms, &ops[mid + 1..]);
    Expr::call(ops[mid], name, vec![left, right])
}

fn relation_operator(kind: T) -> Option<&'static str> {
    Some(match kind {
        T::Equals => op::EQUALS,
        T::NotEquals => op::NOT_EQUALS,
        T::Less => op::LESS,
        T::LessEquals => op::LESS_EQUALS,
        T::Greater => op::GREATER,
        T::GreaterEquals => op::GREATER_EQUALS,
        T::In => op::IN,
        _ => return None,
    })
}

/// Returns the operator of sums and products and its precedence.
fn calc_operator(kind: T) -> Option<(&'static str, u8)> {
    Some(match kind {
        T::Plus => (op::ADD, 1),
        T::Minus => (op::SUBTRACT, 1),
        T::Star => (op::MULTIPLY, 2),
        T::Slash => (op::DIVIDE, 2),
        T::Percent => (op::MODULO, 2),
        _ => return None,
    })
}
