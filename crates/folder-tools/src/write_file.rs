//! `write_file`: the only tool that changes anything.

use std::{
    io::{self, Write},
    path::Path,
};

use cap_fs_ext::OpenOptionsSyncExt;
use cap_std::fs::OpenOptions;
use cap_tempfile::TempFile;
use code_mode_registry::{CallKind, CallView, ContentBlock, Diff, Signal, ToolDefinition};
use code_mode_schema::{Json, json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    cards,
    error::FolderError,
    folder::{Folder, Place, require_file},
    text::{MAX_FILE_BYTES, MAX_FILE_MIB},
    work::{self, check},
};

const DESCRIPTION: &str = "Write a text file of at most 32 MiB; folders on the way to it are made. `replace` swaps the whole file at once: nobody ever sees half of it.";

pub(crate) fn tool(folder: &Folder) -> ToolDefinition {
    let folder = folder.clone();
    ToolDefinition::typed("write_file", DESCRIPTION, move |args: WriteFile, ctx| {
        let folder = folder.clone();
        work::blocking(ctx, move |signal| write(&folder, &args, signal))
    })
    .exclusive()
    .render(|args, written| format!("{} has {} bytes now", args.path, bytes(written)))
    .presentation_meta(|_, written| json!({"bytes": bytes(written)}))
    .present_call(|args| Some(present(args)))
    .present_result(|args, outcome| {
        Some(cards::result(outcome, |meta| {
            let size = cards::count(bytes(meta), "byte", "bytes");
            Some(format!("{} ({size})", args.title()))
        }))
    })
    .build()
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WriteFile {
    /// File, relative to the root folder.
    path: String,
    content: String,
    /// "create" (default) fails if the file exists; "replace" and "append" create it if it does not.
    #[serde(default)]
    mode: Mode,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Create,
    Replace,
    Append,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
struct Written {
    path: String,
    /// Size of the file now.
    bytes: u64,
}

impl WriteFile {
    fn title(&self) -> String {
        let verb = match self.mode {
            Mode::Create => "Create",
            Mode::Replace => "Write",
            Mode::Append => "Append to",
        };
        format!("{verb} {}", self.path)
    }
}

fn write(folder: &Folder, args: &WriteFile, signal: &Signal) -> Result<Written, FolderError> {
    let place = Place::parse_file(&args.path)?;
    if args.content.len() as u64 > MAX_FILE_BYTES {
        return Err(FolderError::TooLarge {
            path: args.path.clone(),
            bytes: args.content.len() as u64,
            limit_mib: MAX_FILE_MIB,
        });
    }
    check(signal)?;
    make_parent(folder, &place)?;
    let bytes = match args.mode {
        Mode::Create => create(folder, &place, &args.content, signal)?,
        Mode::Replace => replace(folder, &place, &args.content, signal)?,
        Mode::Append => append(folder, &place, &args.content)?,
    };
    Ok(Written { path: place.to_string(), bytes })
}

/// Makes the folders on the way.
fn make_parent(folder: &Folder, place: &Place) -> Result<(), FolderError> {
    let Some(parent) = place.parents().pop() else {
        return Ok(());
    };
    let not_a_folder = || FolderError::NotAFolder { path: place.to_string() };
    match folder.metadata(&parent) {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(not_a_folder()),
        Err(FolderError::NotFound { .. }) => {
            folder.dir().create_dir_all(parent.as_path()).map_err(|source| match source.kind() {
                // A symlink to nothing stands there.
                io::ErrorKind::AlreadyExists => not_a_folder(),
                _ => failed(place)(source),
            })
        }
        Err(error) => Err(error),
    }
}

/// Takes the file away again if it cannot be written to its end.
fn create(folder: &Folder, place: &Place, content: &str, signal: &Signal) -> Result<u64, FolderError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let opened = folder.dir().open_with(place.as_path(), &options);
    let mut file = opened.map_err(|error| match failed(place)(error) {
        FolderError::Exists { .. } => taken(folder, place),
        error => error,
    })?;
    write_all(&mut file, content, place, signal).inspect_err(|_| {
        let _ = folder.dir().remove_file(place.as_path());
    })?;
    Ok(content.len() as u64)
}

/// Why no file can be created at a place where something is: what that is, as the other modes would find it.
fn taken(folder: &Folder, place: &Place) -> FolderError {
    match folder.metadata(place).and_then(|metadata| require_file(&metadata, place)) {
        Ok(()) => FolderError::Exists { path: place.to_string() },
        Err(FolderError::NotFound { path }) => FolderError::LinkToNothing { path },
        Err(error) => error,
    }
}

/// Writes beside the file and renames, through a symlink to the file that it stands for.
fn replace(folder: &Folder, place: &Place, content: &str, signal: &Signal) -> Result<u64, FolderError> {
    let (target, permissions) = match folder.dir().canonicalize(place.as_path()) {
        Ok(target) => {
            let metadata = folder.metadata(place)?;
            require_file(&metadata, place)?;
            (target, Some(metadata.permissions()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => (place.as_path().to_owned(), None),
        Err(error) => return Err(failed(place)(error)),
    };
    let (Some(parent), Some(name)) = (target.parent(), target.file_name()) else {
        return Err(FolderError::IsFolder { path: place.to_string() });
    };
    let dir = folder.dir().open_dir(Path::new(".").join(parent)).map_err(failed(place))?;
    let mut file = TempFile::new(&dir).map_err(failed(place))?;
    write_all(&mut file, content, place, signal)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions).map_err(failed(place))?;
    }
    file.replace(name).map_err(failed(place))?;
    Ok(content.len() as u64)
}

/// One write at the end of the file: half of it would be worse than all of it.
fn append(folder: &Folder, place: &Place, content: &str) -> Result<u64, FolderError> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).nonblock(true);
    let mut file = folder.dir().open_with(place.as_path(), &options).map_err(failed(place))?;
    require_file(&file.metadata().map_err(failed(place))?, place)?;
    file.write_all(content.as_bytes()).map_err(failed(place))?;
    Ok(file.metadata().map_err(failed(place))?.len())
}

/// Bytes between two looks at the signal.
const CHUNK_BYTES: usize = 1 << 20;

fn write_all(
    file: &mut impl Write,
    content: &str,
    place: &Place,
    signal: &Signal,
) -> Result<(), FolderError> {
    for chunk in content.as_bytes().chunks(CHUNK_BYTES) {
        check(signal)?;
        file.write_all(chunk).map_err(failed(place))?;
    }
    check(signal)
}

fn failed(place: &Place) -> impl Fn(io::Error) -> FolderError {
    move |source| FolderError::from_io("write", place.as_str(), source)
}

/// A new file is shown as a difference. What another mode changes is not known before it runs.
fn present(args: &WriteFile) -> CallView {
    let mut card = cards::call(CallKind::Edit, args.title(), &args.path, None);
    match (args.mode, &mut card) {
        (Mode::Create, CallView::Generic { title, locations, .. }) => CallView::Diff {
            title: title.clone(),
            diffs: vec![Diff {
                path: args.path.as_str().into(),
                old_text: None,
                new_text: args.content.as_str().into(),
            }],
            locations: locations.take(),
        },
        (_, CallView::Generic { content, .. }) => {
            *content = Some(vec![ContentBlock::text(args.content.as_str())]);
            card
        }
        _ => card,
    }
}

fn bytes(written: &Json) -> i64 {
    written.get("bytes").and_then(Json::as_i64).unwrap_or_default()
}
