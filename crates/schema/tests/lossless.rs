//! Lossless JSON: what Rust values become, what is refused and where, and the way back
//! (contract 3.4, decisions 16 and 17).

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::sync::Arc;

use code_mode_schema::{
    FromJsonError, Json, LosslessError, Lossy, MAX_SAFE_INTEGER, MAX_SERDE_DEPTH, from_json, json, to_json,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

fn check<T: Serialize + ?Sized>(value: &T, expected: &str) {
    assert_eq!(to_json(value).map(|value| value.to_text()), Ok(expected.to_owned()));
}

fn check_refused<T: Serialize + ?Sized>(value: &T, expected: &str) {
    let error = to_json(value).unwrap_err();
    assert_eq!(error.with_root("value").to_string(), expected);
}

fn check_back<T: DeserializeOwned + PartialEq + Debug>(text: &str, expected: Result<T, &str>) {
    let read = from_json::<T>(&Json::parse(text).unwrap());
    assert_eq!(read.map_err(|error| error.to_string()), expected.map_err(str::to_owned), "{text}");
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Unit;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Meters(f64);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Pair(u8, String);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Dot,
    Circle(f64),
    Line(i32, i32),
    Rect { w: f64, h: f64 },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Server {
    host: String,
    port: Option<u16>,
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Carrier {
    name: String,
    payload: Json,
    #[serde(flatten)]
    rest: BTreeMap<String, Json>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Loose {
    Number(f64),
    Any(Json),
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
enum Tagged {
    Text { text: String },
    Data { data: Json },
}

#[test]
fn rust_values_follow_serdes_json_conventions() {
    check(&(), "null");
    check(&Unit, "null");
    check(&true, "true");
    check(&'é', "\"é\"");
    check("text", "\"text\"");
    check(&1.5_f32, "1.5");
    check(&0.1_f32, "0.1");
    check(&None::<u8>, "null");
    check(&Some(3_u8), "3");
    check(&Meters(2.0), "2");
    check(&Pair(1, "a".into()), "[1,\"a\"]");
    check(&[1, 2, 3], "[1,2,3]");
    check(&serde_json::json!({"b": [null, 1.5], "a": -1}), r#"{"b":[null,1.5],"a":-1}"#);
    check(&Shape::Dot, "\"Dot\"");
    check(&Shape::Circle(1.5), r#"{"Circle":1.5}"#);
    check(&Shape::Line(-1, 2), r#"{"Line":[-1,2]}"#);
    check(&Shape::Rect { w: 1.0, h: 2.0 }, r#"{"Rect":{"w":1,"h":2}}"#);
    check(&BTreeMap::from([("2", 1), ("10", 2), ("a", 3)]), r#"{"2":1,"10":2,"a":3}"#);
    check(&BTreeMap::from([('x', 1)]), r#"{"x":1}"#);
}

#[test]
fn whole_values_are_taken_as_they_are() {
    let payload = json!({"deep": [[[1]]], "s": "x"});
    let carrier = Carrier {
        name: "n".into(),
        payload: payload.clone(),
        rest: BTreeMap::from([("more".into(), payload.clone())]),
    };
    let value = to_json(&carrier).unwrap();
    for key in ["payload", "more"] {
        let (Some(Json::Object(inside)), Json::Object(given)) = (value.get(key), &payload) else {
            panic!("{value}");
        };
        assert!(inside.is_same(given), "{key} was copied");
    }
    assert_eq!(to_json(&payload), Ok(payload.clone()));
    assert_eq!(to_json(&vec![Some(payload.clone())]), Ok(json!([payload])));
    let keyed = to_json(&HashMap::from([(Key(json!("k")), 1)])).unwrap();
    assert_eq!(keyed, json!({"k": 1}));
}

#[derive(PartialEq, Eq, Hash, Serialize)]
struct Key(Json);

#[test]
fn numbers_that_json_cannot_hold_are_refused_with_their_path() {
    check_refused(&f64::NAN, "value is NaN");
    check_refused(&[0.0, f64::INFINITY], "value[1] is Infinity");
    check_refused(&BTreeMap::from([("a", [f64::NEG_INFINITY])]), "value.a[0] is -Infinity");
    check_refused(&Meters(-0.0), "value is -0");
    check_refused(&f32::NAN, "value is NaN");
    check_refused(&Shape::Circle(f64::NAN), "value.Circle is NaN");
    check_refused(&Shape::Rect { w: 1.0, h: -0.0 }, "value.Rect.h is -0");
    check_refused(&(1, (2, f64::NAN)), "value[1][1] is NaN");
}

#[test]
fn integers_beyond_the_safe_range_are_refused_never_rounded() {
    check(&MAX_SAFE_INTEGER, "9007199254740991");
    check(&-MAX_SAFE_INTEGER, "-9007199254740991");
    check_refused(&(1_u64 << 53), "value is 9007199254740992, an integer beyond 2^53 - 1");
    check_refused(&[i64::MIN], "value[0] is -9223372036854775808, an integer beyond 2^53 - 1");
    check_refused(&u128::MAX, &format!("value is {}, an integer beyond 2^53 - 1", u128::MAX));
    check_refused(&i128::MIN, &format!("value is {}, an integer beyond 2^53 - 1", i128::MIN));
    check_refused(
        &serde_json::json!({"id": 9_007_199_254_740_993_u64}),
        "value.id is 9007199254740993, an integer beyond 2^53 - 1",
    );
}

#[test]
fn keys_are_strings() {
    check_refused(&BTreeMap::from([(1, 2)]), "value has a key that is not a string");
    check_refused(&[BTreeMap::from([(true, 2)])], "value[0] has a key that is not a string");
    check_refused(&BTreeMap::from([((), 2)]), "value has a key that is not a string");
    check_refused(&BTreeMap::from([(Some("a"), 2)]), "value has a key that is not a string");
    check_refused(&HashMap::from([(Key(json!(1)), 1)]), "value has a key that is not a string");
}

#[test]
fn a_failing_serializer_is_named_with_its_path() {
    struct Failing;
    impl Serialize for Failing {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("no luck"))
        }
    }
    check_refused(&[Some(Failing)], "value[0] could not be serialized: no luck");
}

#[test]
fn types_nest_to_a_limit_and_not_to_a_stack_overflow() {
    #[derive(Serialize)]
    struct Nest(Vec<Nest>);
    let nested = |levels: usize| (1..levels).fold(Nest(vec![]), |inner, _| Nest(vec![inner]));
    assert!(to_json(&nested(MAX_SERDE_DEPTH)).is_ok());
    let error = to_json(&nested(MAX_SERDE_DEPTH + 1)).unwrap_err();
    assert_eq!(error.reason, Lossy::TooDeep { limit: MAX_SERDE_DEPTH });
    assert_eq!(error.path, "[0]".repeat(MAX_SERDE_DEPTH));
}

#[test]
fn values_become_rust_values_again() {
    check_back("null", Ok(()));
    check_back("null", Ok(Unit));
    check_back("1", Ok(1.0_f64));
    check_back("1.0", Ok(1_u8));
    check_back("0.1", Ok(0.1_f32));
    check_back("\"é\"", Ok('é'));
    check_back("[1,\"a\"]", Ok(Pair(1, "a".into())));
    check_back("\"Dot\"", Ok(Shape::Dot));
    check_back(r#"{"Dot":null}"#, Ok(Shape::Dot));
    check_back(r#"{"Circle":1.5}"#, Ok(Shape::Circle(1.5)));
    check_back(r#"{"Line":[1,2]}"#, Ok(Shape::Line(1, 2)));
    check_back(r#"{"Rect":{"h":2,"w":1}}"#, Ok(Shape::Rect { w: 1.0, h: 2.0 }));
    check_back(
        r#"{"host":"a","port":null,"extra":[[]]}"#,
        Ok(Server { host: "a".into(), port: None, tags: vec![] }),
    );
    check_back("[null,5]", Ok(vec![None, Some(5)]));
    check_back("1.5", Ok(Loose::Number(1.5)));
    check_back(r#"{"a":[1]}"#, Ok(Loose::Any(json!({"a": [1]}))));
    check_back(r#"{"kind":"Data","data":{"x":[null]}}"#, Ok(Tagged::Data { data: json!({"x": [null]}) }));
    check_back("[1,2]", Ok(serde_json::json!([1, 2])));
    check_back(r#"{"b":1,"a":2}"#, Ok(BTreeMap::from([("a".to_owned(), 2), ("b".to_owned(), 1)])));
    check_back("\"s\"", Ok(Arc::<str>::from("s")));
}

#[test]
fn whole_values_arrive_whole() {
    let value = json!({"name": "n", "payload": {"deep": [1]}, "more": [2]});
    let carrier: Carrier = from_json(&value).unwrap();
    let (Json::Object(inside), Some(Json::Object(given))) = (&carrier.payload, value.get("payload")) else {
        panic!("{value}");
    };
    assert!(inside.is_same(given), "the payload was copied");
    assert_eq!(carrier.rest, BTreeMap::from([("more".into(), json!([2]))]));
    assert_eq!(from_json::<Json>(&value).unwrap(), value);
    assert_eq!(from_json::<Option<Json>>(&json!(null)).unwrap(), None);
}

#[test]
fn what_does_not_fit_is_named_with_its_path() {
    check_back::<Vec<Server>>(
        r#"[{"host":"a"},{"host":1}]"#,
        Err("[1].host: invalid type: integer `1`, expected a string"),
    );
    check_back::<Server>(r#"{"port":1}"#, Err("missing field `host`"));
    check_back::<Server>(
        r#"{"host":"a","port":65536}"#,
        Err("port: invalid value: integer `65536`, expected u16"),
    );
    check_back::<u8>("1.5", Err("invalid type: floating point `1.5`, expected u8"));
    check_back::<(u8, u8)>("[1,2,3]", Err("invalid length 3, expected an array of 2 elements"));
    check_back::<(u8, u8)>("[1]", Err("invalid length 1, expected a tuple of size 2"));
    check_back::<Shape>(
        "\"Blob\"",
        Err("unknown variant `Blob`, expected one of `Dot`, `Circle`, `Line`, `Rect`"),
    );
    check_back::<Shape>(r#"{"Circle":"x"}"#, Err("Circle: invalid type: string \"x\", expected f64"));
    check_back::<Shape>(
        "{}",
        Err("invalid value: map, expected an object with the variant's name as its only key"),
    );
    check_back::<Shape>("7", Err("invalid type: integer `7`, expected a string or an object"));
    check_back::<Shape>("\"Circle\"", Err("Circle: invalid type: unit variant, expected newtype variant"));
}

#[test]
fn integers_that_may_have_been_rounded_are_not_taken_for_integers() {
    check_back("9007199254740991", Ok(MAX_SAFE_INTEGER));
    check_back::<u64>("9007199254740993", Err("value is 9007199254740992, an integer beyond 2^53 - 1"));
    check_back("9007199254740993", Ok(9_007_199_254_740_992.0_f64));
}

#[test]
fn other_formats_read_and_write_values() {
    let value = json!({"b": [1, -2, 2.5, "x", null, true], "a": {"1": {}}});
    assert_eq!(serde_json::to_string(&value).unwrap(), value.to_text());
    assert_eq!(serde_json::from_str::<Json>(&value.to_text()).unwrap(), value);
    let lossy = serde_json::from_str::<Json>("[18446744073709551615]").unwrap_err();
    assert!(lossy.to_string().contains("an integer beyond 2^53 - 1"), "{lossy}");
    let deep = (0..=MAX_SERDE_DEPTH).fold(json!(null), |inner, _| json!([inner]));
    let error = serde_json::to_string(&deep).unwrap_err();
    assert_eq!(error.to_string(), "is nested deeper than 128 levels");
}

#[test]
fn errors_can_be_made_and_named_elsewhere() {
    let error = LosslessError::new("items[3]", Lossy::Other("is undefined".into()));
    assert_eq!(error.with_root("args").to_string(), "args.items[3] is undefined");
    let error: FromJsonError = from_json::<u8>(&json!("x")).unwrap_err();
    assert_eq!(
        (error.path.as_str(), error.message.as_str()),
        ("", "invalid type: string \"x\", expected u8")
    );
}

#[test]
fn plain_conversions_are_exact_or_refused() {
    assert_eq!(Json::from(7), json!(7));
    assert_eq!(Json::try_from(7_usize), Ok(json!(7)));
    assert_eq!(
        Json::try_from(u64::MAX).unwrap_err().to_string(),
        "value is 18446744073709551615, an integer beyond 2^53 - 1"
    );
    assert_eq!(Json::try_from(f64::NAN).unwrap_err().reason, Lossy::NotANumber);
    assert_eq!(Json::from(None::<&str>), json!(null));
    assert_eq!(Json::from(vec![Json::from("a")]), json!(["a"]));
    assert!(json!("a") == "a" && json!(1) != "1");
}
