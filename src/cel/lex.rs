//! Splits the text of a selector into tokens by the lexer rules of `parser/gen/CEL.g4`. The longest match wins. If
//! nothing matches, the text up to and including the first unacceptable character is reported and skipped.

use super::source::Problem;
use super::token::{Token, TokenKind};

const NO_TOKEN: &str = "Syntax error: token recognition error at: '";

/// Returns the place of the text that a problem of the lexer is about.
pub(super) fn skipped(problem: &Problem) -> Option<(usize, usize)> {
    let from = problem.at?;
    let shown = problem.message.strip_prefix(NO_TOKEN)?.strip_suffix('\'')?;
    Some((from, from + shown.len()))
}

/// Returns the tokens and the problems. The last token is the end of the text; text that is not a token is left out.
pub(super) fn tokens(text: &str) -> (Vec<Token>, Vec<Problem>) {
    let mut lexer = Lexer { text, at: 0 };
    let (mut tokens, mut problems) = (Vec::new(), Vec::new());
    while let Some(c) = text[lexer.at..].chars().next() {
        let start = lexer.at;
        if matches!(c, '\t' | ' ' | '\r' | '\n' | '\u{c}') {
            lexer.at += 1;
            continue;
        }
        if text[start..].starts_with("//") {
            lexer.at = text[start..].find('\n').map_or(text.len(), |n| start + n);
            continue;
        }
        match lexer.token(c) {
            Ok((kind, end)) => {
                tokens.push(Token { kind, start, end });
                lexer.at = end;
            }
            Err(failed) => {
                // The unacceptable character is reported and skipped as well.
                let end = text[failed..].chars().next().map_or(failed, |c| failed + c.len_utf8());
                let shown = &text[start..end];
                problems.push(Problem { at: Some(start), message: format!("{NO_TOKEN}{shown}'") });
                lexer.at = end;
            }
        }
    }
    tokens.push(Token { kind: TokenKind::Eof, start: text.len(), end: text.len() });
    (tokens, problems)
}

const SYMBOLS: [(&str, TokenKind); 24] = [
    ("==", TokenKind::Equals),
    ("!=", TokenKind::NotEquals),
    ("<=", TokenKind::LessEquals),
    (">=", TokenKind::GreaterEquals),
    ("&&", TokenKind::And),
    ("||", TokenKind::Or),
    ("<", TokenKind::Less),
    (">", TokenKind::Greater),
    ("[", TokenKind::LBracket),
    ("]", TokenKind::RBracket),
    ("{", TokenKind::LBrace),
    ("}", TokenKind::RBrace),
    ("(", TokenKind::LParen),
    (")", TokenKind::RParen),
    (".", TokenKind::Dot),
    (",", TokenKind::Comma),
    ("-", TokenKind::Minus),
    ("!", TokenKind::Exclam),
    ("?", TokenKind::Question),
    (":", TokenKind::Colon),
    ("+", TokenKind::Plus),
    ("*", TokenKind::Star),
    ("/", TokenKind::Slash),
    ("%", TokenKind::Percent),
];

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

impl Lexer<'_> {
    fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    fn byte(&self, at: usize) -> u8 {
        self.bytes().get(at).copied().unwrap_or(0)
    }

    fn skip(&self, mut at: usize, takes: impl Fn(u8) -> bool) -> usize {
        while self.bytes().get(at).is_some_and(|b| takes(*b)) {
            at += 1;
        }
        at
    }

    /// Returns the token at the current position and its end; the error is the offset at which no rule continues.
    fn token(&self, c: char) -> Result<(TokenKind, usize), usize> {
        let start = self.at;
        if c.is_ascii_digit() || (c == '.' && self.byte(start + 1).is_ascii_digit()) {
            return Ok(self.number(start));
        }
        if matches!(c, '"' | '\'') {
            return self.string(start, false).map(|end| (TokenKind::String, end));
        }
        if c.is_ascii_alphabetic() || c == '_' {
            if let Some(found) = self.prefixed_string(start) {
                return Ok(found);
            }
            let end = self.skip(start, is_word);
            let kind = match &self.text[start..end] {
                "true" => TokenKind::True,
                "false" => TokenKind::False,
                "null" => TokenKind::Null,
                "in" => TokenKind::In,
                _ => TokenKind::Ident,
            };
            return Ok((kind, end));
        }
        if c == '`' {
            let end = self.skip(start + 1, |b| is_word(b) || matches!(b, b'.' | b'-' | b'/' | b' '));
            return if end > start + 1 && self.byte(end) == b'`' { Ok((TokenKind::EscIdent, end + 1)) } else { Err(end) };
        }
        if let Some((symbol, kind)) = SYMBOLS.iter().find(|(symbol, _)| self.text[start..].starts_with(symbol)) {
            return Ok((*kind, start + symbol.len()));
        }
        // `=`, `&` and `|` begin a symbol of two characters.
        Err(if matches!(c, '=' | '&' | '|') { start + 1 } else { start })
    }

    fn number(&self, start: usize) -> (TokenKind, usize) {
        if self.bytes()[start..].starts_with(b"0x") && self.byte(start + 2).is_ascii_hexdigit() {
            let end = self.skip(start + 2, |b| b.is_ascii_hexdigit());
            return if matches!(self.byte(end), b'u' | b'U') { (TokenKind::Uint, end + 1) } else { (TokenKind::Int, end) };
        }
        let mut end = self.skip(start, |b| b.is_ascii_digit());
        let mut kind = TokenKind::Int;
        if self.byte(end) == b'.' && self.byte(end + 1).is_ascii_digit() {
            end = self.skip(end + 1, |b| b.is_ascii_digit());
            kind = TokenKind::Float;
        }
        if matches!(self.byte(end), b'e' | b'E') {
            let digits = end + 1 + usize::from(matches!(self.byte(end + 1), b'+' | b'-'));
            if self.byte(digits).is_ascii_digit() {
                end = self.skip(digits, |b| b.is_ascii_digit());
                kind = TokenKind::Float;
            }
        }
        if kind == TokenKind::Int && matches!(self.byte(end), b'u' | b'U') {
            return (TokenKind::Uint, end + 1);
        }
        (kind, end)
    }

    /// Reads `r"…"`, `b'…'`, `br"""…"""` and similar. Without closing quotes, the letters are an identifier.
    fn prefixed_string(&self, start: usize) -> Option<(TokenKind, usize)> {
        let bytes = matches!(self.byte(start), b'b' | b'B');
        let raw_at = start + usize::from(bytes);
        let raw = matches!(self.byte(raw_at), b'r' | b'R');
        let quote = raw_at + usize::from(raw);
        if !matches!(self.byte(quote), b'"' | b'\'') || quote == start {
            return None;
        }
        let kind = if bytes { TokenKind::Bytes } else { TokenKind::String };
        self.string(quote, raw).ok().map(|end| (kind, end))
    }

    /// Returns the end of the string whose quotes begin here; the error is the offset at which no rule continues.
    fn string(&self, start: usize, raw: bool) -> Result<usize, usize> {
        let quote = self.byte(start);
        let triple = self.byte(start + 1) == quote && self.byte(start + 2) == quote;
        if triple && let Ok(end) = self.string_body(start + 3, quote, 3, raw) {
            return Ok(end);
        }
        self.string_body(start + 1, quote, 1, raw)
    }

    fn string_body(&self, mut at: usize, quote: u8, quotes: usize, raw: bool) -> Result<usize, usize> {
        loop {
            let Some(&b) = self.bytes().get(at) else { return Err(at) };
            if (0..quotes).all(|i| self.byte(at + i) == quote) {
                return Ok(at + quotes);
            }
            match b {
                b'\\' if !raw => at = self.escape(at + 1)?,
                b'\n' | b'\r' if quotes == 1 => return Err(at),
                _ => at += 1,
            }
        }
    }

    /// Returns the end of an escape sequence after its backslash.
    fn escape(&self, at: usize) -> Result<usize, usize> {
        let Some(&b) = self.bytes().get(at) else { return Err(at) };
        let (digits, fits): (usize, fn(u8) -> bool) = match b {
            b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'"' | b'\'' | b'\\' | b'?' | b'`' => return Ok(at + 1),
            b'x' | b'X' => (2, |b| b.is_ascii_hexdigit()),
            b'u' => (4, |b| b.is_ascii_hexdigit()),
            b'U' => (8, |b| b.is_ascii_hexdigit()),
            b'0'..=b'3' => (2, |b| (b'0'..=b'7').contains(&b)),
            _ => return Err(at),
        };
        match (1..=digits).find(|i| !self.bytes().get(at + i).is_some_and(|b| fits(*b))) {
            Some(i) => Err(at + i),
            None => Ok(at + 1 + digits),
        }
    }
}
