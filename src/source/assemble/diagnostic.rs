//! Diagnostics: remarks about the input, each with its place.

use std::fmt;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum Severity {
    /// For information; nothing that was requested is missing.
    Note,
    /// Something was read in a way that the author may not have intended.
    Warning,
    /// Something could not be read and is missing from the cluster.
    Error,
}

/// A remark about a file or an object in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    /// The file as it was named, `-` for standard input; empty if the remark is about the input as a whole.
    pub file: String,
    /// The line in the decompressed file, from 1; `None` if unknown.
    pub line: Option<u32>,
    /// The object, such as `Pod shop/payments`, or its place in its list (`items[12]`) if its name is unknown.
    pub object: Option<String>,
    /// The remark, without a full stop.
    pub message: String,
}

/// Writes `file:line: object: message`, leaving out the unknown parts.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.file.is_empty() {
            f.write_str(&self.file)?;
            if let Some(line) = self.line {
                write!(f, ":{line}")?;
            }
            f.write_str(": ")?;
        }
        if let Some(object) = &self.object {
            write!(f, "{object}: ")?;
        }
        f.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_out_what_is_not_known() {
        let full = Diagnostic {
            severity: Severity::Error,
            file: "a.yaml".into(),
            line: Some(3),
            object: Some("Pod shop/web".into()),
            message: "has no name".into(),
        };
        assert_eq!(full.to_string(), "a.yaml:3: Pod shop/web: has no name");
        assert_eq!(Diagnostic { line: None, object: None, ..full.clone() }.to_string(), "a.yaml: has no name");
        assert_eq!(Diagnostic { file: String::new(), object: None, ..full }.to_string(), "has no name");
    }
}
