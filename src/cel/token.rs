//! Tokens of the Common Expression Language, numbered as in the generated parser of cel-go's `parser/gen`, whose messages
//! list them in that order.

/// Declares the kinds of tokens with the text that messages show for each.
macro_rules! kinds {
    ($($name:ident = $number:literal $shown:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum TokenKind { $($name = $number,)* }

        const SHOWN: &[(TokenKind, &str)] = &[$((TokenKind::$name, $shown),)*];
    };
}

kinds! {
    Eof = 0 "<EOF>",
    Equals = 1 "'=='",
    NotEquals = 2 "'!='",
    In = 3 "'in'",
    Less = 4 "'<'",
    LessEquals = 5 "'<='",
    GreaterEquals = 6 "'>='",
    Greater = 7 "'>'",
    And = 8 "'&&'",
    Or = 9 "'||'",
    LBracket = 10 "'['",
    RBracket = 11 "']'",
    LBrace = 12 "'{'",
    RBrace = 13 "'}'",
    LParen = 14 "'('",
    RParen = 15 "')'",
    Dot = 16 "'.'",
    Comma = 17 "','",
    Minus = 18 "'-'",
    Exclam = 19 "'!'",
    Question = 20 "'?'",
    Colon = 21 "':'",
    Plus = 22 "'+'",
    Star = 23 "'*'",
    Slash = 24 "'/'",
    Percent = 25 "'%'",
    True = 26 "'true'",
    False = 27 "'false'",
    Null = 28 "'null'",
    Float = 31 "NUM_FLOAT",
    Int = 32 "NUM_INT",
    Uint = 33 "NUM_UINT",
    String = 34 "STRING",
    Bytes = 35 "BYTES",
    Ident = 36 "IDENTIFIER",
    EscIdent = 37 "ESC_IDENTIFIER",
}

/// A token and its place in the text, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A set of kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TokenSet(u64);

impl TokenSet {
    pub(super) const fn of(kinds: &[TokenKind]) -> Self {
        let (mut bits, mut i) = (0, 0);
        while i < kinds.len() {
            bits |= 1 << kinds[i] as u64;
            i += 1;
        }
        Self(bits)
    }

    pub(super) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn with(self, kind: TokenKind) -> Self {
        Self(self.0 | 1 << kind as u64)
    }

    pub(super) const fn without(self, kind: TokenKind) -> Self {
        Self(self.0 & !(1 << kind as u64))
    }

    pub(super) fn contains(self, kind: TokenKind) -> bool {
        self.0 & (1 << kind as u64) != 0
    }
}

/// Writes expected tokens as ANTLR does: a single kind, or several in braces.
impl std::fmt::Display for TokenSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = SHOWN.iter().filter(|(kind, _)| self.contains(*kind)).map(|(_, shown)| *shown).collect();
        match names.as_slice() {
            [name] => f.write_str(name),
            _ => write!(f, "{{{}}}", names.join(", ")),
        }
    }
}
