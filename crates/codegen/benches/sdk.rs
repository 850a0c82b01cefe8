//! What the SDK of many tools costs: made for the first time, and again after one tool has changed.
//!
//! The tools are those of the corpus (`CODE_MODE_CORPUS`, by default `../shared/corpus` beside the project), 1 541
//! when this was written; without it, as many made up here. The floor is one look at every schema: its JSON text
//! written. Budgets, in release: 40 ms for all of them cold, 1 ms when one has changed.

use std::hint::black_box;
use std::path::{Path, PathBuf};

use code_mode_codegen::{SdkBuilder, SdkTool, sdk_section};
use code_mode_schema::{Json, json};
use criterion::{BatchSize, Criterion, criterion_main};

/// So many are made up where there is no corpus.
const TOOLS: usize = 1_541;

/// A tool of a server; names are made unique by the server's.
struct Tool {
    name: String,
    description: String,
    parameters: Json,
    output: Json,
}

impl Tool {
    fn sdk(&self) -> SdkTool<'_> {
        let Tool { name, description, parameters, output } = self;
        SdkTool { name, description, parameters, output }
    }
}

fn sdk(criterion: &mut Criterion) {
    let corpus = std::env::var_os("CODE_MODE_CORPUS").map(PathBuf::from);
    let corpus =
        corpus.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"));
    let mut tools = tools_in(&corpus.join("mcp-tools"));
    if tools.is_empty() {
        println!("no corpus in {} (set CODE_MODE_CORPUS): the tools are made up", corpus.display());
        tools = (0..TOOLS).map(made_up).collect();
    }
    let all: Vec<SdkTool<'_>> = tools.iter().map(Tool::sdk).collect();

    let mut group = criterion.benchmark_group(format!("{} tools", all.len()));
    group.sample_size(20);
    group.bench_function("cold", |bencher| bencher.iter(|| sdk_section(black_box(&all))));
    group.bench_function("cold: floor, the text of every schema", |bencher| {
        bencher.iter(|| {
            let texts = all.iter().map(|tool| tool.parameters.to_text().len() + tool.output.to_text().len());
            texts.sum::<usize>()
        });
    });

    let mut builder = SdkBuilder::new();
    builder.update(&all);
    builder.section();
    // Two states of one tool in the middle, in turn, so that each is a change.
    let place = all.len() / 2;
    let other = json!({"type": "object", "properties": {"changed": {"type": "string", "minLength": 1}}});
    let states = [SdkTool { parameters: &other, ..all[place] }, all[place]];
    let mut turn = 0;
    group.bench_function("one changed, set", |bencher| {
        bencher.iter(|| {
            turn += 1;
            builder.set(&states[turn % 2]);
            builder.section().len()
        });
    });
    let mut changed = all.clone();
    group.bench_function("one changed, all given", |bencher| {
        bencher.iter(|| {
            turn += 1;
            changed[place] = states[turn % 2];
            builder.update(&changed);
            builder.section().len()
        });
    });
    group.bench_function("one changed: floor, the text copied", |bencher| {
        let text = builder.section().to_owned();
        bencher.iter_batched(|| (), |()| black_box(&text).clone(), BatchSize::PerIteration);
    });
    group.finish();
}

/// The tools of all files of a folder.
fn tools_in(folder: &Path) -> Vec<Tool> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let mut tools = Vec::new();
    for path in paths {
        let server = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("the corpus can be read");
        let list = Json::parse(&text).expect("the corpus is JSON");
        tools.extend(list.as_array().expect("a list of tools").iter().map(|tool| {
            let text = |key| tool.get(key).and_then(Json::as_str).unwrap_or_default();
            let schema = |key| tool.get(key).cloned().unwrap_or_else(|| json!({}));
            Tool {
                name: format!("{server}__{}", text("name")),
                description: text("description").to_owned(),
                parameters: schema("inputSchema"),
                output: schema("outputSchema"),
            }
        }));
    }
    tools
}

fn made_up(number: usize) -> Tool {
    Tool {
        name: format!("tool_{number}"),
        description: format!("Does what number {number} of the list says, and answers with what came of it."),
        parameters: json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "minLength": 1, "description": "What to look for"},
                "limit": {"type": "integer", "minimum": 1, "maximum": (number + 1), "default": 1},
                "state": {"anyOf": [{"enum": ["open", "closed"]}, {"type": "null"}]},
                "filter": {"type": "object", "additionalProperties": {"type": ["string", "number"]}}
            },
            "required": ["query"]
        }),
        output: json!({"type": "array", "items": {"type": "object", "properties": {"id": {"type": "string", "format": "uuid"}}}}),
    }
}

/// Runs the group; what criterion is asked for on the command line is heeded.
fn benches() {
    sdk(&mut Criterion::default().configure_from_args());
}

criterion_main!(benches);
