//! What the host knows of an error that the engine made, and the engine does not say: the nearest names of a tool
//! that is not there, the limit that refused a buffer. Decisions 15 and 20.

use std::sync::Arc;

use crate::seam::Namespace;

/// What is known of one run.
pub(crate) struct Hints {
    program: Arc<str>,
    namespaces: Vec<Names>,
    max_array_buffer_bytes: usize,
}

struct Names {
    global: Arc<str>,
    functions: Arc<[Arc<str>]>,
}

/// What V8 says when its allocator refuses; `js/01_errors.js` asks for the same words.
const REFUSED_BUFFER: &str = "RangeError: Array buffer allocation failed";
/// How many names are suggested.
const SUGGESTIONS: usize = 3;
/// How alike a name must be to be suggested, from 0 to 1.
const ALIKE: f64 = 0.6;

impl Hints {
    pub(crate) fn new(program: Arc<str>, namespaces: &[Namespace], max_array_buffer_bytes: usize) -> Self {
        let names = |namespace: &Namespace| Names {
            global: Arc::clone(&namespace.global),
            functions: Arc::clone(&namespace.functions),
        };
        Self { program, namespaces: namespaces.iter().map(names).collect(), max_array_buffer_bytes }
    }

    /// What belongs after `head`, the `name: message` of an error; None for most.
    pub(crate) fn after(&self, head: &str) -> Option<String> {
        if head == REFUSED_BUFFER {
            return Some(format!(" (limit {} bytes)", self.max_array_buffer_bytes));
        }
        let (callee, _) = head.strip_prefix("TypeError: ")?.split_once(" is not a function")?;
        self.namespaces.iter().find_map(|names| names.nearest(callee, &self.program))
    }
}

impl Names {
    /// The nearest names to that of `callee`, if it is a call of a function that this namespace does not have.
    fn nearest(&self, callee: &str, program: &str) -> Option<String> {
        let (global, known) = (&self.global, self.functions.len());
        if callee == &**global {
            // QuickJS names the object only.
            return Some(format!(". There is no such tool; Object.keys({global}) lists all {known}"));
        }
        let own = callee.strip_prefix(&**global).and_then(|name| name.strip_prefix('.'));
        let name = match (own, callee.split_once('.')) {
            (Some(name), _) => name,
            (None, Some((object, name))) if is_alias(program, object, global) => name,
            (None, None) if is_taken_out(program, callee, global) => callee,
            _ => return None,
        };
        if self.functions.iter().any(|function| &**function == name) {
            return None;
        }
        let mut near: Vec<(f64, &str)> = self
            .functions
            .iter()
            .map(|function| (likeness(name, function), &**function))
            .filter(|(alike, _)| *alike >= ALIKE)
            .collect();
        near.sort_by(|(a, x), (b, y)| b.total_cmp(a).then(x.cmp(y)));
        near.truncate(SUGGESTIONS);
        Some(match near.as_slice() {
            [] => format!(". There is no tool {name:?}; Object.keys({global}) lists all {known}"),
            near => {
                let names: Vec<&str> = near.iter().map(|(_, name)| *name).collect();
                format!(". There is no tool {name:?}; the nearest: {}", names.join(", "))
            }
        })
    }
}

/// True if the program's text has `name = global`: the object itself, not something of it.
fn is_alias(program: &str, name: &str, global: &str) -> bool {
    assigned(program, global).any(|target| {
        let target = target.trim_end();
        target.strip_suffix(name).is_some_and(|before| !before.ends_with(is_name_char))
    })
}

/// True if the program's text has `{ name } = global`, alone or among others.
fn is_taken_out(program: &str, name: &str, global: &str) -> bool {
    assigned(program, global).any(|target| {
        let names = target.trim_end().strip_suffix('}').and_then(|target| target.rsplit_once('{'));
        names.is_some_and(|(_, names)| names.split(|char: char| !is_name_char(char)).any(|each| each == name))
    })
}

/// What stands before each `= global` of the program that takes the object itself.
fn assigned<'a>(program: &'a str, global: &'a str) -> impl Iterator<Item = &'a str> {
    program.match_indices(global).filter_map(move |(at, _)| {
        let after = program[at + global.len()..].chars().next();
        if after.is_some_and(|char| is_name_char(char) || matches!(char, '.' | '[' | '(' | '?')) {
            return None;
        }
        program[..at].trim_end().strip_suffix('=')
    })
}

fn is_name_char(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '$')
}

/// Names that differ in case or separators only are as good as equal.
fn likeness(a: &str, b: &str) -> f64 {
    let plain = |name: &str| {
        name.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>()
    };
    let (a, b) = (plain(a), plain(b));
    if !a.is_empty() && (b.contains(&a) || (a.contains(&b) && b.len() > 3)) {
        return 1.0;
    }
    strsim::jaro_winkler(&a, &b).min(strsim::normalized_damerau_levenshtein(&a, &b) + 0.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(program: &str, head: &str, hint: Option<&str>) {
        let names =
            Names { global: "tools".into(), functions: ["search", "fetch_url"].map(Arc::from).into() };
        let hints = Hints { program: program.into(), namespaces: vec![names], max_array_buffer_bytes: 100 };
        assert_eq!(hints.after(head).as_deref(), hint, "{program}: {head}");
    }

    const SEARCH: Option<&str> = Some(". There is no tool \"serch\"; the nearest: search");

    #[test]
    fn tools_under_other_names_are_known_where_the_text_shows_them() {
        check("tools.serch()", "TypeError: tools.serch is not a function", SEARCH);
        check("const t = tools; t.serch()", "TypeError: t.serch is not a function", SEARCH);
        check("let t;\nt =\n  tools\nt.serch()", "TypeError: t.serch is not a function", SEARCH);
        check("const { serch } = tools; serch()", "TypeError: serch is not a function", SEARCH);
        check("const { search: s, serch } = tools;", "TypeError: serch is not a function", SEARCH);
    }

    #[test]
    fn functions_of_other_objects_are_not_taken_for_tools() {
        for (program, callee) in [
            ("const t = other; t.serch()", "t.serch"),
            ("const t = tools.search; t.serch()", "t.serch"),
            ("const at = tools; t.serch()", "t.serch"),
            ("const t = toolset; t.serch()", "t.serch"),
            ("const { serch } = other; serch(tools)", "serch"),
            ("const { search } = tools; serch()", "serch"),
            ("const t = tools; t.search()", "t.search"),
        ] {
            check(program, &format!("TypeError: {callee} is not a function"), None);
        }
        check("const t = tools; t[0]()", "TypeError: t[0] is not a function", None);
    }

    #[test]
    fn refused_buffer_is_told_with_its_limit() {
        check("", REFUSED_BUFFER, Some(" (limit 100 bytes)"));
        check("", "RangeError: Array buffer allocation failed again", None);
    }
}
