//! The folder: the handle that every path is resolved against, and the tools over it.

use std::{
    cmp::Ordering,
    fmt, io,
    path::{Component, Path},
    sync::Arc,
};

use cap_fs_ext::{DirExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use code_mode_registry::{RegisterError, Registration, ToolDefinition, ToolRegistry};

use crate::{error::FolderError, list_dir, read_file, search_text, write_file};

/// One folder and everything below it. Clones share the handle, which stays on the same folder
/// also when that is renamed.
#[derive(Clone)]
pub struct Folder(Arc<Dir>);

impl Folder {
    /// Opens a folder, following symlinks on the way to it.
    ///
    /// # Errors
    /// If `path` is no folder, or may not be read.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let dir = Dir::open_ambient_dir(path, cap_std::ambient_authority())?;
        // Opening says nothing about reading on every system.
        dir.entries()?;
        Ok(Self(Arc::new(dir)))
    }

    /// The four tools: `list_dir`, `read_file`, `search_text`, which may run beside others, and
    /// `write_file`, which is exclusive.
    #[must_use]
    pub fn tools(&self) -> [ToolDefinition; 4] {
        [list_dir::tool(self), read_file::tool(self), search_text::tool(self), write_file::tool(self)]
    }

    /// Registers the four tools for every agent.
    ///
    /// # Errors
    /// If one of the names is taken; none of the tools is registered then.
    pub fn register(&self, registry: &ToolRegistry) -> Result<Registration, RegisterError> {
        let mut registrations = Registration::default();
        for tool in self.tools() {
            registrations = registrations.and(registry.register(tool)?);
        }
        Ok(registrations)
    }

    pub(crate) fn dir(&self) -> &Dir {
        &self.0
    }

    /// Opens a regular file for reading.
    pub(crate) fn open_file(&self, place: &Place) -> Result<File, FolderError> {
        let mut options = OpenOptions::new();
        // Without it, opening a pipe waits for whoever writes into it.
        options.read(true).nonblock(true);
        let failed = |source| FolderError::from_io("read", place.as_str(), source);
        let file = self.0.open_with(place.as_path(), &options).map_err(failed)?;
        require_file(&file.metadata().map_err(failed)?, place)?;
        Ok(file)
    }

    /// Opens a folder; `Links::Refuse` if a symlink may not stand for it.
    pub(crate) fn open_dir(&self, place: &Place, links: Links) -> Result<Dir, FolderError> {
        let dir = match links {
            Links::Follow => self.0.open_dir(place.as_path()),
            Links::Refuse => self.0.open_dir_nofollow(place.as_path()),
        };
        dir.map_err(|source| FolderError::from_io("list", place.as_str(), source))
    }

    /// What is at a place, symlinks followed.
    pub(crate) fn metadata(&self, place: &Place) -> Result<Metadata, FolderError> {
        self.0
            .metadata(place.as_path())
            .map_err(|source| FolderError::from_io("look at", place.as_str(), source))
    }
}

impl fmt::Debug for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Folder")
    }
}

/// What to do about a symlink at the end of a path.
#[derive(Clone, Copy)]
pub(crate) enum Links {
    Follow,
    Refuse,
}

/// Says that something is a regular file.
pub(crate) fn require_file(metadata: &Metadata, place: &Place) -> Result<(), FolderError> {
    let path = || place.as_str().to_owned();
    if metadata.is_file() {
        Ok(())
    } else if metadata.is_dir() {
        Err(FolderError::IsFolder { path: path() })
    } else {
        Err(FolderError::Special { path: path() })
    }
}

/// A path relative to the folder, with `/` between its parts and without `.` ones. The text is all
/// that was looked at: where it leads is found out when it is opened.
///
/// Places are ordered part by part: a folder, what is in it, then its next sibling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place(String);

impl Place {
    /// The place that a call names.
    pub(crate) fn parse(path: &str) -> Result<Self, FolderError> {
        if path.is_empty() {
            return Err(FolderError::EmptyPath);
        }
        let mut place = Self(String::new());
        for component in Path::new(path).components() {
            match component {
                Component::CurDir => {}
                Component::ParentDir => place = place.join(".."),
                Component::Normal(name) => place = place.join(&name.to_string_lossy()),
                Component::Prefix(_) | Component::RootDir => {
                    return Err(FolderError::Absolute { path: path.to_owned() });
                }
            }
        }
        Ok(place)
    }

    /// The place of a file that a call names. Only a folder's path may end in `/` or in `.`, and those are
    /// not part of a place.
    pub(crate) fn parse_file(path: &str) -> Result<Self, FolderError> {
        let place = Self::parse(path)?;
        if place.0.is_empty() {
            return Err(FolderError::IsFolder { path: path.to_owned() });
        }
        if path.ends_with('/') || path.ends_with("/.") {
            return Err(FolderError::FolderPath { path: path.to_owned() });
        }
        Ok(place)
    }

    /// A place in the folder at this one.
    pub(crate) fn join(&self, name: &str) -> Self {
        if self.0.is_empty() { Self(name.to_owned()) } else { Self(format!("{}/{name}", self.0)) }
    }

    /// The part of the path below `base`, which this place is in.
    pub(crate) fn below(&self, base: &Place) -> &str {
        let rest = self.0.strip_prefix(&base.0).unwrap_or(&self.0);
        rest.trim_start_matches('/')
    }

    /// Whether this place is below `other`.
    pub(crate) fn is_in(&self, other: &Place) -> bool {
        let rest = self.0.strip_prefix(&other.0);
        rest.is_some_and(|rest| rest.starts_with('/') || other.0.is_empty() && !rest.is_empty())
    }

    /// The folder that an entry found in a walk is in.
    pub(crate) fn parent(&self) -> Self {
        Self(self.0.rsplit_once('/').map_or("", |(parent, _)| parent).to_owned())
    }

    /// The folders that the place is in, outermost first; none if it goes up on the way.
    pub(crate) fn parents(&self) -> Vec<Place> {
        let parts: Vec<&str> = self.0.split('/').filter(|part| !part.is_empty()).collect();
        if parts.contains(&"..") {
            return Vec::new();
        }
        (0..parts.len()).map(|length| Self(parts[..length].join("/"))).collect()
    }

    pub(crate) fn as_str(&self) -> &str {
        if self.0.is_empty() { "." } else { &self.0 }
    }

    pub(crate) fn as_path(&self) -> &Path {
        Path::new(self.as_str())
    }
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.split('/').cmp(other.0.split('/'))
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, place: &str) {
        assert_eq!(Place::parse(path).unwrap().as_str(), place);
    }

    #[test]
    fn place_drops_what_says_nothing() {
        check(".", ".");
        check("./", ".");
        check("./a//b/./c/", "a/b/c");
        check("a/../b", "a/../b");
        check("..", "..");
        check("..a/b..", "..a/b..");
    }

    #[test]
    fn empty_and_absolute_paths_are_refused() {
        assert!(matches!(Place::parse(""), Err(FolderError::EmptyPath)));
        assert!(matches!(
            Place::parse("/etc/passwd"),
            Err(FolderError::Absolute { path }) if path == "/etc/passwd"
        ));
    }

    #[test]
    fn path_of_a_file_does_not_end_like_that_of_a_folder() {
        assert_eq!(Place::parse_file("./a/b.txt").unwrap().as_str(), "a/b.txt");
        assert_eq!(Place::parse_file("a/.b").unwrap().as_str(), "a/.b");
        for path in ["a.txt/", "a.txt//", "a.txt/.", "a/./"] {
            assert!(matches!(Place::parse_file(path), Err(FolderError::FolderPath { .. })), "{path}");
        }
        for path in [".", "./", "./."] {
            assert!(matches!(Place::parse_file(path), Err(FolderError::IsFolder { .. })), "{path}");
        }
    }

    #[test]
    fn place_knows_its_part_below_another() {
        let root = Place::parse(".").unwrap();
        let file = root.join("a").join("b.txt");
        assert_eq!(file.below(&root), "a/b.txt");
        assert_eq!(file.below(&root.join("a")), "b.txt");
        assert!(file.is_in(&root) && file.is_in(&root.join("a")));
        assert!(!file.is_in(&file) && !root.is_in(&root) && !root.join("ab").is_in(&root.join("a")));
    }

    #[test]
    fn parents_are_named_only_where_the_path_does_not_go_up() {
        let parents = |path| -> Vec<String> {
            let parents = Place::parse(path).unwrap().parents();
            parents.iter().map(Place::to_string).collect()
        };
        assert_eq!(parents("a/b/c"), [".", "a", "a/b"]);
        assert!(parents(".").is_empty());
        assert!(parents("a/../b").is_empty());
    }
}
