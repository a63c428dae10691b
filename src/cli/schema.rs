//! `schedscope schema`: the JSON Schemas of answers.

use super::{Failure, print};
use crate::output::{Lines, Text};
use crate::report::{AnswerSchema, SCHEMAS};
use crate::suggest::nearest;

/// Prints the schema of an answer, or the names of all.
pub(super) fn run(answer: Option<&str>) -> Result<u8, Failure> {
    let Some(name) = answer else {
        return print(&SCHEMAS.iter().map(|schema| format!("{:<9} {}", schema.name, schema.about)).collect::<Lines>().into());
    };
    let schema = AnswerSchema::named(name).ok_or_else(|| {
        let meant = nearest(name, SCHEMAS.iter().map(|schema| schema.name));
        Failure::usage(format!("there is no answer {name:?}; schedscope schema lists them")).with_nearest(meant)
    })?;
    print(&Text::document(schema.text()))
}
