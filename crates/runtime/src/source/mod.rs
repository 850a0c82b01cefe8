//! From the text a model sent to JavaScript that V8 can compile, every position kept.
//!
//! The program is parsed as the body of one async function, so that `await` and
//! `return` are legal at its top level and nothing can close the function from
//! inside; then its types are overwritten with blanks. Contract 6.3, decisions
//! 10, 11, 12 and 18.

mod depth;
mod parse;
mod positions;
mod strip;
mod unwrap;

mod oversight;

pub(crate) use oversight::oversight;
pub(crate) use positions::{Position, code_frame};

use parse::Parsed;

/// A program ready to be compiled as a function body.
#[derive(Debug)]
pub(crate) struct Source {
    /// JavaScript. Same lines and columns as the text that was sent.
    pub(crate) body: String,
    /// True if the last statement is an expression whose value goes nowhere.
    pub(crate) ends_with_expression: bool,
}

/// Why a text is not a program, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SourceError {
    /// The text is longer than the limit.
    #[error("the program is {actual_bytes} bytes long, the limit is {limit_bytes} bytes")]
    TooLong {
        /// Its length.
        actual_bytes: usize,
        /// The limit.
        limit_bytes: usize,
    },
    /// The text nests deeper than a parser's stack allows.
    #[error("the program nests too deeply ({position}): split it into smaller statements")]
    TooDeep {
        /// Where the limit was passed.
        position: Position,
    },
    /// It does not parse.
    #[error("{message} ({position}){}", suffix(*.advice))]
    Syntax {
        /// The parser's message.
        message: String,
        /// Where.
        position: Position,
        /// What to write instead, where that is known.
        advice: Option<&'static str>,
    },
}

fn suffix(text: Option<&'static str>) -> String {
    text.map(|text| format!(": {text}")).unwrap_or_default()
}

impl SourceError {
    /// Where the error is, if it is at one place.
    pub(crate) fn position(&self) -> Option<Position> {
        match self {
            Self::TooLong { .. } => None,
            Self::TooDeep { position } | Self::Syntax { position, .. } => Some(*position),
        }
    }
}

/// Parses and strips `text`.
///
/// # Errors
/// [`SourceError`] with the position in `text` of what has to change.
pub(crate) fn prepare(text: &str, limit_bytes: usize) -> Result<Source, SourceError> {
    check_length(text, limit_bytes)?;
    let text = unwrap::unwrap(text);
    let Parsed { ends_with_expression } = parse::check(&text)?;
    let body = strip::strip(&text)?;
    Ok(Source { body, ends_with_expression })
}

/// Refuses a text that is longer than the limit.
///
/// # Errors
/// [`SourceError::TooLong`].
pub(crate) fn check_length(text: &str, limit_bytes: usize) -> Result<(), SourceError> {
    if text.len() > limit_bytes {
        return Err(SourceError::TooLong { actual_bytes: text.len(), limit_bytes });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 1 << 20;

    #[track_caller]
    fn check(text: &str, body: &str) {
        assert_eq!(prepare(text, LIMIT).map(|source| source.body), Ok(body.to_owned()), "{text}");
    }

    #[track_caller]
    fn refused(text: &str, message: &str) {
        match prepare(text, LIMIT) {
            Ok(source) => panic!("accepted {text:?} as {:?}", source.body),
            Err(error) => assert_eq!(error.to_string(), message, "{text}"),
        }
    }

    #[test]
    fn types_become_blanks_and_positions_stay() {
        check("const x: number = 1;\nreturn x as any", "const x         = 1;\nreturn x       ");
        check("return (await f<string>('é: x')) !== 1", "return (await f        ('é: x')) !== 1");
        check("interface A { b: string }\nreturn 1", ";                        \nreturn 1");
    }

    #[test]
    fn empty_program_and_trailing_comment_are_fine() {
        check("", "");
        check("return 1 // done", "return 1 // done");
    }

    #[test]
    fn fence_bom_and_crlf_are_forgiven_and_lines_stay() {
        check("```ts\nreturn 1\n```\n", "\nreturn 1\n\n");
        check("\u{feff}return 1", " return 1");
        check("const a: 1 = 1;\r\nreturn a", "const a    = 1;\r\nreturn a");
    }

    #[test]
    fn constructs_that_cannot_be_erased_name_their_replacement() {
        refused(
            "\n\nenum A { B }",
            "TypeScript enum is not supported in strip-only mode (program:3:1): use a const object",
        );
        refused(
            "namespace N { export const a = 1 }",
            "TypeScript namespace declaration is not supported in strip-only mode (program:1:1): use a plain object or functions",
        );
        refused(
            "class A { constructor(private x: number) {} }",
            "TypeScript parameter property is not supported in strip-only mode (program:1:31): declare the field and assign it in the constructor",
        );
    }

    #[test]
    fn wrapper_cannot_be_closed_from_inside() {
        let closes = "Unexpected token `}` (program:2:1): nothing is open here";
        refused("return 1\n}\nasync function b() {", closes);
        refused("return 1\n}); (async () => {", closes);
    }

    #[test]
    fn static_import_and_export_are_refused_with_what_to_use() {
        refused(
            "import fs from 'node:fs'",
            "'import', and 'export' cannot be used outside of module code (program:1:1): call the functions of `tools`; nothing has to be imported",
        );
        refused(
            "const a = 1;\nexport default a",
            "'import', and 'export' cannot be used outside of module code (program:2:1): use `return` to give a result",
        );
    }

    #[test]
    fn unfinished_text_points_into_the_program() {
        refused("if (a) {", "Expected '}', got '<eof>' (program:1:9)");
        refused(
            "[1].map((n) => { const r = await tools.f({ n }); return r })",
            "`await` is only allowed in an async function (program:1:28): write `async` before the function that it stands in",
        );
        refused("const a = ;", "Expression expected (program:1:11)");
    }

    #[test]
    fn bare_last_expression_is_noticed() {
        let ends = |text| prepare(text, LIMIT).unwrap().ends_with_expression;
        assert!(ends("const a = 1;\na"));
        assert!(!ends("return 1"));
        assert!(!ends("const a = 1"));
    }

    #[test]
    fn deep_nesting_is_refused_and_not_a_crash() {
        for text in [
            "(".repeat(200_000),
            "[".repeat(200_000),
            "a=>".repeat(200_000),
            "!".repeat(300_000),
            "1+".repeat(300_000) + "1",
        ] {
            let error = prepare(&text, LIMIT).map(|_| ()).unwrap_err();
            assert!(matches!(error, SourceError::TooDeep { .. }), "{error}");
        }
    }

    #[test]
    fn long_flat_programs_are_not_taken_for_deep_ones() {
        let text = "console.log(await tools.echo({ value: [1, 2, 3] }))\n".repeat(10_000);
        assert!(prepare(&text, LIMIT).is_ok());
    }

    #[test]
    fn source_over_the_limit_names_both_sizes() {
        assert_eq!(
            prepare("12345", 4).unwrap_err().to_string(),
            "the program is 5 bytes long, the limit is 4 bytes"
        );
    }
}
