//! `write_file`.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
};

use code_mode_registry::{SignalSource, ToolCall};
use code_mode_schema::json;

use crate::support::Bench;

#[test]
fn modes_create_replace_and_append() {
    let bench = Bench::new(&[]);
    let write = |content: &str, mode: &str| {
        bench.value("write_file", json!({"path": "a/b.txt", "content": content, "mode": mode}))
    };
    let text = || fs::read_to_string(bench.inside("a/b.txt")).unwrap();
    assert_eq!(
        bench.value("write_file", json!({"path": "a/b.txt", "content": "one\n"})),
        json!({"path": "a/b.txt", "bytes": 4})
    );
    assert_eq!(write("two\n", "append"), json!({"path": "a/b.txt", "bytes": 8}));
    assert_eq!(text(), "one\ntwo\n");
    assert_eq!(write("é", "replace"), json!({"path": "a/b.txt", "bytes": 2}));
    assert_eq!(text(), "é");
    assert_eq!(
        bench.error("write_file", json!({"path": "a/b.txt", "content": ""})),
        r#""a/b.txt" exists already: mode "replace" overwrites it, "append" adds to it"#
    );
    for mode in ["replace", "append"] {
        let args = json!({"path": format!("new-{mode}/x"), "content": mode, "mode": mode});
        assert_eq!(
            bench.result("write_file", args).text(),
            format!("new-{mode}/x has {} bytes now", mode.len())
        );
    }
}

#[test]
fn replaced_file_keeps_its_permissions_and_leaves_nothing_beside_it() {
    let bench = Bench::new(&[("run.sh", b"old")]);
    fs::set_permissions(bench.inside("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    bench.value("write_file", json!({"path": "run.sh", "content": "new", "mode": "replace"}));
    assert_eq!(fs::read_to_string(bench.inside("run.sh")).unwrap(), "new");
    let mode = fs::metadata(bench.inside("run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o750);
    assert_eq!(fs::read_dir(bench.inside("")).unwrap().count(), 1);
}

#[test]
fn what_cannot_be_a_file_is_refused() {
    let bench = Bench::new(&[("dir/a.txt", b"a")]);
    symlink("nowhere", bench.inside("dangling")).unwrap();
    let error = |path: &str, mode: &str| {
        bench.error("write_file", json!({"path": path, "content": "x", "mode": mode}))
    };
    for path in [".", "./"] {
        assert!(error(path, "create").contains("is a folder, not a file"), "{path}");
    }
    for path in ["new/", "dir/a.txt/", "dir/a.txt/."] {
        assert!(error(path, "append").contains("ends like a folder's path"), "{path}");
    }
    assert!(error("dir", "replace").contains("is a folder, not a file"));
    assert!(error("dir", "append").contains("is a folder, not a file"));
    assert!(error("dir/..", "replace").contains("is a folder, not a file"));
    // The advice to replace or append is given only where that works.
    assert!(error("dir", "create").contains("is a folder, not a file"));
    assert_eq!(
        error("dangling", "create"),
        r#""dangling" is a symlink to nothing: choose another name for the new file"#
    );
    symlink("dir/a.txt", bench.inside("link")).unwrap();
    assert!(error("link", "create").ends_with(r#"mode "replace" overwrites it, "append" adds to it"#));
    symlink("dir", bench.inside("dir-link")).unwrap();
    assert!(error("dir-link", "create").contains("is a folder, not a file"));
    assert!(error("dir/a.txt/b", "create").contains("is not a folder"), "{}", error("dir/a.txt/b", "create"));
    let large = "x".repeat((32 << 20) + 1);
    assert_eq!(
        bench.error("write_file", json!({"path": "large", "content": large})),
        "\"large\": 33554433 bytes or more, but at most 32 MiB are read or written"
    );
}

#[test]
fn cancelled_call_writes_nothing() {
    let bench = Bench::new(&[("a.txt", b"old")]);
    let source = SignalSource::new();
    source.cancel("enough");
    let call =
        ToolCall::new("1", "write_file", json!({"path": "a.txt", "content": "new", "mode": "replace"}));
    bench.execute(call.with_signal(source.signal()));
    assert_eq!(fs::read_to_string(bench.inside("a.txt")).unwrap(), "old");
}
