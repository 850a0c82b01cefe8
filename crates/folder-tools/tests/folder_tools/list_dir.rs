//! `list_dir`.

use std::os::unix::{fs::symlink, net::UnixListener};

use code_mode_schema::{Json, json};

use crate::support::{Bench, field};

#[test]
fn folder_is_listed_with_everything_that_is_in_it() {
    let bench = Bench::new(&[(".git/HEAD", b"x"), (".gitignore", b"b.txt"), ("b.txt", b"four")]);
    symlink("b.txt", bench.inside("link")).unwrap();
    let _socket = UnixListener::bind(bench.inside("socket")).unwrap();
    let entry = |name: &str, kind: &str, bytes: u32| json!({"path": name, "name": name, "kind": kind, "bytes": bytes});
    assert_eq!(
        bench.value("list_dir", json!({"path": "."})),
        json!({"entries": [
            entry(".git", "dir", 0),
            entry(".gitignore", "file", 5),
            entry("b.txt", "file", 4),
            entry("link", "symlink", 0),
            entry("socket", "other", 0),
        ]})
    );
    assert_eq!(
        bench.value("list_dir", json!({"path": ".git/"})),
        json!({"entries": [{"path": ".git/HEAD", "name": "HEAD", "kind": "file", "bytes": 1}]})
    );
}

#[test]
fn native_caller_reads_one_entry_a_line() {
    let bench = Bench::new(&[("a/b", b""), ("c.txt", b"four")]);
    assert_eq!(bench.result("list_dir", json!({"path": "."})).text(), "a/\nc.txt  4");
    let first = bench.result("list_dir", json!({"path": ".", "limit": 1}));
    assert!(first.text().starts_with("a/\n(more: cursor \"c.txt#"), "{}", first.text());
    let nothing = bench.result("list_dir", json!({"path": ".", "glob": "*.rs"}));
    assert_eq!(nothing.text(), "(nothing)");
}

#[test]
fn pages_have_every_entry_once() {
    let names: Vec<String> = (0..23).map(|n| format!("d{}/f{n}.txt", n % 4)).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    let bench = Bench::new(&files);
    let all = bench.value("list_dir", json!({"path": ".", "recursive": true}));
    assert_eq!(field(&all, "entries", "path").len(), 27);
    for limit in [1, 2, 5, 26] {
        let mut paths = Vec::new();
        let mut args = json!({"path": ".", "recursive": true, "limit": limit});
        loop {
            let page = bench.value("list_dir", args);
            paths.extend(field(&page, "entries", "path"));
            let Some(next) = page.get("next").and_then(Json::as_str) else { break };
            args = json!({"path": ".", "recursive": true, "limit": limit, "cursor": next});
        }
        assert_eq!(paths, field(&all, "entries", "path"), "limit {limit}");
    }
}

#[test]
fn glob_takes_names_or_paths_below() {
    let bench = Bench::new(&[("a/src/x.rs", b""), ("a/src/y.txt", b""), ("a/x.rs", b""), ("x.rs", b"")]);
    let paths = |path: &str, glob: &str| {
        let args = json!({"path": path, "recursive": true, "glob": glob});
        field(&bench.value("list_dir", args), "entries", "path")
    };
    assert_eq!(paths(".", "*.rs"), ["a/src/x.rs", "a/x.rs", "x.rs"]);
    assert_eq!(paths("a", "src/*"), ["a/src/x.rs", "a/src/y.txt"]);
    assert_eq!(paths(".", "*/*.rs"), ["a/x.rs"]);
    assert_eq!(paths(".", "**/*.{rs,txt}").len(), 4);
}

#[test]
fn errors_say_what_where_and_what_to_do() {
    let bench = Bench::new(&[("a.txt", b"")]);
    let error = |args| bench.error("list_dir", args);
    assert_eq!(error(json!({"path": ""})), r#"path is empty: "." is the folder itself"#);
    assert_eq!(error(json!({"path": "x"})), r#""x" does not exist: list_dir shows what does"#);
    assert_eq!(
        error(json!({"path": "a.txt"})),
        r#""a.txt" is not a folder, or something on the way to it is not"#
    );
    assert_eq!(
        error(json!({"path": ".", "glob": "[a"})),
        r#"glob "[a" is not one: unclosed character class; missing ']'"#
    );
    assert_eq!(
        error(json!({"path": "a.txt/"})),
        r#""a.txt" is not a folder, or something on the way to it is not"#
    );
    assert!(error(json!({"path": ".", "limit": 0})).starts_with("invalid arguments: "));
    assert!(error(json!({"path": ".", "recurse": true})).starts_with("invalid arguments: "));
}

/// Each of these would otherwise be an empty page, or a page of another listing.
#[test]
fn cursor_that_no_such_call_gave_is_refused() {
    let bench = Bench::new(&[("a/b", b""), ("a/c", b""), ("d", b"")]);
    let refused = |args: Json| {
        let error = bench.error("list_dir", args);
        assert!(error.starts_with("cursor \""), "{error}");
        assert!(error.ends_with(
            "pass the `next` of the previous result unchanged, with the other arguments as they were"
        ));
    };
    for cursor in ["zzz", "d", "/x", "", "#", "d#12345678"] {
        refused(json!({"path": ".", "cursor": cursor}));
    }
    let page = bench.value("list_dir", json!({"path": ".", "recursive": true, "limit": 1}));
    let next = page.get("next").and_then(Json::as_str).unwrap();
    bench.value("list_dir", json!({"path": "./", "recursive": true, "limit": 7, "cursor": next}));
    refused(json!({"path": "a", "recursive": true, "cursor": next}));
    refused(json!({"path": ".", "cursor": next}));
    refused(json!({"path": ".", "recursive": true, "includeIgnored": true, "cursor": next}));
    refused(json!({"path": ".", "recursive": true, "glob": "*", "cursor": next}));
}

#[test]
fn cursor_of_an_entry_that_is_gone_goes_on_behind_it() {
    let bench = Bench::new(&[("a", b""), ("b", b"bb"), ("c", b"ccc")]);
    let page = bench.value("list_dir", json!({"path": ".", "limit": 1}));
    std::fs::remove_file(bench.inside("b")).unwrap();
    let next = page.get("next").and_then(Json::as_str).unwrap();
    assert_eq!(
        bench.value("list_dir", json!({"path": ".", "limit": 1, "cursor": next})),
        json!({"entries": [{"path": "c", "name": "c", "kind": "file", "bytes": 3}]})
    );
}

/// Names that are not UTF-8 look alike where they are not.
#[cfg(target_os = "linux")]
#[test]
fn entries_that_look_alike_are_one_and_pages_come_to_their_end() {
    use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt};

    let bench = Bench::new(&[("a", b""), ("x\u{fffd}", b"text"), ("z", b"")]);
    for name in [&b"x\xfe"[..], b"x\xff", b"b\xfe", b"b\xff"] {
        fs::write(bench.inside("").join(OsStr::from_bytes(name)), "").unwrap();
    }
    let mut paths = Vec::new();
    let mut args = json!({"path": ".", "limit": 1});
    for _ in 0..10 {
        let page = bench.value("list_dir", args);
        paths.extend(field(&page, "entries", "path"));
        let Some(next) = page.get("next").cloned() else { break };
        args = json!({"path": ".", "limit": 1, "cursor": next});
    }
    assert_eq!(paths, ["a", "b\u{fffd}", "x\u{fffd}", "z"]);
    // Of those the one that can be opened.
    let listed = bench.value("list_dir", json!({"path": ".", "glob": "x*"}));
    assert_eq!(listed.get("entries").unwrap().index(0).unwrap().get("bytes"), Some(&json!(4)));
}
