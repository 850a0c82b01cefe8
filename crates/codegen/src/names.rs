//! Names in generated text: member keys, bare or quoted.

use code_mode_schema::write_json_string;

/// Writes a member key: bare if it is an ASCII identifier, else quoted as JSON.
///
/// Reserved words stay bare, as TypeScript allows them as member names. Source: contract 5.1.
pub(crate) fn write_key(key: &str, out: &mut String) {
    if is_identifier(key) {
        out.push_str(key);
    } else {
        write_literal_string(key, out);
    }
}

/// Writes a string literal: JSON's own form.
pub(crate) fn write_literal_string(text: &str, out: &mut String) {
    write_json_string(text, out);
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
