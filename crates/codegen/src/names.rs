//! Names in generated text: member keys, and what named types are called.

use std::collections::{HashMap, HashSet};

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

/// The names of the types of a block.
#[derive(Default)]
pub(crate) struct TypeNames {
    taken: HashSet<String>,
    /// The last number that was given to a name.
    numbers: HashMap<String, u32>,
}

impl TypeNames {
    /// A name that is not taken yet: `$`, the hint in upper camel case, and a number if need be.
    ///
    /// No keyword and no type of TypeScript's libraries starts with `$`, so no name can collide with
    /// one that a program or the block itself uses.
    pub(crate) fn take(&mut self, hint: Option<&str>) -> String {
        let name = camel_case(hint.unwrap_or_default());
        if self.taken.insert(name.clone()) {
            return name;
        }
        // A name that ends in a digit gets a `_`, so that `$A1` again is not confused with `$A12`.
        let separator = if name.ends_with(|last: char| last.is_ascii_digit()) { "_" } else { "" };
        let number = self.numbers.entry(name.clone()).or_insert(1);
        loop {
            *number += 1;
            let numbered = format!("{name}{separator}{number}");
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

/// Names end after so many characters: a name is there to be shorter than the type.
const MAX_NAME_LENGTH: usize = 80;

fn camel_case(hint: &str) -> String {
    let mut name = String::from("$");
    let mut starts_word = true;
    for character in hint.chars() {
        if name.len() > MAX_NAME_LENGTH {
            break;
        }
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
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_names_are_camel_case_and_never_taken_twice() {
        let mut names = TypeNames::default();
        let hints =
            ["page-id", "PageId", "page id", "", "\u{e9}", "v1", "V1", "V1 2", "pageId2", "page_id", "1"];
        let taken: Vec<String> = hints.iter().map(|hint| names.take(Some(hint))).collect();
        assert_eq!(
            taken,
            [
                "$PageId",
                "$PageId2",
                "$PageId3",
                "$T",
                "$T2",
                "$V1",
                "$V1_2",
                "$V12",
                "$PageId2_2",
                "$PageId4",
                "$1"
            ]
        );
        assert_eq!(names.take(None), "$T3");
    }

    #[test]
    fn type_names_are_cut_and_told_apart_all_the_same() {
        let mut names = TypeNames::default();
        let taken = [names.take(Some(&"x".repeat(10_000))), names.take(Some(&"x".repeat(5_000)))];
        let cut = format!("$X{}", "x".repeat(MAX_NAME_LENGTH - 1));
        assert_eq!(taken, [cut.clone(), format!("{cut}2")]);
    }

    #[test]
    fn keys_are_bare_only_if_they_are_ascii_identifiers() {
        let check = |key: &str, expected: &str| {
            let mut text = String::new();
            write_key(key, &mut text);
            assert_eq!(text, expected);
        };
        check("a_1$", "a_1$");
        check("class", "class");
        check("1a", "\"1a\"");
        check("", "\"\"");
        check("\u{e9}", "\"\u{e9}\"");
        check("a\"b\n", "\"a\\\"b\\n\"");
    }
}
