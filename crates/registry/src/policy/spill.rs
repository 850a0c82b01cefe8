//! The spill policy: a result too large for the context is stored, and the model gets its ends (contract 8).

use std::{
    collections::HashSet,
    fs, io,
    panic::AssertUnwindSafe,
    path::{Path, PathBuf},
    sync::Arc,
};

use futures::{FutureExt, future::BoxFuture};

use crate::{
    CallId, ContentBlock, Next, PostDecision, Registration, ToolError, ToolExecution, ToolRegistry,
    ToolResult,
};

/// Keeps what a result shows the model within a number of bytes.
///
/// It looks at top-level calls only, at accepted results whose value no policy replaced, and at content that
/// is all text. A larger text is put in a store; the model reads the head and the tail of it and where the
/// whole is. If anything about that fails, the content stays as it is. It does not limit what a program
/// passes around: the results of sub-calls are never spilled.
#[derive(Clone)]
#[non_exhaustive]
pub struct SpillPolicy {
    /// The most bytes that stay inline, the note included. Default 32 768.
    pub max_inline_bytes: usize,
    /// Ends the note: how to read the stored text. Default `Read the parts you need.`.
    pub hint: Arc<str>,
    /// Tools whose results are never spilled, because they read what was spilled. Default `read`.
    pub exempt: HashSet<Arc<str>>,
    store: Arc<dyn SpillStore>,
}

/// Keeps spilled texts.
///
/// An implementation must not overwrite what it stored before, and its locator must be of use to the model.
pub trait SpillStore: Send + Sync {
    /// Stores a text and says where it is.
    fn store(&self, spill: Spill) -> BoxFuture<'static, Result<String, ToolError>>;
}

/// One text to be stored.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Spill {
    /// The tool.
    pub tool: Arc<str>,
    /// The call.
    pub call_id: CallId,
    /// The whole text.
    pub text: Arc<str>,
}

impl SpillPolicy {
    /// The policy with its defaults over a store.
    #[must_use]
    pub fn new(store: impl SpillStore + 'static) -> Self {
        Self {
            max_inline_bytes: 32 * 1024,
            hint: Arc::from("Read the parts you need."),
            exempt: HashSet::from([Arc::from("read")]),
            store: Arc::new(store),
        }
    }

    /// Sets [`SpillPolicy::max_inline_bytes`].
    #[must_use]
    pub fn with_max_inline_bytes(mut self, max: usize) -> Self {
        self.max_inline_bytes = max;
        self
    }

    /// Sets [`SpillPolicy::hint`].
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<Arc<str>>) -> Self {
        self.hint = hint.into();
        self
    }

    /// Adds to [`SpillPolicy::exempt`].
    #[must_use]
    pub fn with_exempt(mut self, tool: impl Into<Arc<str>>) -> Self {
        self.exempt.insert(tool.into());
        self
    }

    /// Installs the policy before all post-policies that are there, so that it sees what they decided.
    pub fn install(self, registry: &ToolRegistry) -> Registration {
        let policy = Arc::new(self);
        registry.hooks().prepend().on_post_execute(move |execution, result, next| {
            Arc::clone(&policy).decide(execution, result, next)
        })
    }

    async fn decide(
        self: Arc<Self>,
        execution: ToolExecution,
        result: Arc<ToolResult>,
        next: Next<PostDecision>,
    ) -> Result<PostDecision, ToolError> {
        let decision = next.call().await?;
        let PostDecision::Accept(mut acceptance) = decision else {
            return Ok(decision);
        };
        let is_ours = execution.parent().is_none()
            && acceptance.value.is_none()
            && !self.exempt.contains(execution.name());
        if is_ours {
            let content = acceptance.content.as_deref().unwrap_or(result.content());
            if let Some(preview) = self.spill(&execution, content).await {
                acceptance.content = Some(vec![ContentBlock::text(preview)]);
            }
        }
        Ok(PostDecision::Accept(acceptance))
    }

    /// What the model reads instead of `content`; nothing if that may stay.
    async fn spill(&self, execution: &ToolExecution, content: &[ContentBlock]) -> Option<String> {
        let texts: Option<Vec<_>> = content.iter().map(ContentBlock::as_text).collect();
        let text: Arc<str> = texts?.join("\n").into();
        if text.len() <= self.max_inline_bytes {
            return None;
        }
        let spill = Spill {
            tool: execution.name().into(),
            call_id: execution.call_id().clone(),
            text: Arc::clone(&text),
        };
        let stored = AssertUnwindSafe(async { self.store.store(spill).await }).catch_unwind().await;
        match stored.unwrap_or_else(|_| Err(ToolError::new("the store panicked"))) {
            Ok(locator) => preview(&text, &locator, &self.hint, self.max_inline_bytes),
            Err(error) => {
                tracing::warn!(%error, tool = execution.name(), "a result could not be spilled");
                None
            }
        }
    }
}

impl std::fmt::Debug for SpillPolicy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SpillPolicy")
            .field("max_inline_bytes", &self.max_inline_bytes)
            .field("exempt", &self.exempt)
            .finish_non_exhaustive()
    }
}

/// Head, mark, tail, blank line and note, at most `max` bytes; nothing if not even the note fits.
fn preview(text: &str, locator: &str, hint: &str, max: usize) -> Option<String> {
    const MARK: &str = "\n[…]\n";
    let note = |omitted: usize| {
        format!("({omitted} bytes omitted. Full formatted result stored at: {locator}. {hint})")
    };
    // The longest the note can get: nothing of the text is shown.
    let room = max.checked_sub(note(text.len()).len() + "\n\n".len() + MARK.len())?;
    let head = &text[..text.floor_char_boundary(room - room / 3)];
    let tail = &text[text.ceil_char_boundary(text.len() - room / 3)..];
    let omitted = text.len() - head.len() - tail.len();
    Some(format!("{head}{MARK}{tail}\n\n{}", note(omitted)))
}

/// Stores each text as a file of one folder, named after the call.
#[derive(Clone, Debug)]
pub struct FolderStore {
    folder: PathBuf,
}

impl FolderStore {
    /// A store in `folder`, which is made when the first text comes.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }
}

impl SpillStore for FolderStore {
    /// Writes the file before it returns the future: a few milliseconds at most for what a model could ever
    /// read.
    fn store(&self, spill: Spill) -> BoxFuture<'static, Result<String, ToolError>> {
        let stored = write_new(&self.folder, &spill);
        let locator = stored.map(|path| path.display().to_string()).map_err(ToolError::from);
        Box::pin(std::future::ready(locator))
    }
}

/// Writes to a name that no file has yet.
fn write_new(folder: &Path, spill: &Spill) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || "-_".contains(*c);
    let stem: String = spill.call_id.as_str().chars().filter(is_plain).take(64).collect();
    let stem = if stem.is_empty() { "result".to_owned() } else { stem };
    for number in 0.. {
        let name = if number == 0 { format!("{stem}.txt") } else { format!("{stem}-{number}.txt") };
        let path = folder.join(name);
        match fs::OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                io::Write::write_all(&mut file, spill.text.as_bytes())?;
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
