//! Conversion to and from `serde_json::Value`, without recursion on our side.

use std::sync::Arc;

use serde_json::Value;

use super::{Json, LosslessError, Lossy, MAX_SERDE_DEPTH, Number, Object, Path};

/// Takes the value over if nothing is lost: integers beyond ±(2^53 − 1) and `-0.0` are refused
/// with their path.
impl TryFrom<Value> for Json {
    type Error = LosslessError;

    fn try_from(value: Value) -> Result<Json, LosslessError> {
        Json::try_from(&value)
    }
}

/// Copies the value if nothing is lost, see the conversion of an owned one.
impl TryFrom<&Value> for Json {
    type Error = LosslessError;

    fn try_from(value: &Value) -> Result<Json, LosslessError> {
        let mut open: Vec<Reading<'_>> = Vec::new();
        let mut current = value;
        loop {
            let mut done = match current {
                Value::Null => Json::Null,
                Value::Bool(value) => Json::Bool(*value),
                Value::String(text) => Json::from(text.as_str()),
                Value::Number(number) => match exact(number) {
                    Ok(number) => Json::Number(number),
                    Err(reason) => return Err(LosslessError::new(path(&open), reason)),
                },
                Value::Array(array) => {
                    let mut rest = array.iter();
                    if let Some(first) = rest.next() {
                        open.push(Reading::Array(rest, Vec::with_capacity(array.len())));
                        current = first;
                        continue;
                    }
                    Json::from(Vec::new())
                }
                Value::Object(object) => {
                    let mut rest = object.iter();
                    if let Some((key, first)) = rest.next() {
                        open.push(Reading::Object(rest, key, Vec::with_capacity(object.len())));
                        current = first;
                        continue;
                    }
                    Json::Object(Object::new())
                }
            };
            current = loop {
                match open.last_mut() {
                    None => return Ok(done),
                    Some(Reading::Array(rest, items)) => {
                        items.push(done);
                        if let Some(next) = rest.next() {
                            break next;
                        }
                        done = Json::from(std::mem::take(items));
                    }
                    Some(Reading::Object(rest, key, members)) => {
                        members.push((Arc::from(*key), done));
                        if let Some((next_key, next)) = rest.next() {
                            *key = next_key;
                            break next;
                        }
                        done = Json::Object(std::mem::take(members).into());
                    }
                }
                open.pop();
            };
        }
    }
}

/// A container that is being read: what is left of it and what it has become so far.
enum Reading<'a> {
    Array(std::slice::Iter<'a, Value>, Vec<Json>),
    Object(serde_json::map::Iter<'a>, &'a str, Vec<(Arc<str>, Json)>),
}

fn exact(number: &serde_json::Number) -> Result<Number, Lossy> {
    if let Some(natural) = number.as_u64() {
        natural.try_into()
    } else if let Some(integer) = number.as_i64() {
        integer.try_into()
    } else {
        number.as_f64().unwrap_or(f64::NAN).try_into()
    }
}

fn path(open: &[Reading<'_>]) -> Path {
    let mut path = Path::new();
    for container in open {
        match container {
            Reading::Array(_, items) => path.push_index(items.len()),
            Reading::Object(_, key, _) => path.push_key(key),
        }
    }
    path
}

impl Json {
    /// The value as a `serde_json::Value`; numbers that are safe integers become integers.
    ///
    /// # Errors
    ///
    /// [`Lossy::TooDeep`] beyond [`MAX_SERDE_DEPTH`] levels, because `serde_json` frees and
    /// prints its values recursively.
    pub fn to_serde_json(&self) -> Result<Value, LosslessError> {
        serde_json::to_value(self)
            .map_err(|_| LosslessError::new("", Lossy::TooDeep { limit: MAX_SERDE_DEPTH }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn values_cross_in_both_directions() {
        let theirs = serde_json::json!({"b": [1, 2.5, {"c": null}], "a": {}, "d": [], "e": "x"});
        let ours = json!({"b": [1, 2.5, {"c": null}], "a": {}, "d": [], "e": "x"});
        let converted = Json::try_from(theirs.clone()).unwrap();
        assert_eq!(converted.to_text(), ours.to_text());
        assert_eq!(ours.to_serde_json().unwrap(), theirs);
        assert_eq!(Json::try_from(serde_json::json!(7)).unwrap(), json!(7));
    }

    #[test]
    fn lossy_numbers_are_refused_with_their_path() {
        for (theirs, expected) in [
            (
                serde_json::json!({"a": [0, u64::MAX]}),
                "a[1] is 18446744073709551615, an integer beyond 2^53 - 1",
            ),
            (serde_json::json!([{}, [-0.0]]), "[1][0] is -0"),
            (serde_json::json!(i64::MIN), "value is -9223372036854775808, an integer beyond 2^53 - 1"),
        ] {
            assert_eq!(Json::try_from(theirs).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn too_deep_values_do_not_become_recursive_ones() {
        let deep = |levels| (0..levels).fold(Json::Null, |inner, _| Json::from(vec![inner]));
        assert!(deep(MAX_SERDE_DEPTH).to_serde_json().is_ok());
        assert!(deep(MAX_SERDE_DEPTH + 1).to_serde_json().is_err());
    }
}
