//! The `json!` literal.

use std::sync::Arc;

use serde::Serialize;

use super::{Json, to_json};

/// A [`Json`](crate::Json) written as a JSON literal.
///
/// Values are literals, nested arrays and objects, `null`, or any expression of a type that
/// implements `Serialize`; a [`Json`](crate::Json) goes in as it is. Keys are string literals,
/// names of variables, or expressions in parentheses.
///
/// ```
/// use code_mode_schema::json;
///
/// let id = 7;
/// let key = "when";
/// let value = json!({
///     "id": id,
///     (format!("{key}_at")): null,
///     "nested": [1, 2.5, {"ok": true}],
/// });
/// assert_eq!(value.to_text(), r#"{"id":7,"when_at":null,"nested":[1,2.5,{"ok":true}]}"#);
/// ```
///
/// # Panics
///
/// If an expression is not lossless JSON, such as `f64::NAN`. Where values come from outside, use
/// [`to_json`](crate::to_json).
#[macro_export]
macro_rules! json {
    (null) => { $crate::Json::Null };
    ([ $($items:tt)* ]) => {{
        #[allow(unused_mut, clippy::vec_init_then_push, reason = "the literal may be empty")]
        let items = {
            let mut items = ::std::vec::Vec::<$crate::Json>::new();
            $crate::json!(@items items $($items)*);
            items
        };
        $crate::Json::from(items)
    }};
    ({ $($members:tt)* }) => {{
        #[allow(unused_mut, reason = "the literal may be empty")]
        let members = {
            let mut members = $crate::Object::builder();
            $crate::json!(@members members $($members)*);
            members
        };
        $crate::Json::from(members.build())
    }};

    (@items $out:ident) => {};
    (@items $out:ident null $(, $($rest:tt)*)?) => {
        $out.push($crate::Json::Null);
        $crate::json!(@items $out $($($rest)*)?);
    };
    (@items $out:ident [ $($inner:tt)* ] $(, $($rest:tt)*)?) => {
        $out.push($crate::json!([ $($inner)* ]));
        $crate::json!(@items $out $($($rest)*)?);
    };
    (@items $out:ident { $($inner:tt)* } $(, $($rest:tt)*)?) => {
        $out.push($crate::json!({ $($inner)* }));
        $crate::json!(@items $out $($($rest)*)?);
    };
    (@items $out:ident $value:expr $(, $($rest:tt)*)?) => {
        $out.push($crate::json!($value));
        $crate::json!(@items $out $($($rest)*)?);
    };

    (@members $out:ident) => {};
    (@members $out:ident $key:tt : null $(, $($rest:tt)*)?) => {
        $out.insert($crate::member_key(&$key), $crate::Json::Null);
        $crate::json!(@members $out $($($rest)*)?);
    };
    (@members $out:ident $key:tt : [ $($inner:tt)* ] $(, $($rest:tt)*)?) => {
        $out.insert($crate::member_key(&$key), $crate::json!([ $($inner)* ]));
        $crate::json!(@members $out $($($rest)*)?);
    };
    (@members $out:ident $key:tt : { $($inner:tt)* } $(, $($rest:tt)*)?) => {
        $out.insert($crate::member_key(&$key), $crate::json!({ $($inner)* }));
        $crate::json!(@members $out $($($rest)*)?);
    };
    (@members $out:ident $key:tt : $value:expr $(, $($rest:tt)*)?) => {
        $out.insert($crate::member_key(&$key), $crate::json!($value));
        $crate::json!(@members $out $($($rest)*)?);
    };

    ($value:expr) => { $crate::member_value(&$value) };
}

/// A key of a [`json!`](crate::json!) literal.
#[doc(hidden)]
pub fn member_key<K: AsRef<str> + ?Sized>(key: &K) -> Arc<str> {
    key.as_ref().into()
}

/// An expression in a [`json!`](crate::json!) literal.
#[doc(hidden)]
#[track_caller]
pub fn member_value<T: Serialize + ?Sized>(value: &T) -> Json {
    match to_json(value) {
        Ok(value) => value,
        Err(error) => panic!("json! needs lossless JSON: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use crate::Json;

    #[test]
    fn literals_nest_and_take_expressions() {
        let shared = json!([1, [2]]);
        let name = String::from("n");
        let value = json!({
            "a": shared,
            name: [1 + 1, "x".len(), [3].len(), -4, null],
            (format!("{name}2")): {"deep": [{}, []]},
            "none": None::<u8>,
        });
        assert_eq!(value.to_text(), r#"{"a":[1,[2]],"n":[2,1,1,-4,null],"n2":{"deep":[{},[]]},"none":null}"#);
        assert_eq!(json!([]), Json::from(Vec::new()));
        assert_eq!(json!({}).to_text(), "{}");
        assert_eq!(json!(true), Json::Bool(true));
    }

    #[test]
    #[should_panic(expected = "value is NaN")]
    fn a_lossy_expression_panics() {
        let _ = json!([f64::NAN]);
    }
}
