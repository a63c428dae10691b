//! Parses the text of a selector into a tree, following `parser/gen/CEL.g4` and the visitor of cel-go's
//! `parser/parser.go`.
//!
//! Syntax errors have the words of ANTLR's default error strategy. As in ANTLR, a single extra token is skipped and a
//! single missing one is made up. At any other error the rule ends, and tokens are skipped until one can follow it.

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

/// Operators that can follow an operand, without those that select from it.
const BINARY: TokenSet = OPERATORS.without(T::Dot).without(T::LBracket);
/// Operators that select from an operand.
const SUFFIX: TokenSet = TokenSet::of(&[T::Dot, T::LBracket]);

/// Maximum number of syntax errors; one more ends the parsing.
const MAX_SYNTAX_ERRORS: usize = 100;
/// Maximum numbers of attempts to continue after an error, and of tokens skipped at each.
const MAX_ATTEMPTS: u16 = 30;
const MAX_SKIPPED: u16 = 256;

/// A rule of the grammar that continues after an error in it.
#[derive(Clone, Copy, PartialEq)]
enum Rule {
    Start,
    Expr,
    Unary,
    Member,
    Primary,
    Field,
    Entries,
}

/// Why parsing ended; the problem is already reported.
enum Stop {
    Syntax,
    /// Too many errors, or too many tokens that fit nowhere.
    Recovery,
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
    let skipped = problems.iter().filter_map(lex::skipped).collect();
    let mut parser = Parser {
        text,
        tokens,
        next: 0,
        problems,
        recovering: false,
        exprs: 0,
        relations: 0,
        calcs: 0,
        contexts: Vec::new(),
        attempts: 0,
        failed: None,
        skipped,
    };
    let parsed = parser.start();
    let read = parser.ahead(0).start;
    let mut problems = parser.problems;
    let is_syntax = |problem: &Problem| problem.message.starts_with("Syntax error: ");
    // The lexer and the parser report as they go, and the rest follows from the tree.
    problems.sort_by_key(|problem| if is_syntax(problem) { (0, problem.at) } else { (1, None) });
    if problems.iter().filter(|problem| is_syntax(problem)).count() > MAX_SYNTAX_ERRORS {
        problems.truncate(MAX_SYNTAX_ERRORS + 1);
        return Err(problems);
    }
    // A limit ends the parsing early.
    let failed_after = |mut problems: Vec<Problem>, message: String| {
        problems.retain(|problem| is_syntax(problem) && problem.at <= Some(read));
        problems.extend(failed(message));
        Err(problems)
    };
    match parsed {
        Ok(node) if node.depth > MAX_RECURSION => failed_after(problems, "max recursion depth exceeded".to_owned()),
        Ok(node) if problems.is_empty() => Ok(node.expr),
        Ok(_) | Err(Stop::Syntax) => Err(problems),
        Err(Stop::Recovery) => {
            // cel-go does not look at the tree then.
            problems.retain(|problem| problem.at.is_none() || is_syntax(problem));
            Err(problems)
        }
        Err(Stop::Size) => Err(failed(format!("expression too large: more than {MAX_NODES} nodes"))),
        Err(Stop::Recursion) => failed_after(problems, format!("expression recursion limit exceeded: {MAX_RECURSION}")),
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    next: usize,
    problems: Vec<Problem>,
    /// Suppresses problems after an error until a token matches again.
    recovering: bool,
    /// The tokens that can follow each of the surrounding rules.
    contexts: Vec<TokenSet>,
    /// The places of text that is no token.
    skipped: Vec<(usize, usize)>,
    /// How often the parser tried to continue after an error.
    attempts: u16,
    /// The token and the rules of the last errors, since a token matched.
    failed: Option<(usize, Vec<Rule>)>,
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
        self.failed = None;
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
        self.recovering = true;
    }

    fn attempt(&mut self) -> Parsed<()> {
        if self.attempts == MAX_ATTEMPTS {
            let at = self.ahead(0).start;
            self.report(at, format!("Syntax error: error recovery attempt limit exceeded: {MAX_ATTEMPTS}"));
            return Err(Stop::Recovery);
        }
        self.attempts += 1;
        Ok(())
    }

    /// Skips tokens until one can follow a rule or one of the surrounding rules.
    fn recover(&mut self, rule: Rule, follow: TokenSet) -> Parsed<()> {
        self.attempt()?;
        let mut skipped = 0;
        let (at, mut rules) = self.failed.take().unwrap_or((usize::MAX, Vec::new()));
        if at == self.next && rules.contains(&rule) && self.peek() != T::Eof {
            // The rule would fail at this token again.
            self.next += 1;
            skipped += 1;
        }
        rules.push(rule);
        self.failed = Some((self.next, rules));
        let follow = self.contexts.iter().fold(follow.with(T::Eof), |all, set| all.or(*set));
        while !follow.contains(self.peek()) {
            if skipped == MAX_SKIPPED {
                let message = format!("error recovery token lookahead limit exceeded: {MAX_SKIPPED}");
                self.problems.push(Problem { at: None, message });
                return Err(Stop::Recovery);
            }
            self.next += 1;
            skipped += 1;
        }
        Ok(())
    }

    /// Parses a rule and continues after an error in it; `follow` is the set of tokens that can come after the rule, and
    /// `context` those that can come after it within the rule that uses it.
    fn recovered(
        &mut self,
        rule: Rule,
        follow: TokenSet,
        context: TokenSet,
        parse: impl FnOnce(&mut Self) -> Parsed<Node>,
    ) -> Parsed<Node> {
        let before = (self.exprs, self.relations, self.calcs, self.contexts.len());
        let start = self.ahead(0).start;
        self.contexts.push(context);
        let result = match parse(self) {
            Err(Stop::Syntax) => {
                self.contexts.truncate(before.3 + 1);
                self.recover(rule, follow)?;
                (self.exprs, self.relations, self.calcs) = (before.0, before.1, before.2);
                Ok(Node { expr: Expr::new(start, Kind::Error), depth: 0, size: 1 })
            }
            other => other,
        };
        self.contexts.truncate(before.3);
        result
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
        // Text that is no token was skipped.
        let mut read = self.text_of(start).to_owned();
        for i in 1..=n {
            let mut at = self.ahead(i - 1).end;
            let end = self.ahead(i).start.max(at);
            for (from, to) in &self.skipped {
                if at <= *from && *to <= end {
                    read.push_str(&self.text[at..*from]);
                    at = *to;
                }
            }
            read.push_str(&self.text[at..end]);
            read.push_str(self.text_of(self.ahead(i)));
        }
        let mut chars = read.chars();
        chars.next();
        let message = match chars.as_str() {
            word @ ("true" | "false" | "null") => format!("mismatched input '{word}' expecting IDENTIFIER"),
            _ => format!("no viable alternative at input {}", escaped(&read)),
        };
        if !self.recovering {
            self.report(end.start, format!("Syntax error: {message}"));
        }
        self.recovering = true;
        Err(Stop::Syntax)
    }

    /// Skips one extra token before one of `expected`.
    fn sync(&mut self, expected: TokenSet) -> Parsed<()> {
        if self.recovering || expected.contains(self.peek()) {
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
        self.attempt()?;
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
        if !self.closed(T::Eof, TokenSet::of(&[]))? {
            self.recover(Rule::Start, TokenSet::of(&[]))?;
        }
        Ok(node)
    }

    /// Parses an expression; `follow` is the set of tokens that can come after it.
    fn expr(&mut self, follow: TokenSet) -> Parsed<Node> {
        self.recovered(Rule::Expr, follow, follow, |p| p.conditional(follow))
    }

    fn conditional(&mut self, follow: TokenSet) -> Parsed<Node> {
        self.exprs += 1;
        if self.exprs > MAX_RECURSION {
            return Err(Stop::Recursion);
        }
        self.contexts.push(TokenSet::of(&[T::Question]));
        let condition = self.logical(T::Or, follow.with(T::Question))?;
        self.contexts.pop();
        let node = match self.accept(T::Question) {
            None => condition,
            Some(at) => {
                self.contexts.push(TokenSet::of(&[T::Colon]));
                let then = self.logical(T::Or, TokenSet::of(&[T::Colon]))?;
                self.contexts.pop();
                let otherwise = if self.closed(T::Colon, EXPR)? {
                    self.expr(follow)?
                } else {
                    self.recover(Rule::Expr, follow)?;
                    Node { expr: Expr::new(at.start, Kind::Error), depth: 0, size: 1 }
                };
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
        self.recovered(Rule::Unary, BINARY, BINARY, |p| p.signed(follow))
    }

    fn signed(&mut self, follow: TokenSet) -> Parsed<Node> {
        self.sync(EXPR)?;
        if !EXPR.contains(self.peek()) {
            return Err(Stop::Syntax);
        }
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
                let follow = self.contexts.iter().fold(operands.or(BINARY).with(T::Eof), |all, set| all.or(*set));
                while !follow.contains(self.peek()) {
                    self.next += 1;
                }
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
            let start = node.expr.at;
            let next = match self.peek() {
                T::Dot if !matches!(self.second(), T::Ident | T::EscIdent | T::Question) => {
                    if let Err(Stop::Syntax) = self.no_viable::<Node>(1) {
                        self.recover(Rule::Member, BINARY)?;
                    }
                    return Ok(node);
                }
                T::Dot => self.select(node, after),
                T::LBracket => self.index(node, after),
                _ => return Ok(node),
            };
            node = match next {
                Err(Stop::Syntax) => {
                    self.recover(Rule::Member, BINARY)?;
                    return Ok(Node { expr: Expr::new(start, Kind::Error), depth: 0, size: 1 });
                }
                Ok((node, false)) => return Ok(node),
                other => other?.0,
            };
        }
    }

    /// Parses a selection or a call, and whether others can follow.
    fn select(&mut self, operand: Node, after: TokenSet) -> Parsed<(Node, bool)> {
        if (self.second(), self.ahead(2).kind) == (T::Ident, T::LParen) {
            self.take();
            let name = self.take();
            let name = self.text_of(name);
            let open = self.take();
            let (args, closed) = self.args(after)?;
            if !closed {
                self.recover(Rule::Member, BINARY)?;
            }
            return Ok((self.call(open.start, name, Some(operand), args)?, closed));
        }
        let dot = self.take();
        let optional = self.accept(T::Question).is_some();
        let (at, field) = self.field_name(SUFFIX.or(BINARY))?;
        let (depth, size) = (operand.depth + 1, operand.size + 1);
        let kind = if optional {
            let field = Expr::literal(at, Literal::String(field));
            return Ok((Node { depth, size, expr: Expr::call(dot.start, op::OPT_SELECT, vec![operand.expr, field]) }, true));
        } else {
            Kind::Select { operand: Box::new(operand.expr), field, test: false }
        };
        Ok((Node { depth, size, expr: Expr::new(dot.start, kind) }, true))
    }

    /// Parses the name of a field. Names in back quotes are not supported.
    fn field_name(&mut self, follow: TokenSet) -> Parsed<(usize, Str)> {
        let names = TokenSet::of(&[T::Ident, T::EscIdent]);
        let start = self.ahead(0).start;
        let fits = self.sync(names);
        if fits.is_err() || !names.contains(self.peek()) {
            self.recover(Rule::Field, follow)?;
            self.report(start, "unsupported ident kind");
            return Ok((start, "".into()));
        }
        let token = self.take();
        if token.kind == T::EscIdent {
            self.report(token.start, "unsupported syntax: '`'");
        }
        Ok((token.start, self.text_of(token).into()))
    }

    fn index(&mut self, operand: Node, after: TokenSet) -> Parsed<(Node, bool)> {
        let open = self.take();
        match self.sync(EXPR.with(T::Question)) {
            Err(Stop::Syntax) => {
                self.recover(Rule::Member, BINARY)?;
                return Ok((Node { expr: Expr::new(open.start, Kind::Error), depth: 0, size: 1 }, false));
            }
            other => other?,
        }
        let name = if self.accept(T::Question).is_some() { op::OPT_INDEX } else { op::INDEX };
        let index = self.expr(TokenSet::of(&[T::RBracket]))?;
        let closed = self.closed(T::RBracket, after)?;
        if !closed {
            self.recover(Rule::Member, BINARY)?;
        }
        Ok((counted(open, name, vec![operand, index]), closed))
    }

    /// Parses arguments up to the closing bracket.
    ///
    /// The arguments are complete if the bracket is missing; false is returned with them then.
    fn args(&mut self, after: TokenSet) -> Parsed<(Vec<Node>, bool)> {
        match self.sync(EXPR.with(T::RParen)) {
            Err(Stop::Syntax) => return Ok((Vec::new(), false)),
            other => other?,
        }
        let mut args = Vec::new();
        if self.peek() != T::RParen {
            let follow = TokenSet::of(&[T::Comma, T::RParen]);
            args.push(self.expr(follow)?);
            while self.accept(T::Comma).is_some() {
                args.push(self.expr(follow)?);
            }
        }
        let closed = self.closed(T::RParen, after)?;
        Ok((args, closed))
    }

    /// Whether the closing bracket follows.
    fn closed(&mut self, bracket: T, after: TokenSet) -> Parsed<bool> {
        match self.expect(bracket, after) {
            Ok(_) => Ok(true),
            Err(Stop::Syntax) => Ok(false),
            Err(stop) => Err(stop),
        }
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
        self.recovered(Rule::Primary, SUFFIX, SUFFIX, |p| p.operand(after))
    }

    fn operand(&mut self, after: TokenSet) -> Parsed<Node> {
        match self.peek() {
            kind if !EXPR.contains(kind) => Err(Stop::Syntax),
            T::Dot if self.second() != T::Ident => self.no_viable(1),
            T::Dot | T::Ident => self.name(after),
            T::LParen => {
                self.take();
                let node = self.expr(TokenSet::of(&[T::RParen]))?;
                if !self.closed(T::RParen, after)? {
                    self.recover(Rule::Primary, SUFFIX)?;
                }
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
        let (args, closed) = if open.is_some() { self.args(after)? } else { (Vec::new(), true) };
        if !closed {
            self.recover(Rule::Primary, SUFFIX)?;
        }
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
        self.entries(|p| {
            let mut more = begins(p.peek());
            while more {
                let optional = p.accept(T::Question).is_some();
                let (_, name) = p.field_name(TokenSet::of(&[T::Colon]))?;
                let colon = p.expect(T::Colon, EXPR)?;
                let value = p.expr(TokenSet::of(&[T::Comma, T::RBrace]))?;
                depth = depth.max(value.depth);
                size = size.saturating_add(value.size);
                fields.push(Field { name, at: colon.start, value: value.expr, optional });
                more = p.peek() == T::Comma && begins(p.second()) && p.accept(T::Comma).is_some();
            }
            Ok(())
        })?;
        self.close(T::RBrace, after)?;
        let kind = Kind::Struct { name: format!("{dot}{name}").into(), fields };
        Ok(Node { expr: Expr::new(open.start, kind), depth, size })
    }

    /// Parses an optional comma and the closing bracket.
    fn close(&mut self, bracket: T, after: TokenSet) -> Parsed<()> {
        let closed = match self.sync(TokenSet::of(&[T::Comma, bracket])) {
            Ok(()) => {
                self.accept(T::Comma);
                self.closed(bracket, after)?
            }
            Err(Stop::Syntax) => false,
            Err(stop) => return Err(stop),
        };
        if closed { Ok(()) } else { self.recover(Rule::Primary, SUFFIX) }
    }

    /// Parses a list of entries and continues after an error in it.
    fn entries(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<()>) -> Parsed<()> {
        let follow = TokenSet::of(&[T::Comma, T::RBrace]);
        let depth = self.contexts.len();
        self.contexts.push(follow);
        let result = match parse(self) {
            Err(Stop::Syntax) => self.recover(Rule::Entries, follow),
            other => other,
        };
        self.contexts.truncate(depth);
        result
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
        self.entries(|p| {
            let mut more = keys.contains(p.peek());
            while more {
                let known = p.problems.len();
                let optional = p.accept(T::Question).is_some();
                let key = p.expr(TokenSet::of(&[T::Colon]))?;
                if let Err(stop) = p.expect(T::Colon, EXPR) {
                    // cel-go does not look at a key without a colon.
                    let mut at = 0;
                    p.problems.retain(|problem| {
                        at += 1;
                        at <= known || problem.message.starts_with("Syntax error: ")
                    });
                    return Err(stop);
                }
                let value = p.expr(TokenSet::of(&[T::Comma, T::RBrace]))?;
                depth = depth.max(key.depth).max(value.depth);
                size = size.saturating_add(key.size).saturating_add(value.size);
                entries.push(Entry { key: key.expr, value: value.expr, optional });
                more = p.peek() == T::Comma && keys.contains(p.second()) && p.accept(T::Comma).is_some();
            }
            Ok(())
        })?;
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
