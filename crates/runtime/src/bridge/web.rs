//! What stands behind the globals of the web: URLs, encodings, Base64. All by libraries.

use std::cell::RefCell;
use std::collections::HashMap;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use code_mode_schema::Json;
use encoding_rs::{Decoder, DecoderResult, Encoding};
use url::{Url, form_urlencoded, quirks};

use super::ops::Web;

/// Flags of `decode`, as in `js/07_web_text.js`.
const FATAL: u32 = 1;
const KEEP_BOM: u32 = 2;
const MORE_FOLLOWS: u32 = 4;

/// What a run keeps between two calls. Lives on the isolate's thread.
#[derive(Default)]
pub(crate) struct WebState {
    /// The texts that are decoded piece by piece. JavaScript bounds their number.
    streams: RefCell<HashMap<u32, Decoder>>,
}

impl Web for WebState {
    fn parse_url(&self, url: &str, base: Option<&str>) -> Option<String> {
        let base = match base {
            Some(base) => Some(Url::parse(base).ok()?),
            None => None,
        };
        Url::options().base_url(base.as_ref()).parse(url).ok().map(|url| lines(&url))
    }

    fn set_url(&self, href: &str, part: u32, value: &str) -> Option<String> {
        let mut url = Url::parse(href).ok()?;
        match part {
            0 => quirks::set_href(&mut url, value).ok()?,
            2 => quirks::set_protocol(&mut url, value).ok()?,
            3 => quirks::set_username(&mut url, value).ok()?,
            4 => quirks::set_password(&mut url, value).ok()?,
            5 => quirks::set_host(&mut url, value).ok()?,
            6 => quirks::set_hostname(&mut url, value).ok()?,
            7 => quirks::set_port(&mut url, value).ok()?,
            8 => quirks::set_pathname(&mut url, value),
            9 => quirks::set_search(&mut url, value),
            10 => quirks::set_hash(&mut url, value),
            _ => return None,
        }
        Some(lines(&url))
    }

    fn parse_query(&self, query: &str) -> String {
        let pairs = form_urlencoded::parse(query.as_bytes());
        let texts: Json =
            pairs.flat_map(|(name, value)| [name, value]).map(|text| Json::from(&*text)).collect();
        texts.to_text()
    }

    fn encode_query(&self, text: &str) -> String {
        form_urlencoded::byte_serialize(text.as_bytes()).collect()
    }

    fn encoding(&self, label: &str) -> Option<String> {
        let encoding = Encoding::for_label_no_replacement(label.as_bytes())?;
        Some(encoding.name().to_ascii_lowercase())
    }

    fn decode(&self, stream: u32, encoding: &str, flags: u32, bytes: &[u8]) -> Option<String> {
        let encoding = Encoding::for_label(encoding.as_bytes())?;
        let new_decoder = || {
            if flags & KEEP_BOM == 0 {
                encoding.new_decoder_with_bom_removal()
            } else {
                encoding.new_decoder_without_bom_handling()
            }
        };
        let mut streams = self.streams.borrow_mut();
        let mut decoder = streams.remove(&stream).unwrap_or_else(new_decoder);
        let is_last = flags & MORE_FOLLOWS == 0;
        let text = decode_all(&mut decoder, bytes, is_last, flags & FATAL != 0)?;
        if !is_last {
            streams.insert(stream, decoder);
        }
        Some(text)
    }

    fn atob(&self, text: &str) -> Option<String> {
        let mut digits: Vec<u8> =
            text.bytes().filter(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)).collect();
        // The standard's forgiving decode: padding only where it completes a group of four.
        if digits.len().is_multiple_of(4) {
            for _ in 0..2 {
                digits.pop_if(|last| *last == b'=');
            }
        }
        let bytes = FORGIVING.decode(digits).ok()?;
        Some(bytes.into_iter().map(char::from).collect())
    }

    fn btoa(&self, text: &str) -> Option<String> {
        let bytes: Option<Vec<u8>> = text.chars().map(|character| u8::try_from(character).ok()).collect();
        Some(base64::engine::general_purpose::STANDARD.encode(bytes?))
    }
}

const FORGIVING: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireNone)
        .with_decode_allow_trailing_bits(true),
);

/// The parts of a URL, one a line: none can hold a line feed.
fn lines(url: &Url) -> String {
    let origin = quirks::origin(url);
    let parts = [
        quirks::href(url),
        &origin,
        quirks::protocol(url),
        quirks::username(url),
        quirks::password(url),
        quirks::host(url),
        quirks::hostname(url),
        quirks::port(url),
        quirks::pathname(url),
        quirks::search(url),
        quirks::hash(url),
    ];
    parts.join("\n")
}

/// All of the bytes as text; None for invalid ones if that is fatal, else they become U+FFFD.
fn decode_all(decoder: &mut Decoder, bytes: &[u8], is_last: bool, is_fatal: bool) -> Option<String> {
    if is_fatal {
        let most = decoder.max_utf8_buffer_length_without_replacement(bytes.len())?;
        let mut text = String::with_capacity(most);
        let (result, _) = decoder.decode_to_string_without_replacement(bytes, &mut text, is_last);
        (result == DecoderResult::InputEmpty).then_some(text)
    } else {
        let mut text = String::with_capacity(decoder.max_utf8_buffer_length(bytes.len())?);
        let _ = decoder.decode_to_string(bytes, &mut text, is_last);
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_atob(text: &str, expected: Option<&str>) {
        assert_eq!(WebState::default().atob(text).as_deref(), expected, "{text:?}");
    }

    #[test]
    fn base64_is_decoded_as_forgivingly_as_the_standard_has_it() {
        check_atob("", Some(""));
        check_atob("YQ==", Some("a"));
        check_atob("YQ", Some("a"));
        check_atob(" Y Q\n=\t=", Some("a"));
        check_atob("YR==", Some("a"));
        check_atob("YWI=", Some("ab"));
        check_atob("/+8=", Some("\u{ff}\u{ef}"));
        for invalid in ["Y", "YQ=", "YQ===", "=", "====", "Y=Q=", "YWI=YQ==", "a-_b", "é", "YQ=a"] {
            check_atob(invalid, None);
        }
    }

    #[test]
    fn a_text_that_comes_in_pieces_is_decoded_like_a_whole_one() {
        let text = "\u{feff}aé€𝄞z";
        for encoding in ["utf-8", "utf-16le"] {
            let bytes: Vec<u8> = match encoding {
                "utf-8" => text.bytes().collect(),
                _ => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            };
            for flags in [0, FATAL, KEEP_BOM, FATAL | KEEP_BOM] {
                let web = WebState::default();
                let whole = web.decode(0, encoding, flags, &bytes).unwrap();
                assert_eq!(whole, text.trim_start_matches(|c| c == '\u{feff}' && flags & KEEP_BOM == 0));
                let mut pieces = String::new();
                for byte in &bytes {
                    pieces += &web.decode(1, encoding, flags | MORE_FOLLOWS, &[*byte]).unwrap();
                }
                pieces += &web.decode(1, encoding, flags, &[]).unwrap();
                assert_eq!(pieces, whole, "{encoding} {flags}");
                assert!(web.streams.borrow().is_empty());
            }
        }
    }

    #[test]
    fn invalid_bytes_are_replaced_or_fatal() {
        let web = WebState::default();
        assert_eq!(web.decode(0, "utf-8", 0, b"a\xffb\xe2\x82").as_deref(), Some("a\u{fffd}b\u{fffd}"));
        assert_eq!(web.decode(0, "utf-8", FATAL, b"a\xff"), None);
        assert_eq!(web.decode(1, "utf-8", FATAL | MORE_FOLLOWS, b"\xe2\x82").as_deref(), Some(""));
        assert_eq!(web.decode(1, "utf-8", FATAL, b""), None);
        assert!(web.streams.borrow().is_empty());
    }
}
