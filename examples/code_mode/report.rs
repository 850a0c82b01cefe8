//! What the demo prints: for a terminal, plain in a pipe, or JSON.

use std::{
    borrow::Cow,
    env,
    io::{self, BufWriter, IsTerminal, Stdout, Write},
    time::Duration,
};

use code_mode::{Json, ToolDefinition, json, schema::to_json};
use tiktoken_rs::o200k_base_singleton;

use crate::{
    Program,
    session::{Run, RunJson, Session, SubCall},
};

/// The most sub-calls that are shown one by one.
const MAX_ROWS: usize = 12;

/// How wide a timeline is drawn, in characters.
const BAR_WIDTH: usize = 28;

pub(crate) struct Report {
    out: BufWriter<Stdout>,
    is_terminal: bool,
    is_coloured: bool,
    total: Tokens,
}

/// What the conversation holds of one question.
#[derive(Clone, Copy, Default)]
struct Tokens {
    /// If the model makes every call itself: arguments and results of all of them.
    native: usize,
    /// The program, and what it returned.
    code_mode: usize,
}

impl Report {
    pub(crate) fn to_stdout() -> Self {
        let is_terminal = io::stdout().is_terminal();
        Self {
            out: BufWriter::new(io::stdout()),
            is_terminal,
            is_coloured: is_terminal && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
            total: Tokens::default(),
        }
    }

    pub(crate) fn json(&mut self, run: &Run) -> io::Result<()> {
        let json = to_json(&RunJson::from(run)).map_err(io::Error::other)?;
        writeln!(self.out, "{json}")
    }

    pub(crate) fn what_the_model_sees(&mut self, session: &Session) -> io::Result<()> {
        let section = session.sdk_section();
        let (run_code, tools) = session.tools();
        self.headline("What the model sees: the tool run_code, and this in its system prompt")?;
        self.text(&section)?;
        let code_mode = count(&section) + count(&definitions(&run_code));
        let native = count(&definitions(&tools));
        writeln!(
            self.out,
            "\n{code_mode} tokens with the definition of run_code; the {} tools as native definitions: {native}",
            tools.len(),
        )
    }

    pub(crate) fn program(&mut self, program: &Program, run: &Run) -> io::Result<()> {
        self.headline(&program.description)?;
        self.text(program.code.trim_end())?;
        self.timeline(run)?;
        let label = if run.result.is_error() {
            self.paint(Colour::Red, "back to the model: an error")
        } else {
            "back to the model".to_owned()
        };
        writeln!(self.out, "\n{label}")?;
        self.text(&run.result.text())?;
        let calls = run.calls.iter().map(|call| count(&call.arguments.to_text()) + count(&call.text));
        let tokens =
            Tokens { native: calls.sum(), code_mode: count(&program.code) + count(&run.result.text()) };
        self.total.native += tokens.native;
        self.total.code_mode += tokens.code_mode;
        writeln!(self.out, "\n{}", tokens.sentence())?;
        self.out.flush()
    }

    pub(crate) fn total(&mut self) -> io::Result<()> {
        self.headline("All programs together")?;
        writeln!(self.out, "{}", self.total.sentence())?;
        writeln!(
            self.out,
            "Counted with o200k_base. Native calling: the arguments and the result text of every tool call, once;\n\
             code mode: the program and the text that came back. Tool definitions are not in either."
        )
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn headline(&mut self, text: &str) -> io::Result<()> {
        let line = self.paint(Colour::Bold, &format!("== {text} =="));
        writeln!(self.out, "\n{line}\n")
    }

    /// Text that is not ours, as it is, each line behind a mark.
    fn text(&mut self, text: &str) -> io::Result<()> {
        let mark = self.paint(Colour::Dim, "|");
        for line in text.split('\n') {
            let line = if self.is_terminal { visible(line) } else { Cow::Borrowed(line) };
            writeln!(self.out, "{mark}{}{line}", if line.is_empty() { "" } else { " " })?;
        }
        Ok(())
    }

    fn timeline(&mut self, run: &Run) -> io::Result<()> {
        let calls = run.calls.len();
        let plural = if calls == 1 { "" } else { "s" };
        writeln!(self.out, "\n{calls} tool call{plural}, {} in all", millis(run.took))?;
        for call in run.calls.iter().take(MAX_ROWS) {
            let outcome = if call.is_error { self.paint(Colour::Red, "failed") } else { "ok    ".to_owned() };
            let start = call.began - run.began;
            let arguments = shortened(&call.arguments.to_text(), 44);
            writeln!(
                self.out,
                "{:>10} {:>10}  {:<11} {outcome} [{}] {}",
                millis(start),
                millis(call.took),
                call.name,
                bar(start, call.took, run.took),
                self.paint(Colour::Dim, &visible(&arguments)),
            )?;
        }
        if let Some(rest) = run.calls.get(MAX_ROWS..).filter(|rest| !rest.is_empty()) {
            writeln!(self.out, "{:>10} {}", "and", summary(rest))?;
        }
        Ok(())
    }

    fn paint(&self, colour: Colour, text: &str) -> String {
        if self.is_coloured { format!("\x1b[{}m{text}\x1b[0m", colour as u8) } else { text.to_owned() }
    }
}

#[derive(Clone, Copy)]
enum Colour {
    Bold = 1,
    Dim = 2,
    Red = 31,
}

impl Tokens {
    fn sentence(self) -> String {
        let Self { native, code_mode } = self;
        let difference = match native.checked_sub(code_mode) {
            Some(spared) => {
                format!("{spared} stayed out of the context ({} %)", spared * 100 / native.max(1))
            }
            None => format!("{} more than native", code_mode - native),
        };
        format!("tokens: {native} with native calling, {code_mode} in code mode: {difference}")
    }
}

fn count(text: &str) -> usize {
    o200k_base_singleton().count_ordinary(text)
}

/// Tools as a model provider is sent them.
fn definitions(tools: &[ToolDefinition]) -> String {
    let definitions = tools.iter().map(|tool| {
        let parameters = tool.parameters().cloned().unwrap_or(Json::Null);
        json!({"name": tool.name(), "description": tool.description(), "parameters": parameters})
    });
    Json::from(definitions.collect::<Vec<_>>()).to_text()
}

/// Where in the run a call was under way.
fn bar(start: Duration, took: Duration, whole: Duration) -> String {
    let place = |at: Duration| (at.as_secs_f64() / whole.as_secs_f64() * BAR_WIDTH as f64) as usize;
    let from = place(start).min(BAR_WIDTH - 1);
    let to = place(start + took).clamp(from + 1, BAR_WIDTH);
    format!("{}{}{}", " ".repeat(from), "=".repeat(to - from), " ".repeat(BAR_WIDTH - to))
}

fn millis(duration: Duration) -> String {
    format!("{:.2} ms", duration.as_secs_f64() * 1e3)
}

/// `18 more: 17 read_file, 1 list_dir; 2 failed`.
fn summary(calls: &[SubCall]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for call in calls {
        match counts.iter_mut().find(|(name, _)| *name == &*call.name) {
            Some((_, count)) => *count += 1,
            None => counts.push((&call.name, 1)),
        }
    }
    let counts: Vec<String> = counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
    let failed = calls.iter().filter(|call| call.is_error).count();
    format!("{} more: {}; {failed} failed", calls.len(), counts.join(", "))
}

fn shortened(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Makes control characters visible: a file must not be able to steer the terminal.
fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|char| char.is_control() && char != '\t') {
        return Cow::Borrowed(text);
    }
    let picture = |char: char| match char {
        '\t' => char,
        '\0'..='\x1f' => char::from_u32(0x2400 + char as u32).unwrap_or(char::REPLACEMENT_CHARACTER),
        _ if char.is_control() => char::REPLACEMENT_CHARACTER,
        _ => char,
    };
    text.chars().map(picture).collect()
}
