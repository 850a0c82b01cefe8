//! One program and what is expected of it, as the folder has them.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use code_mode::Json;

/// A program of the folder.
pub(crate) struct Case {
    /// The file's name without its extension.
    pub(crate) name: String,
    /// Everything after the header line.
    pub(crate) program: String,
    /// What is expected, or why that cannot be told.
    pub(crate) expectation: Result<Expectation, String>,
}

/// What a run must give. A part that is absent is not judged.
pub(crate) struct Expectation {
    /// Any of them.
    pub(crate) outcome: Vec<String>,
    /// Any of them; empty: not judged.
    pub(crate) kind: Vec<String>,
    pub(crate) result: Option<Json>,
    pub(crate) result_has: Option<Json>,
    pub(crate) result_one_of: Option<Vec<Json>>,
    pub(crate) logs_has: Vec<String>,
    pub(crate) content_has: Vec<String>,
    pub(crate) first_line_has: Vec<String>,
    pub(crate) content_lacks: Vec<String>,
    pub(crate) content_max_bytes: Option<usize>,
    /// Any of them; empty: not judged.
    pub(crate) line: Vec<u64>,
    pub(crate) calls: Option<BTreeMap<String, u64>>,
    pub(crate) written: Option<BTreeMap<String, String>>,
    pub(crate) max_ms: Option<u64>,
    pub(crate) limits: CaseLimits,
}

/// The limits of a program; `heap_mb` is the engine's own unit, MiB.
#[derive(Clone, Debug)]
pub(crate) struct CaseLimits {
    pub(crate) compute_ms: u64,
    pub(crate) max_wall_ms: u64,
    pub(crate) heap_mb: u64,
    pub(crate) max_output_bytes: u64,
}

impl Default for CaseLimits {
    fn default() -> Self {
        Self { compute_ms: 2000, max_wall_ms: 4000, heap_mb: 64, max_output_bytes: 4 << 20 }
    }
}

impl Expectation {
    /// Within how many milliseconds the answer must be there.
    pub(crate) fn max_ms(&self) -> u64 {
        self.max_ms.unwrap_or(self.limits.max_wall_ms + 250)
    }

    /// How long to wait for an answer that is late already.
    pub(crate) fn patience(&self) -> Duration {
        Duration::from_millis(self.max_ms().max(self.limits.max_wall_ms)) + Duration::from_secs(15)
    }
}

/// All programs of a folder, by name.
///
/// # Errors
/// If the folder cannot be read.
pub(crate) fn in_folder(folder: &Path) -> Result<Vec<Case>, String> {
    let problem = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(problem)? {
        let path = entry.map_err(problem)?.path();
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        if path.extension().is_some_and(|extension| extension == "ts") && !name.starts_with('_') {
            cases.push(read_case(folder, &path, name));
        }
    }
    cases.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(cases)
}

fn read_case(folder: &Path, path: &Path, name: String) -> Case {
    let (program, expectation) = match std::fs::read_to_string(path) {
        Ok(text) => {
            let program = text.split_once('\n').map_or("", |(_header, program)| program).to_owned();
            (program, read_expectation(&folder.join(format!("{name}.expect.json"))))
        }
        Err(error) => (String::new(), Err(format!("the program cannot be read: {error}"))),
    };
    Case { name, program, expectation }
}

fn read_expectation(path: &Path) -> Result<Expectation, String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    let document = Json::parse(&text).map_err(|error| format!("{name}: {error}"))?;
    expectation(&document).map_err(|problem| format!("{name}: {problem}"))
}

fn expectation(document: &Json) -> Result<Expectation, String> {
    let object = document.as_object().ok_or("it is not an object")?;
    let mut read = Expectation {
        outcome: Vec::new(),
        kind: Vec::new(),
        result: None,
        result_has: None,
        result_one_of: None,
        logs_has: Vec::new(),
        content_has: Vec::new(),
        first_line_has: Vec::new(),
        content_lacks: Vec::new(),
        content_max_bytes: None,
        line: Vec::new(),
        calls: None,
        written: None,
        max_ms: None,
        limits: CaseLimits::default(),
    };
    for (key, value) in object.iter() {
        let wrong = |wanted: &str| format!("`{key}` must be {wanted}, got {value}");
        match key {
            "outcome" => {
                read.outcome = one_or_more(value, text).ok_or_else(|| wrong("a word or a list of words"))?;
            }
            "kind" => {
                read.kind = one_or_more(value, text).ok_or_else(|| wrong("a kind or a list of kinds"))?;
            }
            "result" => read.result = Some(value.clone()),
            "resultHas" => read.result_has = Some(value.clone()),
            "resultOneOf" => {
                read.result_one_of =
                    Some(list(value, |item| Some(item.clone())).ok_or_else(|| wrong("a list"))?);
            }
            "logsHas" => read.logs_has = list(value, text).ok_or_else(|| wrong("a list of strings"))?,
            "contentHas" => read.content_has = list(value, text).ok_or_else(|| wrong("a list of strings"))?,
            "firstLineHas" => {
                read.first_line_has = list(value, text).ok_or_else(|| wrong("a list of strings"))?;
            }
            "contentLacks" => {
                read.content_lacks = list(value, text).ok_or_else(|| wrong("a list of strings"))?;
            }
            "contentMaxBytes" => {
                let bytes = count(value).and_then(|bytes| usize::try_from(bytes).ok());
                read.content_max_bytes = Some(bytes.ok_or_else(|| wrong("a count"))?);
            }
            "line" => {
                read.line = one_or_more(value, count).ok_or_else(|| wrong("a line or a list of lines"))?;
            }
            "calls" => read.calls = Some(map(value, count).ok_or_else(|| wrong("counts by tool"))?),
            "written" => read.written = Some(map(value, text).ok_or_else(|| wrong("contents by path"))?),
            "maxMs" => read.max_ms = Some(count(value).ok_or_else(|| wrong("milliseconds"))?),
            "limits" => read.limits = limits(value)?,
            "hostOk" if *value == Json::Bool(true) => {}
            "hostOk" => return Err(wrong("true")),
            "why" => {}
            _ => return Err(format!("`{key}` is not a key that can be judged")),
        }
    }
    match read.outcome.iter().find(|word| !["ok", "fail", "refuse"].contains(&word.as_str())) {
        Some(word) => Err(format!("`outcome` must be ok, fail or refuse, got {word:?}")),
        None if read.outcome.is_empty() => Err("`outcome` is missing".to_owned()),
        None => Ok(read),
    }
}

fn limits(value: &Json) -> Result<CaseLimits, String> {
    let mut limits = CaseLimits::default();
    for (key, value) in value.as_object().ok_or("`limits` must be an object")?.iter() {
        let number = count(value).ok_or_else(|| format!("`limits.{key}` must be a count, got {value}"))?;
        match key {
            "computeMs" => limits.compute_ms = number,
            "maxWallMs" => limits.max_wall_ms = number,
            "heapMb" => limits.heap_mb = number,
            "maxOutputBytes" => limits.max_output_bytes = number,
            _ => return Err(format!("`limits.{key}` is no limit")),
        }
    }
    Ok(limits)
}

fn text(value: &Json) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn count(value: &Json) -> Option<u64> {
    value.as_i64().and_then(|number| u64::try_from(number).ok())
}

fn list<T>(value: &Json, item: impl Fn(&Json) -> Option<T>) -> Option<Vec<T>> {
    value.as_array()?.iter().map(item).collect()
}

fn one_or_more<T>(value: &Json, item: impl Fn(&Json) -> Option<T>) -> Option<Vec<T>> {
    if value.is_array() { list(value, item) } else { item(value).map(|one| vec![one]) }
}

fn map<T>(value: &Json, item: impl Fn(&Json) -> Option<T>) -> Option<BTreeMap<String, T>> {
    value.as_object()?.iter().map(|(key, value)| Some((key.to_owned(), item(value)?))).collect()
}
