//! The behaviour of the four tools, called as a host calls them. One binary, because each costs a link.
#![expect(clippy::unwrap_used, reason = "also helpers of tests fail by panicking")]

mod support;

mod confinement;

mod list_dir;

mod read_file;

mod search_text;

mod write_file;

mod calls;
