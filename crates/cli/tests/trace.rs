//! The page that `--trace` writes, as a browser shows it.
//!
//! Needs Chromium: `chromium` of Debian, or what `CHROMIUM` names. Where there is none, the test says that it
//! is skipped. The page itself has no script; a page around it looks into it and reports what it sees.
#![expect(clippy::unwrap_used, reason = "also helpers of tests fail by panicking")]

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use code_mode::Json;
use tempfile::TempDir;

/// Text that would take over a page that does not escape it.
const HOSTILE: &str = r#"</pre></details><img src="https://example.com/x.png" onerror="document.title='owned'"><script>document.title='owned'</script>{{calls}}"#;

/// Eleven calls: one alone, eight of which two run at one time, one that fails, one that nobody awaits.
const PROGRAM: &str = r#"// </pre><script>document.title = 'owned'</script>
const { text } = await tools.read_file({ path: "hostile.txt" });
console.log(text);
console.log("second", { nested: [1, 2, 3] });
await Promise.all(Array.from({ length: 8 }, (_, i) => tools.list_dir({ path: ".", limit: i + 1 })));
await tools.read_file({ path: `no/${text}` }).catch((error) => console.log(error.message));
tools.search_text({ pattern: "a".repeat(200_000), literal: true });
return { text };
"#;

/// Runs the program and gives the page it leaves.
fn page() -> (TempDir, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("folder");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("hostile.txt"), HOSTILE).unwrap();
    fs::write(temp.path().join("<b>program.ts"), PROGRAM).unwrap();
    let page = temp.path().join("trace.html");
    let status = Command::new(env!("CARGO_BIN_EXE_code-mode"))
        .arg("run")
        .arg(temp.path().join("<b>program.ts"))
        .arg("--dir")
        .arg(&folder)
        .arg("--trace")
        .arg(&page)
        .args(["--max-parallel", "2"])
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    (temp, page)
}

/// What the browser shows of the page in a window of this size.
struct Seen(Json);

impl Seen {
    fn number(&self, key: &str) -> i64 {
        self.0.get(key).and_then(Json::as_i64).unwrap_or_else(|| panic!("{key} in {:?}", self.0))
    }

    fn text(&self, key: &str) -> &str {
        self.0.get(key).and_then(Json::as_str).unwrap_or_else(|| panic!("{key} in {:?}", self.0))
    }
}

/// Reports of the page: what it consists of, what overflows, and each call with what it shows when opened.
const PROBE: &str = include_str!("trace/probe.html");

fn look(browser: &Path, page: &Path, width: u32, flags: &[&str]) -> Seen {
    let probe = page.with_file_name("probe.html");
    fs::write(&probe, PROBE.replace("WIDTH", &width.to_string())).unwrap();
    let profile = tempfile::tempdir().unwrap();
    let mut profile_flag = OsString::from("--user-data-dir=");
    profile_flag.push(profile.path());
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"])
        .arg(profile_flag)
        .args(flags)
        .arg("--dump-dom")
        .arg(probe)
        .output()
        .unwrap();
    let dom = String::from_utf8(output.stdout).unwrap();
    let (_, rest) = dom.split_once(r#"<pre id="seen">"#).unwrap_or_else(|| {
        panic!("no report in {dom}\n{}", String::from_utf8_lossy(&output.stderr));
    });
    let (report, _) = rest.split_once("</pre>").unwrap();
    let report =
        report.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", "\u{a0}").replace("&amp;", "&");
    Seen(Json::parse(&report).unwrap_or_else(|error| panic!("{error}: {report}")))
}

/// The browser, or a word to whoever reads the output of the tests.
fn browser() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CHROMIUM") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .flat_map(|folder| ["chromium", "chromium-browser", "google-chrome"].map(|name| folder.join(name)))
        .find(|file| file.is_file());
    if found.is_none() {
        // Not by `eprintln!`, which a test that passes keeps to itself.
        let _ = writeln!(
            io::stderr(),
            "skipped: the trace page in a browser (no chromium in PATH, CHROMIUM not set)"
        );
    }
    found
}

#[test]
fn trace_page_shows_each_call_in_a_browser_and_escapes_everything() {
    let Some(browser) = browser() else { return };
    let (_temp, page) = page();
    for width in [390, 1280] {
        let seen = look(&browser, &page, width, &[]);
        assert_eq!(seen.number("overflow"), 0, "at {width} px");
        assert_eq!(seen.number("foreign"), 0);
        assert_eq!(seen.number("fetched"), 0);
        assert_eq!(seen.text("title"), "<b>program.ts: Completed");
        assert_eq!(seen.text("heading"), "<b>program.ts");
        assert_eq!(format!("{}\n", seen.text("program")), PROGRAM);

        let log: Vec<&str> =
            seen.0.get("log").and_then(Json::as_array).unwrap().iter().filter_map(Json::as_str).collect();
        assert_eq!(log[..2], [HOSTILE, "second { nested: [ 1, 2, 3 ] }"]);
        assert!(log[2].contains("does not exist"), "{}", log[2]);
        assert_eq!(log.len(), 3);

        let calls = seen.0.get("calls").and_then(Json::as_array).unwrap();
        let tools: Vec<&str> =
            calls.iter().map(|call| call.get("tool").and_then(Json::as_str).unwrap()).collect();
        let expected = [&["read_file"][..], &["list_dir"; 8], &["read_file", "search_text"]].concat();
        assert_eq!(tools, expected);
        for (call, number) in calls.iter().zip(1..) {
            let is = |key| call.get(key).and_then(Json::as_bool).unwrap();
            assert!(is("row") && is("bar"), "call {number} at {width} px: {}", call.to_text());
            assert_eq!(is("failed"), number >= 10, "call {number}");
            let values: Vec<&str> = call
                .get("values")
                .and_then(Json::as_array)
                .unwrap()
                .iter()
                .filter_map(Json::as_str)
                .collect();
            assert_eq!(values.len(), 2, "arguments and result of call {number}");
            assert_eq!(
                call.get("cuts").and_then(Json::as_i64),
                Some(i64::from(number == 11)),
                "call {number}"
            );
            let times = call.get("times").and_then(Json::as_str).unwrap();
            assert!(times.starts_with("Made at ") && times.contains("queued for "), "{times}");
        }
        let values = |index: usize| calls[index].get("values").unwrap().to_text();
        assert!(values(0).contains("hostile.txt") && values(0).contains("document.title='owned'"));
        assert!(values(2).contains(r#"\"limit\": 2"#), "{}", values(2));
        assert!(values(9).contains("does not exist"));
    }
}

#[test]
fn trace_page_follows_the_colours_that_its_reader_prefers() {
    let Some(browser) = browser() else { return };
    let (_temp, page) = page();
    // The setting of the engine: 0 is dark, 1 is light.
    let [light, dark] = ["1", "0"].map(|scheme| {
        look(&browser, &page, 800, &[&format!("--blink-settings=preferredColorScheme={scheme}")])
    });
    assert_eq!((light.number("dark"), dark.number("dark")), (0, 1));
    let brightness = |colour: &str| -> u32 {
        let channels = colour.trim_start_matches("rgb(").trim_end_matches(')').split(", ");
        channels.map(|channel| channel.parse::<u32>().unwrap()).sum()
    };
    assert!(brightness(light.text("paper")) > 2 * brightness(light.text("ink")));
    assert!(brightness(dark.text("ink")) > 2 * brightness(dark.text("paper")));
}
