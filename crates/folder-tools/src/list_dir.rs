//! `list_dir`: what is in a folder.

use cap_std::fs::Dir;
use code_mode_registry::{CallKind, Signal, ToolDefinition};
use code_mode_schema::{Json, json};
use globset::{GlobBuilder, GlobMatcher};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    cards, cursor,
    error::FolderError,
    folder::{Folder, Links, Place},
    walk::{Depth, Found, Kind, Walk},
    work,
};

/// The most entries of one result, and how many there are unless the call asks for fewer.
const MAX_ENTRIES: usize = 10_000;

const DESCRIPTION: &str = "List a folder: every entry it has, hidden and ignored ones and .git included, in path order. With `recursive`, also everything below, but without .git and what .gitignore files leave out. At most 10000 entries a call; more are there if `next` is.";

pub(crate) fn tool(folder: &Folder) -> ToolDefinition {
    let folder = folder.clone();
    ToolDefinition::typed("list_dir", DESCRIPTION, move |args: ListDir, ctx| {
        let folder = folder.clone();
        work::blocking(ctx, move |signal| list(&folder, &args, signal))
    })
    .concurrency_safe(|_| true)
    .retry_safe()
    .render(|_, listing| render(listing))
    .presentation_meta(|_, listing| json!({"entries": entries(listing).len()}))
    .present_call(|args| {
        let title = format!("List {}", args.path);
        Some(cards::call(CallKind::Read, title, &args.path, None))
    })
    .present_result(|args, outcome| {
        Some(cards::result(outcome, |meta| {
            let entries = meta.get("entries")?.as_i64()?;
            Some(format!("List {} ({})", args.path, cards::count(entries, "entry", "entries")))
        }))
    })
    .build()
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ListDir {
    /// Folder, relative to the root folder; "." is the root folder.
    path: String,
    /// Also list what is in subfolders. Symlinks are listed, not followed. Default false.
    #[serde(default)]
    recursive: bool,
    /// With recursive: do not leave out .git and what .gitignore files name. Default false.
    #[serde(default)]
    include_ignored: bool,
    /// Only entries that match, for example "*.rs" (name, in any subfolder) or "src/**/*.rs" (path below `path`).
    #[serde(default)]
    #[schemars(with = "String")]
    glob: Option<String>,
    /// Most entries to return, 1 to 10000.
    #[serde(default)]
    #[schemars(with = "u32", range(min = 1, max = MAX_ENTRIES))]
    limit: Option<u32>,
    /// `next` of the previous result, to go on from there.
    #[serde(default)]
    #[schemars(with = "String")]
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
struct Listing {
    entries: Vec<Entry>,
    /// Subfolders that could not be listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unreadable: Vec<String>,
    /// There are more entries: pass it as `cursor`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    next: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
struct Entry {
    /// Relative to the root folder, as the other tools take it.
    path: String,
    name: String,
    kind: Kind,
    /// Size of a file; 0 for anything else.
    bytes: u64,
}

fn list(folder: &Folder, args: &ListDir, signal: &Signal) -> Result<Listing, FolderError> {
    let start = Place::parse(&args.path)?;
    let depth = match (args.recursive, args.include_ignored) {
        (false, _) => Depth::Flat,
        (true, true) => Depth::Everything,
        (true, false) => Depth::Tracked,
    };
    let filter = args.glob.as_deref().map(Filter::new).transpose()?;
    let depth_name = format!("{depth:?}");
    let sealed = ["list_dir", start.as_str(), &depth_name, args.glob.as_deref().unwrap_or_default()];
    let from = args.cursor.as_deref().map(|text| Place::parse(cursor::open(text, &sealed)?)).transpose()?;
    let limit = args.limit.map_or(MAX_ENTRIES, |limit| limit as usize);

    let mut walk = Walk::new(folder, signal, &start, depth, from)?;
    let mut sizes = Sizes { folder, open: None };
    let mut entries = Vec::new();
    let mut next = None;
    while let Some(found) = walk.next()? {
        // A cursor is the first place that was not returned.
        if walk.is_spent() {
            next = Some(cursor::seal(found.place.as_str(), &sealed));
            break;
        }
        if filter.as_ref().is_some_and(|filter| !filter.takes(&found, &start)) {
            continue;
        }
        if entries.len() == limit {
            next = Some(cursor::seal(found.place.as_str(), &sealed));
            break;
        }
        entries.push(Entry {
            path: found.place.to_string(),
            bytes: sizes.of(&found),
            name: found.name,
            kind: found.kind,
        });
    }
    Ok(Listing { entries, unreadable: walk.unreadable().iter().map(Place::to_string).collect(), next })
}

/// Looks up the sizes of entries that are returned, and of no others: a folder may have a thousand times more
/// of them than a page.
struct Sizes<'a> {
    folder: &'a Folder,
    /// The folder of the last entry, as the next one is mostly in it too.
    open: Option<(Place, Dir)>,
}

impl Sizes<'_> {
    /// The size of a file, else 0; also if the file is gone meanwhile.
    fn of(&mut self, found: &Found) -> u64 {
        if found.kind != Kind::File {
            return 0;
        }
        let parent = found.place.parent();
        if self.open.as_ref().is_none_or(|(place, _)| *place != parent) {
            self.open = self.folder.open_dir(&parent, Links::Follow).ok().map(|dir| (parent, dir));
        }
        let metadata = self.open.as_ref().and_then(|(_, dir)| dir.symlink_metadata(&found.name).ok());
        metadata.map_or(0, |metadata| metadata.len())
    }
}

/// Which entries a glob takes: by name if it has no `/`, else by the path below the folder that is
/// walked.
pub(crate) struct Filter {
    matcher: GlobMatcher,
    by_name: bool,
}

impl Filter {
    pub(crate) fn new(glob: &str) -> Result<Self, FolderError> {
        let built = GlobBuilder::new(glob).literal_separator(true).build();
        let matcher = built
            .map_err(|error| FolderError::Glob { glob: glob.to_owned(), reason: error.kind().to_string() })?;
        Ok(Self { matcher: matcher.compile_matcher(), by_name: !glob.contains('/') })
    }

    pub(crate) fn takes(&self, found: &Found, start: &Place) -> bool {
        if self.by_name {
            self.matcher.is_match(&found.name)
        } else {
            self.matcher.is_match(found.place.below(start))
        }
    }
}

fn entries(listing: &Json) -> &[Json] {
    listing.get("entries").and_then(Json::as_array).map_or(&[][..], |entries| entries)
}

/// For a model that called the tool itself: one entry a line, folders with `/`, links with `@`.
fn render(listing: &Json) -> String {
    let mut lines: Vec<String> = entries(listing)
        .iter()
        .map(|entry| {
            let text = |key| entry.get(key).and_then(Json::as_str).unwrap_or_default();
            match text("kind") {
                "dir" => format!("{}/", text("path")),
                "symlink" => format!("{}@", text("path")),
                _ => {
                    let bytes = entry.get("bytes").and_then(Json::as_i64).unwrap_or_default();
                    format!("{}  {bytes}", text("path"))
                }
            }
        })
        .collect();
    if lines.is_empty() {
        lines.push("(nothing)".to_owned());
    }
    if let Some(next) = listing.get("next").and_then(Json::as_str) {
        lines.push(format!("(more: cursor {next:?})"));
    }
    lines.join("\n")
}
