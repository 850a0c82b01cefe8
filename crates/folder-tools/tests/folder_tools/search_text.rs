//! `search_text`.

use code_mode_schema::{Json, json};

use crate::support::{Bench, field};

fn bench() -> Bench {
    Bench::new(&[
        (".gitignore", b"/made\n"),
        (".git/x", b"needle"),
        ("a.rs", b"fn needle() {}\r\n// no\n// Needle (x)\n"),
        ("b/c.txt", b"needle needle\n"),
        ("logo.png", b"needle\0"),
        ("made/out.txt", b"needle"),
    ])
}

#[test]
fn lines_that_match_are_found_in_path_order() {
    assert_eq!(
        bench().value("search_text", json!({"pattern": "needle"})),
        json!({
            "matches": [
                {"path": "a.rs", "line": 1, "text": "fn needle() {}"},
                {"path": "b/c.txt", "line": 1, "text": "needle needle"},
            ],
            "filesSearched": 3,
            "filesSkipped": 1,
        })
    );
}

#[test]
fn arguments_narrow_and_widen_the_search() {
    let bench = bench();
    let found = |args| {
        let found = bench.value("search_text", args);
        let paths = field(&found, "matches", "path");
        let lines = found.get("matches").and_then(Json::as_array).unwrap();
        let lines = lines.iter().map(|found| found.get("line").and_then(Json::as_i64).unwrap());
        paths.into_iter().zip(lines).map(|(path, line)| format!("{path}:{line}")).collect::<Vec<_>>()
    };
    assert_eq!(found(json!({"pattern": "needle", "ignoreCase": true})), ["a.rs:1", "a.rs:3", "b/c.txt:1"]);
    assert_eq!(found(json!({"pattern": "Needle (x)", "literal": true})), ["a.rs:3"]);
    assert_eq!(found(json!({"pattern": r"^fn \w+\(\) \{\}$"})), ["a.rs:1"]);
    assert_eq!(found(json!({"pattern": "needle", "path": "b"})), ["b/c.txt:1"]);
    assert_eq!(found(json!({"pattern": "needle", "path": "a.rs"})), ["a.rs:1"]);
    assert_eq!(found(json!({"pattern": "needle", "glob": "*.rs"})), ["a.rs:1"]);
    assert_eq!(found(json!({"pattern": "needle", "path": "made"})), ["made/out.txt:1"]);
    assert_eq!(
        found(json!({"pattern": "needle", "includeIgnored": true})),
        [".git/x:1", "a.rs:1", "b/c.txt:1", "made/out.txt:1"]
    );
}

#[test]
fn pages_have_every_match_once() {
    let text = "x\ny\n".repeat(7);
    let bench = Bench::new(&[
        ("a", text.as_bytes()),
        ("a.b", text.as_bytes()),
        ("d/e", text.as_bytes()),
        ("f", b"y"),
    ]);
    for path in [".", "d/e"] {
        let all = bench.value("search_text", json!({"pattern": "x", "path": path}));
        let all = all.get("matches").and_then(Json::as_array).unwrap().to_vec();
        assert_eq!(all.len(), if path == "." { 21 } else { 7 });
        for limit in [1, 3, 7, 20] {
            let mut matches = Vec::new();
            let mut args = json!({"pattern": "x", "path": path, "maxResults": limit});
            loop {
                let page = bench.value("search_text", args);
                matches.extend_from_slice(page.get("matches").and_then(Json::as_array).unwrap());
                let Some(next) = page.get("next").and_then(Json::as_str) else { break };
                args = json!({"pattern": "x", "path": path, "maxResults": limit, "cursor": next});
            }
            assert_eq!(matches, all, "path {path}, limit {limit}");
        }
    }
}

#[test]
fn native_caller_reads_one_match_a_line() {
    let bench = bench();
    let first = bench.result("search_text", json!({"pattern": "needle", "maxResults": 1})).text();
    assert!(first.starts_with("a.rs:1: fn needle() {}\n(more: cursor \"b/c.txt:1#"), "{first}");
    assert_eq!(bench.result("search_text", json!({"pattern": "haystack"})).text(), "(no matches)");
}

#[test]
fn errors_say_what_where_and_what_to_do() {
    let bench = bench();
    let error = |args| bench.error("search_text", args);
    assert_eq!(
        error(json!({"pattern": "fn ("})),
        "pattern is not a regular expression: unclosed group; pass literal: true to search for it as it is"
    );
    assert_eq!(
        error(json!({"pattern": r"\w{1000}{1000}"})),
        "pattern is not a regular expression: Compiled regex exceeds size limit of 1048576 bytes.; pass literal: true to search for it as it is"
    );
    for cursor in ["a.rs", "a.rs:1", "b/c.txt:1#00000000"] {
        let refused = error(json!({"pattern": "x", "cursor": cursor}));
        assert!(refused.starts_with("cursor \"") && refused.contains("pass the `next`"), "{refused}");
    }
    let page = bench.value("search_text", json!({"pattern": "needle", "maxResults": 1}));
    let next = page.get("next").and_then(Json::as_str).unwrap();
    assert!(error(json!({"pattern": "another", "cursor": next})).starts_with("cursor \""));
    assert_eq!(
        error(json!({"pattern": "x", "path": "a.rs/"})),
        r#""a.rs/" ends like a folder's path: a file's has no "/" or "." at its end"#
    );
    assert_eq!(
        error(json!({"pattern": "x", "path": "logo.png"})),
        r#""logo.png" is not text (byte 6 is 0x00): only UTF-8 text can be read"#
    );
    assert_eq!(
        error(json!({"pattern": "x", "path": "no"})),
        r#""no" does not exist: list_dir shows what does"#
    );
}

#[test]
fn long_line_is_searched_at_its_start_and_the_result_says_so() {
    let line = |at: usize| format!("{}needle{}\nneedle\n", "x".repeat(at), "x".repeat(70 << 10));
    let bench = Bench::new(&[("a", line(10).as_bytes()), ("b", line(66 << 10).as_bytes())]);
    let found = bench.value("search_text", json!({"pattern": "needle"}));
    assert_eq!(field(&found, "matches", "path"), ["a", "a", "b"]);
    assert_eq!(found.get("linesCut"), Some(&json!(2)));
    let text = bench.result("search_text", json!({"pattern": "needle", "path": "b"}));
    assert_eq!(text.text(), "b:2: needle\n(1 long line searched in part)");
}

/// What is skipped was read all the same.
#[test]
fn bytes_of_skipped_files_count_for_the_end_of_a_page() {
    let binary = [&vec![b'x'; 32 << 20][..], b"\xff"].concat();
    let names: Vec<String> = (10..20).map(|place| format!("f{place}")).collect();
    let bench = Bench::new(&[("f10", &binary), ("z", b"needle")]);
    for name in &names[1..] {
        std::fs::hard_link(bench.inside("f10"), bench.inside(name)).unwrap();
    }
    let first = bench.value("search_text", json!({"pattern": "needle"}));
    assert_eq!((first.get("filesSkipped"), field(&first, "matches", "path")), (Some(&json!(8)), vec![]));
    let rest = bench
        .value("search_text", json!({"pattern": "needle", "cursor": (first.get("next").unwrap().clone())}));
    assert_eq!(
        (rest.get("filesSkipped"), field(&rest, "matches", "path")),
        (Some(&json!(2)), vec!["z".to_owned()])
    );
}
