//! Parsing: is the text the body of one async function?

use swc_common::{BytePos, FileName, SourceMap, Span, Spanned, sync::Lrc};
use swc_ecma_ast::{Decl, EsVersion, FnDecl, FunctionBody, Script, Stmt};
use swc_ecma_parser::{
    Parser, StringInput, Syntax, TsSyntax,
    error::{Error, SyntaxError},
    lexer::Lexer,
};

use super::{Position, SourceError, depth};

/// What stands before the program while it is parsed, on a line of its own.
pub(super) const HEAD: &str = "\"use strict\";async function program(){\n";
/// What stands after it.
pub(super) const TAIL: &str = "\n}";

/// What later steps want to know of the tree.
pub(super) struct Parsed {
    pub(super) ends_with_expression: bool,
}

/// Parses `text` as a function body.
pub(super) fn check(text: &str) -> Result<Parsed, SourceError> {
    read(text, |body, _| {
        let last = body.and_then(|body| body.stmts.last());
        Parsed { ends_with_expression: matches!(last, Some(Stmt::Expr(_))) }
    })
}

/// Parses `text` as a function body, and shows `look` the body and where the wrapped text begins.
pub(super) fn read<T>(
    text: &str,
    look: impl FnOnce(Option<&FunctionBody>, BytePos) -> T,
) -> Result<T, SourceError> {
    depth::check(text)?;
    let wrapped = format!("{HEAD}{text}{TAIL}");
    let map: Lrc<SourceMap> = Lrc::default();
    let file = map.new_source_file(Lrc::new(FileName::Anon), wrapped);
    let lexer =
        Lexer::new(Syntax::Typescript(typescript()), EsVersion::latest(), StringInput::from(&*file), None);
    let mut parser = Parser::new_from(lexer);
    let parsed = parser.parse_script();
    let errors = parser.take_errors();
    let located = |error: &Error| syntax_error(text, file.start_pos, error);
    // The error that stands first in the text is the cause of the others.
    let first = errors.iter().min_by_key(|error| error.span().lo);
    let script = match (parsed, first) {
        (Err(fatal), Some(other)) if other.span().lo < fatal.span().lo => return Err(located(other)),
        (Err(fatal), _) => return Err(located(&fatal)),
        (Ok(_), Some(error)) => return Err(located(error)),
        (Ok(script), None) => script,
    };
    let function = only_function(&script, text, file.start_pos, file.end_pos)?;
    Ok(look(function.function.body.as_ref(), file.start_pos))
}

/// The syntax programs may use: TypeScript without JSX and decorators.
pub(super) fn typescript() -> TsSyntax {
    TsSyntax { decorators: false, ..TsSyntax::default() }
}

/// The one function that spans the whole text; else the program closed it.
fn only_function<'a>(
    script: &'a Script,
    text: &str,
    start: BytePos,
    end: BytePos,
) -> Result<&'a FnDecl, SourceError> {
    let mut functions = script.body.iter().filter_map(|statement| match statement {
        Stmt::Decl(Decl::Fn(function)) => Some(function),
        _ => None,
    });
    match functions.next() {
        Some(function) if function.function.span.hi == end && script.body.len() == 2 => Ok(function),
        first => {
            let closing = first.map_or(start, |function| function.function.span.hi - BytePos(1));
            Err(closes_nothing(position(text, start, closing)))
        }
    }
}

fn closes_nothing(position: Position) -> SourceError {
    SourceError::Syntax {
        message: "Unexpected token `}`".to_owned(),
        position,
        advice: Some("nothing is open here"),
    }
}

fn syntax_error(text: &str, start: BytePos, error: &Error) -> SourceError {
    let Span { lo, .. } = error.span();
    let position = position(text, start, lo);
    // The program closed the wrapper and the parser stumbled over what follows.
    if let Some(offset) = depth::unopened_brace(text)
        && Position::at(text, offset).line <= position.line
    {
        return closes_nothing(Position::at(text, offset));
    }
    let offset = offset(text, start, lo);
    // Where `await` is a name, the parser stumbles over what follows; the word itself has to change.
    let place = match text[..offset].trim_end().strip_suffix("await") {
        Some(before) => Position::at(text, before.len()),
        None => position,
    };
    let (message, advice) = worded(text, offset, error.kind());
    SourceError::Syntax { message, position: place, advice }
}

/// The parser's message in the contract's words, and what to write instead.
fn worded(text: &str, offset: usize, kind: &SyntaxError) -> (String, Option<&'static str>) {
    const MODULE_CODE: &str = "'import', and 'export' cannot be used outside of module code";
    let rest = &text[offset..];
    match kind {
        SyntaxError::ImportExportInScript | SyntaxError::NonTopLevelImportExport => {
            let advice = if rest.starts_with("export") {
                "use `return` to give a result"
            } else {
                "call the functions of `tools`; nothing has to be imported"
            };
            (MODULE_CODE.to_owned(), Some(advice))
        }
        SyntaxError::Expected(token, got) if got == "<eof>" => {
            (format!("Expected '{token}', got '<eof>'"), None)
        }
        _ if text[..offset].trim_end().ends_with("await") => (
            "`await` is only allowed in an async function".to_owned(),
            Some("write `async` before the function that it stands in"),
        ),
        _ if rest.starts_with('@') => (
            "Decorators are not supported".to_owned(),
            Some("call the function on the class or method instead"),
        ),
        kind => (kind.msg().into_owned(), None),
    }
}

/// The byte offset in `text` of a place in the wrapped text, within the text.
fn offset(text: &str, start: BytePos, place: BytePos) -> usize {
    let wrapped = (place - start).0 as usize;
    text.floor_char_boundary(wrapped.saturating_sub(HEAD.len()).min(text.len()))
}

pub(super) fn position(text: &str, start: BytePos, place: BytePos) -> Position {
    Position::at(text, offset(text, start, place))
}
