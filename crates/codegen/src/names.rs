//! Names in generated text: member keys, and what named types are called.

use std::collections::HashSet;

use code_mode_schema::write_json_string;

use crate::comments::make_literals_safe;

/// Writes a member key: bare if it is an ASCII identifier, else quoted as JSON.
///
/// Reserved words stay bare, as TypeScript allows them as member names. Source: contract 5.1.
pub(crate) fn write_key(key: &str, out: &mut String) {
    if is_identifier(key) {
        out.push_str(key);
    } else {
        write_json_string(key, out);
    }
}

/// The same, with what could end a fence or start a template escaped (decision 31).
pub(crate) fn write_safe_key(key: &str, out: &mut String) {
    let start = out.len();
    write_key(key, out);
    if out.as_bytes()[start] == b'"' {
        make_literals_safe(start, out);
    }
}

/// Whether a key may stand bare: `[A-Za-z_$][A-Za-z0-9_$]*`.
pub(crate) fn is_identifier(key: &str) -> bool {
    let is_start = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$';
    match key.as_bytes() {
        [first, rest @ ..] => {
            is_start(*first) && rest.iter().all(|&byte| is_start(byte) || byte.is_ascii_digit())
        }
        [] => false,
    }
}

/// The name of a type: `$`, the hint in upper camel case, and a number if that is taken.
///
/// No keyword and no type of TypeScript's libraries starts with `$`, so no name can collide with
/// one that a program or the block itself uses.
pub(crate) fn type_name(hint: Option<&str>, taken: &HashSet<String>) -> String {
    let mut name = String::from("$");
    let mut starts_word = true;
    for character in hint.unwrap_or_default().chars() {
        if !character.is_ascii_alphanumeric() {
            starts_word = true;
        } else if starts_word {
            name.push(character.to_ascii_uppercase());
            starts_word = false;
        } else {
            name.push(character);
        }
    }
    if name.len() == 1 {
        name.push('T');
    }
    if !taken.contains(&name) {
        return name;
    }
    // A name that ends in a digit gets a `_`, so that `$A1` twice is not the first `$A11`.
    let separator = if name.ends_with(|last: char| last.is_ascii_digit()) { "_" } else { "" };
    let numbered = (2..).map(|number: u32| format!("{name}{separator}{number}"));
    numbered.into_iter().find(|name| !taken.contains(name)).unwrap_or(name)
}
