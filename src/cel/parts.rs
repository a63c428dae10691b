//! The parts of an expression for readers that do not evaluate it.

use super::ast::Literal;
use super::token::TokenKind;
use super::{lex, literal};

/// A part of an expression. Comments and blanks are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// An identifier, without back quotes.
    Name(&'a str),
    /// The value of a string literal; `None` if it has an invalid escape.
    Text(Option<String>),
    /// A number.
    Number,
    /// Any other token, as it is written.
    Symbol(&'a str),
}

/// Returns the parts of an expression. Text that is no token is left out: such an expression does not compile.
pub(crate) fn parts(expression: &str) -> Vec<Part<'_>> {
    let (tokens, _) = lex::tokens(expression);
    let part = |token: super::token::Token| {
        let text = &expression[token.start..token.end];
        Some(match token.kind {
            TokenKind::Eof => return None,
            TokenKind::Ident => Part::Name(text),
            TokenKind::EscIdent => Part::Name(text.trim_matches('`')),
            TokenKind::Int | TokenKind::Uint | TokenKind::Float => Part::Number,
            TokenKind::String => match literal::string(text) {
                Ok(Literal::String(value)) => Part::Text(Some(value.to_string())),
                _ => Part::Text(None),
            },
            _ => Part::Symbol(text),
        })
    };
    tokens.into_iter().filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_have_their_values_and_comments_are_left_out() {
        let text = |value: &str| Part::Text(Some(value.to_owned()));
        assert_eq!(
            parts("a.`b-c` == 'x' // it's\n && r\"\\d\" < -1.5 || '''y'z''' != \"\\u0041\" + '\\ud800'"),
            [
                Part::Name("a"),
                Part::Symbol("."),
                Part::Name("b-c"),
                Part::Symbol("=="),
                text("x"),
                Part::Symbol("&&"),
                text("\\d"),
                Part::Symbol("<"),
                Part::Symbol("-"),
                Part::Number,
                Part::Symbol("||"),
                text("y'z"),
                Part::Symbol("!="),
                text("A"),
                Part::Symbol("+"),
                Part::Text(None),
            ]
        );
        assert!(parts("'").is_empty());
    }
}
