//! Schemas made to hurt: any depth on a small stack, types that unfold without end, huge lists.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use code_mode_codegen::{SdkTool, UnknownReason, json_schema_to_ts, render, sdk_section};
use code_mode_schema::{Json, Object, json};

use crate::compiler::{self, Source};

/// Far more than any of these takes, far less than what is not linear would.
const MAX_TIME: Duration = Duration::from_secs(20);

/// Renders on a stack that no recursion over the schema would survive; gives the text and how many
/// places are unknown.
#[track_caller]
fn check(make: impl FnOnce() -> Json + Send + 'static) -> (String, Vec<UnknownReason>) {
    let work = move || {
        let schema = make();
        let started = Instant::now();
        let rendered = render(&schema, 0);
        let section =
            sdk_section(&[SdkTool { name: "a", description: "", parameters: &schema, output: &schema }]);
        assert!(started.elapsed() < MAX_TIME, "took {:?}", started.elapsed());
        assert!(section.len() < 64 << 20, "{} bytes", section.len());
        let text = json_schema_to_ts(&schema, 0);
        (text, rendered.unknowns.into_iter().map(|node| node.reason).collect())
    };
    std::thread::Builder::new().stack_size(512 * 1024).spawn(work).unwrap().join().unwrap()
}

/// Wraps a schema again and again.
fn nested(levels: usize, wrap: impl Fn(Json) -> Json) -> Json {
    (0..levels).fold(json!({"type": "string", "minLength": 1}), |inner, _| wrap(inner))
}

#[test]
fn any_depth_is_survived_and_only_the_depths_are_unknown() {
    type Wrap = fn(Json) -> Json;
    let wraps: [(&str, Wrap); 8] = [
        ("properties", |inner| json!({"type": "object", "properties": {"a": inner}})),
        ("items", |inner| json!({"type": "array", "items": inner})),
        ("prefixItems", |inner| json!({"type": "array", "prefixItems": [inner]})),
        ("additionalProperties", |inner| json!({"type": "object", "additionalProperties": inner})),
        ("patternProperties", |inner| json!({"type": "object", "patternProperties": {"^x": inner}})),
        (
            "anyOf",
            |inner| json!({"anyOf": [inner, {"type": "object", "properties": {"b": {"type": "null"}}}]}),
        ),
        ("untyped", |inner| json!({"properties": {"a": inner}})),
        ("nullable", |inner| json!({"nullable": true, "allOf": [{"type": "array", "items": inner}]})),
    ];
    let mut sources = BTreeMap::new();
    for (name, wrap) in wraps {
        let (text, unknowns) = check(move || nested(20_000, wrap));
        assert!(!unknowns.is_empty() && unknowns.len() <= 2, "{name}: {unknowns:?}");
        assert!(unknowns.iter().all(|reason| *reason == UnknownReason::TooDeep), "{name}: {unknowns:?}");
        let mut source = Source::new();
        source.push(&format!("type T = {text}"));
        source.push("const value: T = null as any");
        sources.insert(name.to_owned(), source);
    }
    if let Some(errors) = compiler::compile("depth", &sources) {
        assert_eq!(errors, compiler::Errors::new());
    }
}

#[test]
fn what_only_points_further_may_do_so_to_any_depth() {
    let (text, unknowns) = check(|| nested(20_000, |inner| json!({"allOf": [inner]})));
    assert_eq!((&*text, unknowns.len()), ("string", 0));
    let (text, unknowns) = check(|| nested(20_000, |inner| json!({"oneOf": [inner]})));
    assert_eq!((&*text, unknowns.len()), ("string", 0));
    let (text, unknowns) = check(|| nested(20_000, |inner| json!({"not": inner, "x": 1})));
    assert_eq!((&*text, unknowns.len()), ("JsonValue", 0));
    let (text, unknowns) = check(|| {
        let mut value = json!([]);
        for _ in 0..20_000 {
            value = json!([value]);
        }
        json!({"enum": [value, {"a": 1}], "default": 1, "x": 1})
    });
    assert_eq!((&*text, unknowns.len()), ("JsonValue[] | { a: 1 }", 0));
    let (text, unknowns) = check(|| {
        let link = |place: usize| (format!("d{place}"), json!({"$ref": (format!("#/$defs/d{}", place + 1))}));
        let mut definitions: Vec<(String, Json)> = (0..20_000).map(link).collect();
        definitions.push(("d20000".to_owned(), json!({"type": "string"})));
        json!({"$ref": "#/$defs/d0", "$defs": (definitions.into_iter().collect::<Object>())})
    });
    assert_eq!((&*text, unknowns.len()), ("string", 0));
}

/// `$defs` in which each definition is made from the number of the next.
fn chain(length: usize, make: impl Fn(Json) -> Json) -> Json {
    let mut definitions = Object::builder();
    for place in 0..length {
        definitions.insert(format!("d{place}"), make(json!({"$ref": (format!("#/$defs/d{}", place + 1))})));
    }
    definitions.insert(format!("d{length}"), json!({"type": "string"}));
    json!({"type": "array", "items": {"$ref": "#/$defs/d0"}, "$defs": (definitions.build())})
}

#[test]
fn definitions_used_twice_each_do_not_double_the_text() {
    let wraps: [fn(Json) -> Json; 4] = [
        |next| json!({"type": "object", "properties": {"left": next.clone(), "right": next}}),
        |next| json!({"type": "array", "prefixItems": [next.clone(), next]}),
        |next| json!({"anyOf": [{"type": "array", "items": next.clone()}, {"type": "object", "additionalProperties": next}]}),
        |next| json!({"allOf": [next.clone(), next, {"type": ["string", "array"]}]}),
    ];
    for wrap in wraps {
        let (text, unknowns) = check(move || chain(200, wrap));
        assert!(text.len() < 100_000, "{} bytes", text.len());
        assert_eq!(unknowns, []);
    }
}

#[test]
fn sets_of_schemas_that_multiply_without_end_become_unknown() {
    // Each level's member holds under another subset of the definitions.
    let (text, unknowns) = check(|| {
        let mut definitions = Object::builder();
        for place in 0..40 {
            let next = json!({"$ref": (format!("#/$defs/d{}", (place * 7 + 3) % 40))});
            let other = json!({"$ref": (format!("#/$defs/d{}", (place * 11 + 5) % 40))});
            definitions.insert(
                format!("d{place}"),
                json!({
                    "type": "object",
                    "properties": {"a": {"allOf": [next.clone(), other.clone()]}, "b": {"allOf": [other, {"$ref": "#/$defs/d0"}]}, "c": next}
                }),
            );
        }
        json!({"$ref": "#/$defs/d0", "$defs": (definitions.build())})
    });
    assert!(unknowns.iter().all(|reason| matches!(reason, UnknownReason::TooLarge | UnknownReason::TooDeep)));
    assert!(text.starts_with('$'), "{}", &text[..100]);
}

#[test]
fn long_lists_are_linear() {
    check(
        || json!({"enum": ((0..20_000).map(|n| Json::from(format!("value {n}"))).collect::<Json>()), "x": 1}),
    );
    check(|| json!({"anyOf": ((0..5_000).map(|n| json!({"const": n})).collect::<Json>())}));
    check(|| {
        let branch =
            |n: i32| json!({"type": "object", "properties": {(format!("p{n}")): {"type": "string"}}});
        json!({"allOf": ((0..5_000).map(branch).collect::<Json>())})
    });
    check(|| {
        let members = (0..5_000).map(|n| (format!("p{n}"), json!({"type": "string", "minLength": n})));
        let required = (0..10_000).map(|n| Json::from(format!("p{n}"))).collect::<Json>();
        json!({"type": "object", "properties": (members.collect::<Object>()), "required": required})
    });
    check(|| {
        let members = (0..5_000).map(|n| (format!("p{n}"), json!({"$ref": (format!("#a{n}"))})));
        json!({"type": "object", "properties": (members.collect::<Object>()), "$defs": {"x": {"$anchor": "a7", "type": "number"}}})
    });
    check(
        || json!({"type": "array", "prefixItems": ((0..5_000).map(|_| json!({"type": "string"})).collect::<Json>())}),
    );
}

#[test]
fn lists_that_meet_lists_are_linear() {
    const MANY: usize = 20_000;
    let texts = |range: std::ops::Range<usize>| -> Json {
        range.map(|place| Json::from(format!("text {place}"))).collect()
    };
    let (text, _) =
        check(move || json!({"allOf": [{"enum": (texts(0..MANY))}, {"enum": (texts(MANY - 1..2 * MANY))}]}));
    assert_eq!(text, format!("\"text {}\"", MANY - 1));
    check(move || {
        let choice = |range| json!({"anyOf": [{"enum": (texts(range))}, {"type": "null"}]});
        json!({"allOf": [(choice(0..MANY)), (choice(MANY - 1..2 * MANY))]})
    });
    check(move || {
        let members = (0..MANY).map(|place| {
            let own = json!({"type": "object", "properties": {(format!("own{place}")): {"type": "null"}}});
            (format!("member{place}"), own)
        });
        json!({"type": "object", "properties": (members.collect::<Object>()), "additionalProperties": {"type": "string"}})
    });
    check(|| {
        let branch = |place: usize| {
            let required = (0..500).map(|name| Json::from(format!("name {place} {name}"))).collect::<Json>();
            json!({"type": "object", "required": required})
        };
        json!({"allOf": ((0..500).map(branch).collect::<Json>())})
    });
}

#[test]
fn patterns_beyond_what_a_compiler_compares_are_widened() {
    let (text, unknowns) = check(|| {
        let of = |name: fn(usize) -> String, schema: fn(usize) -> Json| -> Object {
            (0..3_000).map(|place| (name(place), schema(place))).collect()
        };
        let members = of(|place| format!("p{place}"), |_| json!({"type": "number"}));
        let patterns = of(|place| format!("^p{place}"), |place| json!({"enum": [place]}));
        json!({"type": "object", "properties": members, "patternProperties": patterns})
    });
    assert_eq!(unknowns, []);
    let mut source = Source::new();
    source.push(&format!("type T = {text}"));
    source.push("const value: T = {p0: 0}");
    if let Some(errors) = compiler::compile("patterns", &BTreeMap::from([("many".to_owned(), source)])) {
        assert_eq!(errors, compiler::Errors::new());
    }
}

#[test]
fn definition_reached_by_many_ways_is_no_cycle() {
    let (text, unknowns) = check(|| {
        let twice = |target: String| json!({"allOf": [{"$ref": (target.clone())}, {"$ref": target}]});
        let definitions =
            (0..2_000).map(|place| (format!("d{place}"), twice(format!("#/$defs/d{}", place + 1))));
        let last = ("d2000".to_owned(), json!({"description": "Says nothing."}));
        json!({"$ref": "#/$defs/d0", "$defs": (definitions.chain([last]).collect::<Object>())})
    });
    assert_eq!((&*text, &*unknowns), ("JsonValue", &[][..]));
}

#[test]
fn unions_that_all_name_each_other_are_linear() {
    let (text, unknowns) = check(|| {
        let mut definitions = Object::builder();
        for place in 0..100 {
            let others = (0..100).map(|other| json!({"$ref": (format!("#/$defs/d{other}"))}));
            let branches: Json = others.chain([json!({"const": place})]).collect();
            definitions.insert(format!("d{place}"), json!({"anyOf": branches}));
        }
        json!({"$ref": "#/$defs/d0", "$defs": (definitions.build())})
    });
    assert_eq!(unknowns, []);
    let mut expected = String::from("$D0\n\ntype $D0 = ");
    for place in 0..100 {
        write!(expected, "{}{place}", if place == 0 { "" } else { " | " }).unwrap();
    }
    let mut found: Vec<&str> = text.strip_prefix("$D0\n\ntype $D0 = ").unwrap().split(" | ").collect();
    found.sort_by_key(|number| number.parse::<u32>().unwrap());
    assert_eq!(format!("$D0\n\ntype $D0 = {}", found.join(" | ")), expected);
}
