//! From the text of a selector to tokens.

use std::iter::Peekable;
use std::str::CharIndices;

use super::parse::{Literal, Parsed, Problem, problem};
use crate::cluster::Str;

/// A token; keywords that stand for values are literals.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Ident(Str),
    Literal(Literal),
    Op(&'static str),
    End,
}

impl Token {
    /// As messages name it.
    pub(super) fn show(&self) -> String {
        match self {
            Self::Ident(name) => name.to_string(),
            Self::Literal(literal) => format!("{literal:?}"),
            Self::Op(op) => (*op).to_owned(),
            Self::End => "<EOF>".to_owned(),
        }
    }
}

/// Cuts a text up; every token comes with its byte offset.
pub(super) fn tokens(text: &str) -> Parsed<Vec<(usize, Token)>> {
    Lexer { text, chars: text.char_indices().peekable() }.tokens()
}

const OPERATORS: [&str; 24] =
    ["==", "!=", "<=", ">=", "&&", "||", "<", ">", "+", "-", "*", "/", "%", "!", "?", ":", ".", ",", "(", ")", "[", "]", "{", "}"];

struct Lexer<'a> {
    text: &'a str,
    chars: Peekable<CharIndices<'a>>,
}

impl Lexer<'_> {
    fn tokens(mut self) -> Parsed<Vec<(usize, Token)>> {
        let mut tokens = Vec::new();
        while let Some(&(at, c)) = self.chars.peek() {
            if c.is_ascii_whitespace() {
                self.chars.next();
            } else if self.text[at..].starts_with("//") {
                while self.chars.next_if(|(_, c)| *c != '\n').is_some() {}
            } else {
                let token = self.token(at, c)?;
                tokens.push((at, token));
            }
        }
        tokens.push((self.text.len(), Token::End));
        Ok(tokens)
    }

    fn token(&mut self, at: usize, c: char) -> Parsed<Token> {
        let rest = &self.text[at..];
        let second = rest.as_bytes().get(1).copied().unwrap_or(0);
        if c.is_ascii_digit() || (c == '.' && second.is_ascii_digit()) {
            return self.number(at);
        }
        let prefix = rest.bytes().take_while(|b| b"rRbB".contains(b)).count();
        if matches!(rest.as_bytes().get(prefix), Some(b'"' | b'\'')) && prefix <= 2 {
            return self.string(at, prefix);
        }
        if c.is_ascii_alphabetic() || c == '_' {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            self.skip_to(at + end);
            return Ok(match &rest[..end] {
                "true" => Token::Literal(Literal::Bool(true)),
                "false" => Token::Literal(Literal::Bool(false)),
                "null" => Token::Literal(Literal::Null),
                "in" => Token::Op("in"),
                name => Token::Ident(name.into()),
            });
        }
        match OPERATORS.iter().find(|op| rest.starts_with(**op)) {
            Some(op) => {
                self.skip_to(at + op.len());
                Ok(Token::Op(op))
            }
            None => problem(at, format!("Syntax error: token recognition error at: '{c}'")),
        }
    }

    fn skip_to(&mut self, end: usize) {
        while self.chars.next_if(|(i, _)| *i < end).is_some() {}
    }

    fn number(&mut self, at: usize) -> Parsed<Token> {
        let rest = &self.text[at..];
        let (digits, radix) = match rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X")) {
            Some(hex) => (hex, 16),
            None => (rest, 10),
        };
        let mut end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
        let mut float = false;
        if radix == 10 {
            let bytes = digits.as_bytes();
            if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
                float = true;
                end += 1 + bytes[end + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
            }
            if matches!(bytes.get(end), Some(b'e' | b'E')) {
                let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
                let power = bytes[end + 1 + sign..].iter().take_while(|b| b.is_ascii_digit()).count();
                if power > 0 {
                    float = true;
                    end += 1 + sign + power;
                }
            }
        }
        let text = &digits[..end];
        let unsigned = !float && matches!(digits.as_bytes().get(end), Some(b'u' | b'U'));
        self.skip_to(at + rest.len() - digits.len() + end + usize::from(unsigned));
        let literal = if float {
            text.parse().ok().map(Literal::Double)
        } else if unsigned {
            u64::from_str_radix(text, radix).ok().map(Literal::Uint)
        } else {
            // The lowest integer has no positive twin: its digits are read as if negative, which unary minus undoes.
            match u64::from_str_radix(text, radix).ok() {
                Some(n) if n == 1 << 63 => Some(Literal::Int(i64::MIN)),
                n => n.and_then(|n| i64::try_from(n).ok()).map(Literal::Int),
            }
        };
        match literal {
            Some(literal) => Ok(Token::Literal(literal)),
            None => problem(at, if unsigned { "invalid uint literal" } else { "invalid int literal" }),
        }
    }

    fn string(&mut self, at: usize, prefix: usize) -> Parsed<Token> {
        let text = self.text;
        let (raw, bytes) = (text[at..at + prefix].contains(['r', 'R']), text[at..at + prefix].contains(['b', 'B']));
        let body = &text[at + prefix..];
        let quote = &body[..1];
        let triple = quote.repeat(3);
        let delimiter = if body.starts_with(&triple) { triple.as_str() } else { quote };
        let start = at + prefix + delimiter.len();
        let mut out: Vec<u8> = Vec::new();
        let mut chars = text[start..].char_indices();
        while let Some((i, c)) = chars.next() {
            if text[start + i..].starts_with(delimiter) {
                self.skip_to(start + i + delimiter.len());
                return match String::from_utf8(out) {
                    Ok(string) if !bytes => Ok(Token::Literal(Literal::String(string.into()))),
                    Ok(string) => Ok(Token::Literal(Literal::Bytes(string.into_bytes()))),
                    Err(error) if bytes => Ok(Token::Literal(Literal::Bytes(error.into_bytes()))),
                    Err(_) => problem(at, "invalid string literal"),
                };
            }
            if c == '\\' && !raw {
                escape(&mut chars, bytes, &mut out).ok_or(Problem { at, message: "unable to unescape string".into() })?;
            } else if c == '\n' && delimiter.len() == 1 {
                break;
            } else {
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        problem(at, format!("Syntax error: token recognition error at: '{}'", &text[at..]))
    }
}

/// Reads what follows a backslash.
fn escape(chars: &mut CharIndices<'_>, bytes: bool, out: &mut Vec<u8>) -> Option<()> {
    let (_, c) = chars.next()?;
    let mut number = |first: u32, digits: usize, radix: u32| {
        (0..digits).try_fold(first, |value, _| Some(value * radix + chars.next()?.1.to_digit(radix)?))
    };
    let value = match c {
        'a' => 7,
        'b' => 8,
        'f' => 12,
        'n' => 10,
        'r' => 13,
        't' => 9,
        'v' => 11,
        '\\' | '\'' | '"' | '`' | '?' => u32::from(c),
        'x' | 'X' => number(0, 2, 16)?,
        'u' if !bytes => number(0, 4, 16)?,
        'U' if !bytes => number(0, 8, 16)?,
        '0'..='3' => number(c.to_digit(8)?, 2, 8)?,
        _ => return None,
    };
    if bytes {
        out.push(u8::try_from(value).ok()?);
    } else {
        out.extend_from_slice(char::from_u32(value)?.encode_utf8(&mut [0; 4]).as_bytes());
    }
    Some(())
}
