//! `read_file`.

use std::os::unix::{fs::symlink, net::UnixListener};

use code_mode_schema::{Json, json};

use crate::support::Bench;

#[test]
fn whole_file_comes_unless_less_is_asked_for() {
    let bench = Bench::new(&[("a.txt", b"one\ntwo\r\nthree")]);
    assert_eq!(
        bench.value("read_file", json!({"path": "a.txt"})),
        json!({"text": "one\ntwo\r\nthree", "firstLine": 1, "lines": 3, "totalLines": 3})
    );
    assert_eq!(
        bench.value("read_file", json!({"path": "./a.txt", "offset": 1, "limit": 1})),
        json!({"text": "two\r\n", "firstLine": 2, "lines": 1, "totalLines": 3, "next": 2})
    );
}

#[test]
fn native_caller_reads_the_text_itself() {
    let bench = Bench::new(&[("a.txt", b"one\ntwo\n"), ("empty", b"")]);
    assert_eq!(bench.result("read_file", json!({"path": "a.txt"})).text(), "one\ntwo\n");
    assert_eq!(
        bench.result("read_file", json!({"path": "a.txt", "limit": 1})).text(),
        "one\n(lines 1 to 1 of 2; more: offset 1)"
    );
    assert_eq!(bench.result("read_file", json!({"path": "empty"})).text(), "(no text)");
}

#[test]
fn text_beyond_one_mebibyte_is_paged() {
    let line = format!("{}\n", "x".repeat(1023));
    let bench = Bench::new(&[("big", line.repeat(1500).as_bytes())]);
    let first = bench.value("read_file", json!({"path": "big"}));
    assert_eq!(first.get("lines").and_then(Json::as_i64), Some(1024));
    assert_eq!(first.get("next").and_then(Json::as_i64), Some(1024));
    let rest = bench.value("read_file", json!({"path": "big", "offset": 1024}));
    assert_eq!(rest.get("lines").and_then(Json::as_i64), Some(476));
    assert_eq!(rest.get("next"), None);
}

#[test]
fn what_is_no_text_file_is_refused() {
    let long = "x".repeat((1 << 20) + 1);
    let bench = Bench::new(&[
        ("logo.png", b"\x89PNG\r\n\x1a\n\0\0"),
        ("latin1.txt", b"caf\xe9"),
        ("dir/a", b""),
        ("long", long.as_bytes()),
    ]);
    let _socket = UnixListener::bind(bench.inside("socket")).unwrap();
    let error = |path: &str| bench.error("read_file", json!({"path": path}));
    assert_eq!(error("logo.png"), r#""logo.png" is not text (byte 8 is 0x00): only UTF-8 text can be read"#);
    assert_eq!(
        error("latin1.txt"),
        r#""latin1.txt" is not text (byte 3 is 0xe9): only UTF-8 text can be read"#
    );
    assert_eq!(error("dir"), r#""dir" is a folder, not a file: list_dir shows what is in it"#);
    assert_eq!(error("x"), r#""x" does not exist: list_dir shows what does"#);
    assert_eq!(
        error("long"),
        "line 1 of \"long\" has 1048577 bytes, but at most 1 MiB are returned at once: search_text finds text in its first 64 KiB"
    );
    assert_eq!(
        error("a.txt/"),
        r#""a.txt/" ends like a folder's path: a file's has no "/" or "." at its end"#
    );
    let special =
        r#""socket" is a device, a socket or a pipe: only files and folders can be used, leave it out"#;
    assert_eq!(error("socket"), special);
    symlink("loop", bench.inside("loop")).unwrap();
    assert!(error("loop").contains("leads back to itself"), "{}", error("loop"));
    let long = "x".repeat(300);
    assert!(error(&long).contains("a name in it is too long"), "{}", error(&long));
    assert!(error("a\0b").contains("a character that names may not have"), "{}", error("a\0b"));
}

#[test]
fn offset_past_the_end_is_refused_with_where_the_end_is() {
    let bench = Bench::new(&[("a.txt", b"one\ntwo\n"), ("empty", b"")]);
    assert_eq!(bench.value("read_file", json!({"path": "a.txt", "offset": 1})).get("lines"), Some(&json!(1)));
    for offset in [2, 7] {
        assert_eq!(
            bench.error("read_file", json!({"path": "a.txt", "offset": offset})),
            format!("offset {offset} is past the end of \"a.txt\": it has 2 lines, the last one at offset 1")
        );
    }
    assert_eq!(bench.value("read_file", json!({"path": "empty"})).get("lines"), Some(&json!(0)));
    assert!(bench.error("read_file", json!({"path": "empty", "offset": 1})).contains("it has no line"));
}

/// Opening a pipe nobody writes into would wait for ever.
#[test]
fn pipe_is_refused_at_once() {
    let bench = Bench::new(&[]);
    let made = std::process::Command::new("mkfifo").arg(bench.inside("pipe")).status().unwrap();
    assert!(made.success());
    let refused =
        r#""pipe" is a device, a socket or a pipe: only files and folders can be used, leave it out"#;
    assert_eq!(bench.error("read_file", json!({"path": "pipe"})), refused);
    assert_eq!(bench.error("search_text", json!({"path": "pipe", "pattern": "x"})), refused);
    for mode in ["create", "replace", "append"] {
        let args = json!({"path": "pipe", "content": "x", "mode": mode});
        assert_eq!(bench.error("write_file", args), refused, "{mode}");
    }
}
