//! No path leads out of the folder.

use std::{
    fs,
    os::unix::fs::symlink,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use code_mode_schema::json;
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::support::{Bench, each_tool};

#[test]
fn path_that_goes_up_is_refused_by_every_tool() {
    let bench = Bench::new(&[("a/b.txt", b"b")]);
    for path in ["..", "../outside", "../outside/secret.txt", "a/../../outside/secret.txt", "a/../../root"] {
        for (tool, args) in each_tool(path) {
            let error = bench.error(tool, args);
            assert!(
                error.starts_with(&format!("{path:?} leads out of the folder")),
                "{tool} {path}: {error}"
            );
        }
    }
    assert_eq!(fs::read_to_string(bench.outside("secret.txt")).unwrap(), "secret");
}

#[test]
fn absolute_path_is_refused_by_every_tool() {
    let bench = Bench::new(&[("a.txt", b"a")]);
    let inside = bench.inside("a.txt");
    for path in ["/etc/passwd", "/", inside.to_str().unwrap()] {
        for (tool, args) in each_tool(path) {
            let error = bench.error(tool, args);
            // A folder is refused as such before anything else is looked at.
            let refused = error.contains("is absolute") || error.contains("is a folder");
            assert!(refused, "{tool} {path}: {error}");
        }
    }
}

#[test]
fn symlink_out_is_refused_by_every_tool() {
    let bench = Bench::new(&[("a.txt", b"a")]);
    let outside = bench.outside("");
    symlink(&outside, bench.inside("absolute")).unwrap();
    symlink("../outside", bench.inside("relative")).unwrap();
    symlink("../outside/secret.txt", bench.inside("file")).unwrap();
    symlink("../outside/new.txt", bench.inside("dangling")).unwrap();
    symlink("relative", bench.inside("chain")).unwrap();
    for path in [
        "absolute",
        "relative",
        "file",
        "chain",
        "dangling",
        "absolute/secret.txt",
        "relative/secret.txt",
        "relative/new/deep.txt",
        "chain/secret.txt",
    ] {
        for (tool, args) in each_tool(path) {
            let error = bench.error(tool, args);
            assert!(error.contains("leads out of the folder"), "{tool} {path}: {error}");
        }
    }
    let outside: Vec<_> = fs::read_dir(outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(outside, ["secret.txt"]);
    assert_eq!(fs::read_to_string(bench.outside("secret.txt")).unwrap(), "secret");
}

#[test]
fn walk_does_not_follow_symlinks() {
    let bench = Bench::new(&[("dir/a.txt", b"here")]);
    symlink("../outside", bench.inside("out")).unwrap();
    symlink(".", bench.inside("loop")).unwrap();
    let listing = bench.value("list_dir", json!({"path": ".", "recursive": true}));
    assert_eq!(crate::support::field(&listing, "entries", "path"), ["dir", "dir/a.txt", "loop", "out"]);
    let found = bench.value("search_text", json!({"pattern": "here|secret"}));
    assert_eq!(crate::support::field(&found, "matches", "path"), ["dir/a.txt"]);
}

#[test]
fn symlink_that_stays_inside_is_followed() {
    let bench = Bench::new(&[("dir/a.txt", b"a")]);
    symlink("dir", bench.inside("link")).unwrap();
    symlink("dir/a.txt", bench.inside("file")).unwrap();
    assert_eq!(bench.value("read_file", json!({"path": "link/a.txt"})).get("text"), Some(&json!("a")));
    assert_eq!(bench.value("read_file", json!({"path": "link/../file"})).get("text"), Some(&json!("a")));
    bench.value("write_file", json!({"path": "file", "content": "b", "mode": "replace"}));
    assert_eq!(fs::read_to_string(bench.inside("dir/a.txt")).unwrap(), "b");
    assert!(bench.inside("file").is_symlink());
}

/// A folder on the way and a symlink that leads out change places, again and again, while calls go
/// through. Whatever the calls meet, they never meet what is outside.
#[test]
fn symlink_swapped_in_during_a_call_does_not_lead_out() {
    const EACH_WAY: usize = 100;
    let bench = Bench::new(&[("swap/secret.txt", b"decoy")]);
    let (swap, out) = (bench.inside("swap"), bench.inside("out"));
    symlink("../outside", &out).unwrap();
    let is_over = AtomicBool::new(false);
    let (mut refused, mut passed) = (0, 0);
    thread::scope(|scope| {
        // Ends the swapping also where an assertion fails.
        let _over = Over(&is_over);
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                renameat_with(CWD, &swap, CWD, &out, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let mut round = 0;
        while refused < EACH_WAY || passed < EACH_WAY {
            round += 1;
            let mut calls = vec![
                ("read_file", json!({"path": "swap/secret.txt"})),
                ("search_text", json!({"path": "swap", "pattern": "secret"})),
                ("list_dir", json!({"path": "swap", "recursive": true})),
            ];
            for mode in ["create", "replace", "append"] {
                for path in [format!("swap/{mode}-{round}.txt"), format!("swap/{mode}/{round}.txt")] {
                    calls.push(("write_file", json!({"path": path, "content": "x", "mode": mode})));
                }
            }
            for (tool, args) in calls {
                let result = bench.result(tool, args);
                if result.is_error() {
                    refused += 1;
                } else {
                    passed += 1;
                }
                if tool != "list_dir" {
                    assert!(!result.text().ends_with("secret"), "{tool}: {}", result.text());
                }
            }
        }
    });
    let outside: Vec<_> =
        fs::read_dir(bench.outside("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(outside, ["secret.txt"]);
    assert_eq!(fs::read_to_string(bench.outside("secret.txt")).unwrap(), "secret");
}

struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn renamed_folder_stays_the_one_that_was_opened() {
    let bench = Bench::new(&[("a.txt", b"a")]);
    let root = bench.inside("");
    fs::rename(&root, root.with_file_name("moved")).unwrap();
    fs::create_dir(&root).unwrap();
    assert_eq!(bench.value("read_file", json!({"path": "a.txt"})).get("text"), Some(&json!("a")));
}
