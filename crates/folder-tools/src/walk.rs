//! What is in a folder, in path order: the order that makes the end of a page a place to go on from.
//!
//! A walk that goes on from a place lists the folders which that place is in, and none of those before it.

use std::vec;

use cap_std::fs::FileType;
use code_mode_registry::Signal;
use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    error::FolderError,
    folder::{Folder, Links, Place},
    text,
    work::check,
};

/// The most entries a folder may have of its own; they are sorted in memory.
pub(crate) const MAX_FOLDER_ENTRIES: usize = 100_000;

/// The most entries that one call looks at.
pub(crate) const MAX_VISITED: usize = 200_000;

/// A walk over what is in a folder. Symlinks are found, not followed. A folder comes before what is
/// in it; siblings come in the order of their names' bytes.
pub(crate) struct Walk<'a> {
    folder: &'a Folder,
    signal: &'a Signal,
    depth: Depth,
    /// The first place that counts; what comes before it is passed over.
    from: Option<Place>,
    /// The folders that the next entry is in, outermost first.
    levels: Vec<Level>,
    /// The ignore files that apply there, outermost first.
    ignore_files: Vec<IgnoreFile>,
    visited: usize,
    unreadable: Vec<Place>,
    /// How many folders and how many of their entries were looked at.
    #[cfg(test)]
    looked_at: (usize, usize),
}

/// How far a walk goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The folder's own entries, all of them.
    Flat,
    /// Everything below.
    Everything,
    /// Everything below but `.git` and what `.gitignore` files leave out.
    Tracked,
}

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) place: Place,
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    File,
    Dir,
    Symlink,
    Other,
}

/// What is in one folder.
struct Listed {
    entries: Vec<Found>,
    has_ignore_file: bool,
}

struct Level {
    rest: vec::IntoIter<Found>,
    /// How many ignore files apply outside.
    outer_ignore_files: usize,
}

struct IgnoreFile {
    /// The folder it lies in.
    place: Place,
    rules: Gitignore,
}

impl<'a> Walk<'a> {
    /// A walk over the folder at `start`, which a symlink may stand for, from the place `from` on.
    pub(crate) fn new(
        folder: &'a Folder,
        signal: &'a Signal,
        start: &Place,
        depth: Depth,
        from: Option<Place>,
    ) -> Result<Self, FolderError> {
        let mut walk = Self {
            folder,
            signal,
            depth,
            from,
            levels: Vec::new(),
            ignore_files: Vec::new(),
            visited: 0,
            unreadable: Vec::new(),
            #[cfg(test)]
            looked_at: (0, 0),
        };
        if depth == Depth::Tracked {
            for above in start.parents() {
                walk.add_ignore_file(&above)?;
            }
        }
        walk.enter(start, Links::Follow)?;
        Ok(walk)
    }

    /// The next entry; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Found>, FolderError> {
        while let Some(level) = self.levels.last_mut() {
            check(self.signal)?;
            let Some(found) = level.rest.next() else {
                self.ignore_files.truncate(level.outer_ignore_files);
                self.levels.pop();
                continue;
            };
            let counts = self.counts(&found.place);
            if self.is_left_out(&found) {
                self.visited += usize::from(counts);
                continue;
            }
            let leads_there = || self.from.as_ref().is_some_and(|from| from.is_in(&found.place));
            let descends = self.depth != Depth::Flat && found.kind == Kind::Dir;
            if descends && (counts || leads_there()) {
                match self.enter(&found.place, Links::Refuse) {
                    Ok(()) => {}
                    Err(error @ (FolderError::Aborted | FolderError::TooManyEntries { .. })) => {
                        return Err(error);
                    }
                    // Gone meanwhile, or not ours to read: no reason to fail the rest.
                    Err(_) => self.unreadable.push(found.place.clone()),
                }
            }
            if counts {
                self.visited += 1;
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Whether the call has looked at as many entries as it may; the last one no longer counts.
    pub(crate) fn is_spent(&self) -> bool {
        self.visited > MAX_VISITED
    }

    /// Folders on the way that could not be listed.
    pub(crate) fn unreadable(&self) -> &[Place] {
        &self.unreadable
    }

    fn counts(&self, place: &Place) -> bool {
        self.from.as_ref().is_none_or(|from| place >= from)
    }

    /// Makes the entries of a folder the next ones.
    fn enter(&mut self, place: &Place, links: Links) -> Result<(), FolderError> {
        let Listed { entries, has_ignore_file } = self.entries(place, links)?;
        #[cfg(test)]
        {
            self.looked_at = (self.looked_at.0 + 1, self.looked_at.1 + entries.len());
        }
        let outer_ignore_files = self.ignore_files.len();
        if self.depth == Depth::Tracked && has_ignore_file {
            self.add_ignore_file(place)?;
        }
        self.levels.push(Level { rest: entries.into_iter(), outer_ignore_files });
        Ok(())
    }

    /// The entries of one folder, in order, without those that the walk passes over.
    fn entries(&self, place: &Place, links: Links) -> Result<Listed, FolderError> {
        let from = self.from.as_ref().filter(|from| from.is_in(place));
        let first_name = from.and_then(|from| from.below(place).split('/').next());
        let failed = |source| FolderError::from_io("list", place.as_str(), source);
        let dir = self.folder.open_dir(place, links)?;
        let mut entries = Vec::new();
        let mut has_ignore_file = false;
        let mut seen = 0;
        for entry in dir.entries().map_err(failed)? {
            check(self.signal)?;
            let entry = entry.map_err(failed)?;
            seen += 1;
            if seen > MAX_FOLDER_ENTRIES {
                return Err(FolderError::TooManyEntries {
                    path: place.to_string(),
                    limit: MAX_FOLDER_ENTRIES,
                });
            }
            let name = entry.file_name();
            let is_exact = name.to_str().is_some();
            let name = name.to_string_lossy().into_owned();
            has_ignore_file |= name == GITIGNORE;
            if first_name.is_some_and(|first| *name < *first) {
                continue;
            }
            // What is gone meanwhile is not there.
            let Ok(file_type) = entry.file_type() else {
                continue;
            };
            let found = Found { place: place.join(&name), name, kind: Kind::from(file_type) };
            entries.push((found, is_exact));
        }
        entries.sort_unstable_by(|(left, is_left_exact), (right, is_right_exact)| {
            left.name.cmp(&right.name).then(is_right_exact.cmp(is_left_exact))
        });
        // Names that are not UTF-8 may look alike. A place stands for one entry, the one that can be opened if
        // there is one, or a page that ends between two of them would never come to its end.
        entries.dedup_by(|(later, _), (first, _)| later.name == first.name);
        let entries = entries.into_iter().map(|(found, _)| found).collect();
        Ok(Listed { entries, has_ignore_file })
    }

    fn is_left_out(&self, found: &Found) -> bool {
        if self.depth != Depth::Tracked {
            return false;
        }
        let verdict = self.ignore_files.iter().rev().find_map(|file| {
            let below = found.place.below(&file.place);
            match file.rules.matched(below, found.kind == Kind::Dir) {
                Match::None => None,
                Match::Ignore(_) => Some(true),
                Match::Whitelist(_) => Some(false),
            }
        });
        found.name == ".git" || verdict.unwrap_or(false)
    }

    /// Adds the rules of the ignore file in a folder, if there is one that can be read.
    fn add_ignore_file(&mut self, place: &Place) -> Result<(), FolderError> {
        let text = match text::read(self.folder, &place.join(GITIGNORE), self.signal) {
            Ok(text) if text.len() <= MAX_IGNORE_FILE_BYTES => text,
            Err(FolderError::Aborted) => return Err(FolderError::Aborted),
            Ok(_) | Err(_) => return Ok(()),
        };
        let mut rules = GitignoreBuilder::new("");
        for line in text.lines() {
            // As Git does, a line that is no pattern is passed over.
            let _ = rules.add_line(None, line);
        }
        if let Ok(rules) = rules.build() {
            self.ignore_files.push(IgnoreFile { place: place.clone(), rules });
        }
        Ok(())
    }
}

const GITIGNORE: &str = ".gitignore";

/// Larger ignore files are passed over: their rules would cost more than what they spare.
const MAX_IGNORE_FILE_BYTES: usize = 256 << 10;

impl From<FileType> for Kind {
    fn from(file_type: FileType) -> Self {
        if file_type.is_file() {
            Self::File
        } else if file_type.is_dir() {
            Self::Dir
        } else if file_type.is_symlink() {
            Self::Symlink
        } else {
            Self::Other
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use code_mode_registry::SignalSource;
    use tempfile::TempDir;

    use super::*;

    /// A folder of these files; a name that ends in `/` is an empty folder.
    fn folder_of(files: &[(&str, &str)]) -> (TempDir, Folder) {
        let temp = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = temp.path().join(name);
            if name.ends_with('/') {
                fs::create_dir_all(path).unwrap();
            } else {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
        }
        let folder = Folder::open(temp.path()).unwrap();
        (temp, folder)
    }

    fn walked(folder: &Folder, start: &str, depth: Depth, from: Option<&str>) -> Vec<String> {
        let start = Place::parse(start).unwrap();
        let from = from.map(|from| Place::parse(from).unwrap());
        let signal = Signal::never();
        let mut walk = Walk::new(folder, &signal, &start, depth, from).unwrap();
        let mut places = Vec::new();
        while let Some(found) = walk.next().unwrap() {
            places.push(found.place.to_string());
        }
        places
    }

    #[test]
    fn walk_goes_in_path_order_and_goes_on_from_any_place() {
        let (_temp, folder) =
            folder_of(&[("a/b/c", ""), ("a/b.x", ""), ("a.txt", ""), ("a-", ""), ("z/", "")]);
        let all = ["a", "a/b", "a/b/c", "a/b.x", "a-", "a.txt", "z"];
        assert_eq!(walked(&folder, ".", Depth::Everything, None), all);
        for (index, from) in all.iter().enumerate() {
            assert_eq!(walked(&folder, ".", Depth::Everything, Some(from)), all[index..], "from {from}");
        }
        // Places that are gone, or were never there.
        assert_eq!(walked(&folder, ".", Depth::Everything, Some("a/b/a/x")), all[2..]);
        assert_eq!(walked(&folder, ".", Depth::Everything, Some("b")), all[6..]);
    }

    /// A page costs the folders that its cursor is in and the entries from there on, not all before it.
    #[test]
    fn walk_that_goes_on_looks_at_no_folder_before_its_place() {
        let names: Vec<String> = (10..40).flat_map(|d| (10..30).map(move |f| format!("d{d}/f{f}"))).collect();
        let files: Vec<(&str, &str)> =
            names.iter().map(|name| (name.as_str(), "")).chain([(".gitignore", "f29\n")]).collect();
        let (_temp, folder) = folder_of(&files);
        let signal = Signal::never();
        let start = Place::parse(".").unwrap();
        let looked_at = |from: &str| {
            let from = Place::parse(from).unwrap();
            let mut walk = Walk::new(&folder, &signal, &start, Depth::Tracked, Some(from)).unwrap();
            let first = walk.next().unwrap().unwrap();
            (first.place.to_string(), walk.looked_at)
        };
        // The root folder without what comes before, and `d38` without what comes before.
        assert_eq!(looked_at("d38/f25"), ("d38/f25".to_owned(), (2, 2 + 5)));
        assert_eq!(looked_at("d11/f10"), ("d11/f10".to_owned(), (2, 29 + 20)));
        // The ignore file comes before the place and holds all the same.
        assert_eq!(walked(&folder, ".", Depth::Tracked, Some("d39/f27")), ["d39/f27", "d39/f28"]);
    }

    #[test]
    fn flat_walk_finds_the_entries_of_the_folder_only() {
        let (_temp, folder) =
            folder_of(&[(".git/config", ""), (".hidden", ""), ("a/b", ""), (".gitignore", "a\n")]);
        assert_eq!(walked(&folder, ".", Depth::Flat, None), [".git", ".gitignore", ".hidden", "a"]);
        assert_eq!(walked(&folder, "a", Depth::Flat, None), ["a/b"]);
    }

    #[test]
    fn tracked_walk_leaves_out_what_ignore_files_say() {
        let (_temp, folder) = folder_of(&[
            (".git/config", ""),
            (".gitignore", "/target\n*.log\n!keep.log\n"),
            ("sub/.gitignore", "/made\n!wanted.log\n"),
            ("sub/made/x", ""),
            ("sub/target/x", ""),
            ("sub/other.log", ""),
            ("sub/wanted.log", ""),
            ("sub/deep/wanted.log", ""),
            ("target/x", ""),
            ("x.log", ""),
            ("keep.log", ""),
        ]);
        let tracked = [
            ".gitignore",
            "keep.log",
            "sub",
            "sub/.gitignore",
            "sub/deep",
            "sub/deep/wanted.log",
            "sub/target",
            "sub/target/x",
            "sub/wanted.log",
        ];
        assert_eq!(walked(&folder, ".", Depth::Tracked, None), tracked);
        // The rules of the folders above hold in a walk that starts below, too.
        assert_eq!(walked(&folder, "./sub", Depth::Tracked, None), tracked[3..]);
        // A folder that is named is walked, whatever an ignore file says.
        assert_eq!(walked(&folder, "target", Depth::Tracked, None), ["target/x"]);
        assert_eq!(walked(&folder, ".", Depth::Everything, None).len(), 17);
    }

    #[test]
    fn cancellation_stops_the_walk() {
        let (_temp, folder) = folder_of(&[("a", ""), ("b", "")]);
        let source = SignalSource::new();
        let signal = source.signal();
        let start = Place::parse(".").unwrap();
        let mut walk = Walk::new(&folder, &signal, &start, Depth::Flat, None).unwrap();
        assert_eq!(walk.next().unwrap().unwrap().name, "a");
        source.cancel("enough");
        assert!(matches!(walk.next(), Err(FolderError::Aborted)));
        assert!(matches!(Walk::new(&folder, &signal, &start, Depth::Flat, None), Err(FolderError::Aborted)));
    }
}
