//! The tools that the programs call: schemas from the folder's file, behaviour from here.
//!
//! Deterministic. Failures are worded as the same tools in JavaScript word them, numbers too.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use code_mode::schema::Number;
use code_mode::{Json, Schema, ToolDefinition, ToolError, ToolRunContext, json};

/// The tools of a folder, as its file declares them.
pub(crate) struct ToolFile {
    tools: Vec<Declared>,
}

struct Declared {
    name: String,
    description: String,
    input: Schema,
    output: Schema,
}

impl ToolFile {
    /// # Errors
    /// If the file cannot be read or is no list of tools.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let problem = |what: String| format!("{}: {what}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| problem(error.to_string()))?;
        let document = Json::parse(&text).map_err(|error| problem(error.to_string()))?;
        let entries = document.as_array().ok_or_else(|| problem("it is no list of tools".to_owned()))?;
        let tools = entries.iter().map(declared).collect::<Option<Vec<_>>>();
        tools.map(|tools| Self { tools }).ok_or_else(|| problem("a tool has no name".to_owned()))
    }

    /// What a reader of the verdicts should know about the tools.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = String> {
        self.tools.iter().flat_map(|tool| {
            let unknown = (behaviour(&tool.name).is_none())
                .then(|| format!("tool {:?} has no behaviour here: every call of it fails", tool.name));
            let partly = [("input", &tool.input), ("output", &tool.output)].into_iter().filter_map(
                |(which, schema)| {
                    schema.warning().map(|warning| format!("tool {:?}: {which} schema: {warning}", tool.name))
                },
            );
            unknown.into_iter().chain(partly)
        })
    }

    /// The tools, whose `write_file` writes into `written`.
    pub(crate) fn definitions(&self, written: &Written) -> impl Iterator<Item = ToolDefinition> {
        self.tools.iter().map(|tool| definition(tool, written.clone()))
    }
}

fn declared(tool: &Json) -> Option<Declared> {
    let schema = |key| Schema::full(tool.get(key).cloned().unwrap_or_else(|| json!({})));
    Some(Declared {
        name: tool.get("name")?.as_str()?.to_owned(),
        description: tool.get("description").and_then(Json::as_str).unwrap_or_default().to_owned(),
        input: schema("inputSchema"),
        output: schema("outputSchema"),
    })
}

/// Tools that run alone; all others may overlap.
const EXCLUSIVE: &[&str] = &["write_file", "delete"];

fn definition(tool: &Declared, written: Written) -> ToolDefinition {
    let name = tool.name.clone();
    let may_overlap = !EXCLUSIVE.contains(&name.as_str());
    ToolDefinition::builder(name.as_str())
        .description(tool.description.as_str())
        .parameters(tool.input.clone())
        .output(tool.output.clone())
        .render(|_, value| value.as_str().map_or_else(|| value.to_text(), str::to_owned))
        .concurrency_safe(move |_| may_overlap)
        .execute(move |arguments, ctx| {
            let (name, written) = (name.clone(), written.clone());
            async move {
                match behaviour(&name) {
                    Some(Behaviour::Now(body)) => body(&arguments, &written),
                    Some(Behaviour::Sleeps) => sleep(&arguments, &ctx).await,
                    Some(Behaviour::Hangs) => Err(aborted(&ctx).await),
                    None => Err(ToolError::new(format!("the judge has no behaviour for tool {name:?}"))),
                }
            }
        })
        .build()
}

enum Behaviour {
    Now(fn(&Json, &Written) -> Result<Json, ToolError>),
    Sleeps,
    Hangs,
}

fn behaviour(name: &str) -> Option<Behaviour> {
    Some(match name {
        "echo" => Behaviour::Now(|arguments, _| Ok(arguments.get("value").cloned().unwrap_or_default())),
        "add" => Behaviour::Now(|arguments, _| {
            let sum = number(arguments, "a") + number(arguments, "b");
            Json::try_from(sum).map_err(ToolError::lossy_output)
        }),
        "list_items" => Behaviour::Now(|arguments, _| list_items(arguments)),
        "get_item" => Behaviour::Now(|arguments, _| get_item(arguments)),
        "search" => Behaviour::Now(|arguments, _| search(arguments)),
        "read_file" => Behaviour::Now(|arguments, _| read_file(arguments)),
        "write_file" => Behaviour::Now(write_file),
        "fail" => Behaviour::Now(|arguments, _| {
            let message = arguments.get("message").and_then(Json::as_str);
            Err(ToolError::new(message.unwrap_or("tool failed on purpose")))
        }),
        "sleep" => Behaviour::Sleeps,
        "hang" => Behaviour::Hangs,
        "get-weather" => Behaviour::Now(|arguments, _| get_weather(arguments)),
        "delete" => Behaviour::Now(|arguments, _| Ok(json!({"deleted": arguments.get("id").cloned()}))),
        "big" => Behaviour::Now(|arguments, _| big(arguments)),
        "describe_args" => Behaviour::Now(|arguments, _| Ok(arguments.to_text().into())),
        "nothing" => Behaviour::Now(|_, _| Ok(Json::Null)),
        "ns.tool/v2 beta" => Behaviour::Now(|arguments, _| Ok(json!({"q": arguments.get("q").cloned()}))),
        _ => return None,
    })
}

/// What `write_file` wrote.
#[derive(Clone, Default)]
pub(crate) struct Written(Arc<Mutex<BTreeMap<String, String>>>);

impl Written {
    pub(crate) fn snapshot(&self) -> BTreeMap<String, String> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const WORDS: [&str; 10] =
    ["amber", "birch", "cobalt", "dune", "ember", "fjord", "garnet", "heath", "indigo", "jade"];

/// The 25 items, made once.
static ITEMS: LazyLock<Vec<Json>> = LazyLock::new(|| (0..25).map(item).collect());

fn item(index: usize) -> Json {
    let word = |offset: usize| WORDS[(index + offset) % WORDS.len()];
    let tags = match index % 3 {
        0 => vec!["sale", word(1)],
        1 => vec![word(2)],
        _ => Vec::new(),
    };
    let owner =
        (!index.is_multiple_of(4)).then(|| json!({"name": format!("user{}", index % 4), "email": null}));
    json!({
        "id": index + 1,
        "name": format!("{}-{}", word(0), index + 1),
        "price": f64::from(u8::try_from(index * 37 % 101).expect("it is less than 101")) + 0.5,
        "tags": tags,
        "createdAt": format!("{}T12:00:00.000Z", date(1 + index * 3)),
        "owner": owner,
    })
}

/// The date of a day of the year 2025, counted from 1 and at most 90.
fn date(day: usize) -> String {
    match day {
        1..=31 => format!("2025-01-{day:02}"),
        32..=59 => format!("2025-02-{:02}", day - 31),
        _ => format!("2025-03-{:02}", day - 59),
    }
}

fn list_items(arguments: &Json) -> Result<Json, ToolError> {
    let cursor = arguments.get("cursor").and_then(Json::as_str).filter(|cursor| !cursor.is_empty());
    let from = cursor.map_or(0.0, |cursor| numeric(cursor.chars().skip(1).collect::<String>().trim()));
    let next = from + arguments.get("limit").and_then(Json::as_f64).unwrap_or(10.0);
    #[expect(clippy::cast_precision_loss, reason = "there are 25")]
    let is_more = next < ITEMS.len() as f64;
    let next_cursor =
        is_more.then(|| Number::new(next).map(|next| format!("c{next}"))).transpose().unwrap_or(None);
    let (start, end) = (place(from), place(next));
    Ok(json!({"items": ITEMS.get(start..end).unwrap_or_default(), "nextCursor": next_cursor}))
}

/// A text as JavaScript's `Number` reads it, as far as it is decimal.
fn numeric(text: &str) -> f64 {
    let is_decimal = text.chars().all(|char| char.is_ascii_digit() || "+-.eE".contains(char));
    match text {
        "" => 0.0,
        _ if is_decimal => text.parse().unwrap_or(f64::NAN),
        _ => f64::NAN,
    }
}

/// A bound of `slice` as an index into the items: negative ones count from the end, NaN is 0.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
fn place(bound: f64) -> usize {
    let length = ITEMS.len();
    #[expect(clippy::cast_precision_loss, reason = "there are 25")]
    let from_start = if bound < 0.0 { bound.trunc() + length as f64 } else { bound.trunc() };
    // NaN becomes 0 in the conversion.
    (from_start.max(0.0) as usize).min(length)
}

fn get_item(arguments: &Json) -> Result<Json, ToolError> {
    let id = arguments.get("id").and_then(Json::as_number);
    let index = id.and_then(Number::as_i64).and_then(|id| usize::try_from(id - 1).ok());
    let found = index.and_then(|index| ITEMS.get(index)).cloned();
    found.ok_or_else(|| {
        ToolError::new(format!("item {} not found", id.map(|id| id.to_string()).unwrap_or_default()))
    })
}

fn search(arguments: &Json) -> Result<Json, ToolError> {
    let query = string(arguments, "query");
    let hits = ITEMS.iter().filter(|item| string(item, "name").contains(query)).map(|item| {
        let url = format!("https://example.com/{}", item.get("id").cloned().unwrap_or_default());
        json!({"title": string(item, "name"), "url": url, "score": number(item, "price") / 100.0})
    });
    Ok(json!({"results": hits.collect::<Vec<_>>()}))
}

fn read_file(arguments: &Json) -> Result<Json, ToolError> {
    let path = string(arguments, "path");
    let text = match path {
        "a.txt" => "alpha\nbeta\ngamma\n",
        "b.txt" => "one two three\n",
        "data.json" => r#"{"k":[1,2,3],"ok":true}"#,
        "log.txt" => {
            "2025-01-01 INFO start\n2025-01-01 ERROR boom\n2025-01-02 WARN slow\n2025-01-02 ERROR bang\n"
        }
        _ => return Err(ToolError::new(format!("ENOENT: no such file: {path}"))),
    };
    Ok(text.into())
}

fn write_file(arguments: &Json, written: &Written) -> Result<Json, ToolError> {
    let (path, content) = (string(arguments, "path"), string(arguments, "content"));
    written.lock().insert(path.to_owned(), content.to_owned());
    Ok(json!({"path": path, "bytes": content.len()}))
}

async fn sleep(arguments: &Json, ctx: &ToolRunContext) -> Result<Json, ToolError> {
    let ms = number(arguments, "ms");
    let duration = Duration::try_from_secs_f64(ms / 1000.0).unwrap_or(Duration::MAX);
    tokio::select! {
        biased;
        error = aborted(ctx) => Err(error),
        () = tokio::time::sleep(duration) => Ok(json!({"slept": ms})),
    }
}

/// Waits until the call is no longer wanted.
async fn aborted(ctx: &ToolRunContext) -> ToolError {
    ctx.signal().cancelled().await;
    ToolError::new("aborted")
}

fn get_weather(arguments: &Json) -> Result<Json, ToolError> {
    let city = string(arguments, "city");
    let length = city.encode_utf16().count();
    let conditions = if length % 2 == 1 { "rain" } else { "sun" };
    Ok(json!({"city": city, "tempC": length * 2, "conditions": conditions}))
}

fn big(arguments: &Json) -> Result<Json, ToolError> {
    // The longest string of JavaScript.
    const MAX_LENGTH: i64 = (1 << 29) - 24;
    let size = arguments.get("size").and_then(Json::as_i64).filter(|size| *size <= MAX_LENGTH);
    let size = size
        .and_then(|size| usize::try_from(size).ok())
        .ok_or_else(|| ToolError::new("Invalid string length"))?;
    Ok("x".repeat(size).into())
}

/// The arguments fit the schema, so what is asked for is there.
fn string<'a>(value: &'a Json, key: &str) -> &'a str {
    value.get(key).and_then(Json::as_str).unwrap_or_default()
}

fn number(value: &Json, key: &str) -> f64 {
    value.get(key).and_then(Json::as_f64).unwrap_or_default()
}
