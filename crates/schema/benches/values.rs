//! What values and schemas cost: snapshot, text, parsing, validation.
//!
//! Each question stands beside its floor, the same through `serde_json` or, for validation, through
//! a recursive walk of the `jsonschema` crate. Budgets: a typical argument object validates in 2 µs
//! in the subset; snapshot and text of 50 000 small objects take 15 ms each.

use std::hint::black_box;

use code_mode_schema::{Json, ParameterSchemaSpec, Schema, ValueSchemaSpec, json, to_json};
use criterion::{BatchSize, Criterion, criterion_main};
use serde::{Deserialize, Serialize};

#[derive(Clone, Serialize, Deserialize)]
struct Row {
    id: u32,
    name: String,
    score: f64,
    active: bool,
}

fn rows() -> Vec<Row> {
    (0..50_000)
        .map(|n| Row { id: n, name: format!("row {n}"), score: f64::from(n) * 0.37, active: n % 2 == 0 })
        .collect()
}

fn values(criterion: &mut Criterion) {
    let rows = rows();
    let value = to_json(&rows).expect("rows are lossless");
    let text = value.to_text();
    let theirs = serde_json::to_value(&rows).expect("rows are serializable");

    let mut group = criterion.benchmark_group("50 000 small objects");
    group.sample_size(20);
    group.bench_function("snapshot", |bencher| {
        bencher.iter_batched(|| (), |()| to_json(black_box(&rows)), BatchSize::PerIteration);
    });
    group.bench_function("snapshot: floor, serde_json::to_value", |bencher| {
        bencher.iter_batched(|| (), |()| serde_json::to_value(black_box(&rows)), BatchSize::PerIteration);
    });
    group.bench_function("text", |bencher| bencher.iter(|| black_box(&value).to_text()));
    group.bench_function("text: floor, serde_json::to_string", |bencher| {
        bencher.iter(|| serde_json::to_string(black_box(&theirs)));
    });
    group.bench_function("text length", |bencher| bencher.iter(|| black_box(&value).text_len()));
    group.bench_function("parse", |bencher| {
        bencher.iter_batched(|| (), |()| Json::parse(black_box(&text)), BatchSize::PerIteration);
    });
    group.bench_function("parse: floor, serde_json::from_str", |bencher| {
        bencher.iter_batched(
            || (),
            |()| serde_json::from_str::<serde_json::Value>(black_box(&text)),
            BatchSize::PerIteration,
        );
    });
    group.bench_function("drop", |bencher| {
        bencher.iter_batched(|| Json::parse(&text), drop, BatchSize::PerIteration);
    });
    group.bench_function("equality", |bencher| {
        let copy = Json::parse(&text).expect("text is JSON");
        bencher.iter(|| black_box(&value) == black_box(&copy));
    });
    group.bench_function("to Rust types", |bencher| {
        bencher.iter_batched(
            || (),
            |()| code_mode_schema::from_json::<Vec<Row>>(black_box(&value)),
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

fn validation(criterion: &mut Criterion) {
    let spec = ParameterSchemaSpec::new()
        .required("path", ValueSchemaSpec::string())
        .required("pattern", ValueSchemaSpec::string())
        .required("limit", ValueSchemaSpec::integer())
        .optional("recursive", ValueSchemaSpec::boolean())
        .optional("mode", ValueSchemaSpec::string().enum_values(["plain", "regex", "glob"]))
        .optional("include", ValueSchemaSpec::array(ValueSchemaSpec::string()))
        .optional(
            "options",
            ValueSchemaSpec::closed_object()
                .required("depth", ValueSchemaSpec::integer())
                .required("encoding", ValueSchemaSpec::string())
                .optional("follow", ValueSchemaSpec::boolean())
                .optional(
                    "since",
                    ValueSchemaSpec::one_of([ValueSchemaSpec::string(), ValueSchemaSpec::null()]),
                ),
        );
    let subset = spec.compile().expect("the spec is right");
    // One keyword beyond the subset, so that the full vocabulary's validator is taken.
    let document = subset.document().as_object().expect("a schema").with("minProperties", 1);
    let full = Schema::full(document.into());
    let args = json!({
        "path": "/home/me/project", "pattern": "fn main", "limit": 100, "recursive": true, "mode": "regex",
        "include": ["*.rs", "*.toml"],
        "options": {"depth": 3, "encoding": "utf-8", "follow": false, "since": null},
    });
    let wrong =
        json!({"path": "/home/me/project", "limit": 1.5, "options": {"depth": 3, "encoding": 8, "x": 1}});
    let theirs = jsonschema::validator_for(&full.document().to_serde_json().expect("shallow"))
        .expect("the schema compiles");
    let their_args = args.to_serde_json().expect("shallow");

    let mut group = criterion.benchmark_group("arguments of 10 fields on 2 levels");
    group.bench_function("subset, valid", |bencher| {
        bencher.iter(|| subset.validate(black_box(&args), ""));
    });
    group.bench_function("subset, 4 violations", |bencher| {
        bencher.iter(|| subset.validate(black_box(&wrong), ""));
    });
    group.bench_function("full, valid", |bencher| bencher.iter(|| full.validate(black_box(&args), "")));
    group.bench_function("full, violations", |bencher| {
        bencher.iter(|| full.validate(black_box(&wrong), ""));
    });
    group.bench_function("full, valid: floor, jsonschema over serde_json", |bencher| {
        bencher.iter(|| theirs.is_valid(black_box(&their_args)));
    });
    group.bench_function("parse", |bencher| {
        let text = args.to_text();
        bencher.iter(|| Json::parse(black_box(&text)));
    });
    group.bench_function("text", |bencher| bencher.iter(|| black_box(&args).to_text()));
    group.finish();

    let mut group = criterion.benchmark_group("compile");
    let document = subset.document().clone();
    group.bench_function("subset", |bencher| bencher.iter(|| Schema::subset(document.clone())));
    let document = full.document().clone();
    group.bench_function("full", |bencher| bencher.iter(|| Schema::full(document.clone())));
    group.finish();
}

/// The macro writes a public function, which has no place for documentation.
mod groups {
    use super::{validation, values};

    criterion::criterion_group!(benches, values, validation);
}

criterion_main!(groups::benches);
