//! `code-mode run`, as it is called from a shell.
#![expect(clippy::unwrap_used, reason = "also helpers of tests fail by panicking")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use code_mode::Json;
use tempfile::TempDir;

/// A folder for the tools, and beside it one for programs and pages.
struct Bench {
    temp: TempDir,
}

impl Bench {
    fn new(files: &[(&str, &str)]) -> Self {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join("folder")).unwrap();
        for (name, text) in files {
            fs::write(temp.path().join("folder").join(name), text).unwrap();
        }
        Self { temp }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    /// `code-mode run -` over the folder, with `program` on the standard input.
    fn run(&self, program: &str, flags: &[&str]) -> Ended {
        let mut command = command(&["-", "--dir"]);
        command.arg(self.path("folder")).args(flags);
        ended(command, program)
    }

    /// The JSON object that `--json` prints.
    fn json(&self, program: &str, flags: &[&str]) -> Json {
        let run = self.run(program, &[&["--json"], flags].concat());
        assert_eq!(run.stderr, "");
        assert_eq!(run.stdout.matches('\n').count(), 1, "one line: {}", run.stdout);
        Json::parse(run.stdout.trim_end()).unwrap()
    }
}

/// What came of a command.
#[derive(Debug)]
struct Ended {
    status: i32,
    stdout: String,
    stderr: String,
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_code-mode"));
    command.arg("run").args(arguments);
    command
}

fn ended(mut command: Command, stdin: &str) -> Ended {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that refuses its arguments does not read.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    Ended {
        status: status.code().unwrap(),
        stdout: String::from_utf8(stdout).unwrap(),
        stderr: String::from_utf8(stderr).unwrap(),
    }
}

/// A wrong command line: status 2, nothing printed, and a message with these words.
#[track_caller]
fn check_refused(run: &Ended, words: &[&str]) {
    assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{run:?}");
    for word in words {
        assert!(run.stderr.contains(word), "{word:?} is not in: {}", run.stderr);
    }
    assert!(!run.stderr.contains("os error"), "{}", run.stderr);
}

fn texts(value: Option<&Json>) -> Vec<&str> {
    value.and_then(Json::as_array).unwrap().iter().filter_map(Json::as_str).collect()
}

#[test]
fn result_is_what_the_model_reads_and_the_status_is_0() {
    let bench = Bench::new(&[("a.txt", "one\ntwo\n")]);
    let run = bench.run(
        "console.log('reading'); const { text } = await tools.read_file({ path: 'a.txt' }); return { text };",
        &[],
    );
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    assert_eq!(run.stdout, "reading\n{\n  \"text\": \"one\\ntwo\\n\"\n}\n");
}

#[test]
fn failure_goes_to_the_standard_error_and_the_status_is_1() {
    let bench = Bench::new(&[]);
    let run = bench.run("console.log('before');\nthrow new Error('no luck');", &[]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.starts_with("Error: code run failed (exception): Error: no luck\n"), "{}", run.stderr);
    assert!(
        run.stderr.contains("program:2") && run.stderr.contains("Captured output:\nbefore"),
        "{}",
        run.stderr
    );
    assert_eq!(bench.run("enum A {}", &[]).status, 1);
}

#[test]
fn program_of_a_file_sees_the_folder_it_is_given_or_the_current_one() {
    let bench = Bench::new(&[("here.txt", "")]);
    let program = bench.path("program.ts");
    fs::write(
        &program,
        "return (await tools.list_dir({ path: '.' })).entries.map(({ name }) => name).join();",
    )
    .unwrap();
    let mut given = command(&["--dir"]);
    given.arg(bench.path("folder")).arg(&program);
    assert_eq!(ended(given, "").stdout, "here.txt\n");
    let mut current = command(&[]);
    current.arg(&program).current_dir(bench.temp.path());
    assert_eq!(ended(current, "").stdout, "folder,program.ts\n");
}

#[test]
fn json_of_a_result_has_its_parts() {
    let bench = Bench::new(&[("a.txt", "a"), ("b.txt", "b")]);
    let run = bench.json(
        "await Promise.allSettled(['a.txt', 'b.txt', 'c.txt'].map((path) => tools.read_file({ path })));
         console.log('all'); return [1, null];",
        &[],
    );
    let keys: Vec<&str> = run.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["isError", "content", "logs", "result", "subCalls"]);
    assert_eq!(run.get("isError"), Some(&Json::Bool(false)));
    assert_eq!(
        run.get("content").unwrap().to_text(),
        r#"[{"type":"text","text":"all\n[\n  1,\n  null\n]"}]"#
    );
    assert_eq!(texts(run.get("logs")), ["all"]);
    assert_eq!(run.get("result").unwrap().to_text(), "[1,null]");
    let calls = run.get("subCalls").and_then(Json::as_array).unwrap();
    for (call, number) in calls.iter().zip(1..) {
        let keys: Vec<&str> = call.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["id", "name", "isError", "startMs", "durationMs"]);
        assert_eq!(call.get("id").and_then(Json::as_str), Some(&*format!("call_1:code:{number}")));
        assert_eq!(call.get("name").and_then(Json::as_str), Some("read_file"));
        assert_eq!(call.get("isError").and_then(Json::as_bool), Some(number == 3));
        for time in ["startMs", "durationMs"] {
            assert!(call.get(time).and_then(Json::as_f64).unwrap() >= 0.0);
        }
    }
    assert_eq!(calls.len(), 3);
}

#[test]
fn json_of_a_failure_has_kind_message_and_place() {
    let bench = Bench::new(&[]);
    let run = bench.json("console.log('x');\n  null.f();", &[]);
    let keys: Vec<&str> = run.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["isError", "content", "logs", "error", "subCalls"]);
    assert_eq!(run.get("isError"), Some(&Json::Bool(true)));
    assert_eq!(texts(run.get("logs")), ["x"]);
    let error = run.get("error").unwrap();
    assert_eq!(error.get("kind").and_then(Json::as_str), Some("exception"));
    assert!(error.get("message").and_then(Json::as_str).unwrap().starts_with("TypeError: "));
    assert_eq!(error.get("line").and_then(Json::as_i64), Some(2));
}

#[test]
fn what_cannot_be_read_or_written_is_refused_before_the_program_runs() {
    let bench = Bench::new(&[]);
    let write = "await tools.write_file({ path: 'made.txt', content: '' });";
    let trace = bench.path("no/such/folder/trace.html");
    let trace = trace.to_str().unwrap();
    check_refused(&bench.run(write, &["--trace", trace]), &["cannot write trace", trace, "No such file"]);
    let folder = bench.path("folder");
    let folder = folder.to_str().unwrap();
    check_refused(&bench.run(write, &["--trace", folder]), &["cannot write trace", folder, "directory"]);
    assert!(!Path::new(folder).join("made.txt").exists());

    check_refused(&ended(command(&["nowhere.ts"]), ""), &["cannot read program nowhere.ts", "No such file"]);
    check_refused(
        &ended(command(&["-", "--dir", "nowhere"]), ""),
        &["cannot open folder nowhere", "No such file"],
    );
    let binary = bench.path("binary.ts");
    fs::write(&binary, b"return '\xff'").unwrap();
    check_refused(&ended(command(&[binary.to_str().unwrap()]), ""), &["cannot read program", "UTF-8"]);
}

#[test]
fn wrong_command_lines_are_refused_with_what_is_right() {
    check_refused(&ended(command(&[]), ""), &["FILE.ts|-", "Usage: code-mode run"]);
    check_refused(&ended(command(&["-", "--unknown"]), ""), &["unexpected argument '--unknown'"]);
    check_refused(&ended(command(&["-", "more.ts"]), ""), &["unexpected argument 'more.ts'"]);
    for (flag, lowest) in [
        ("--compute-ms", 1),
        ("--max-wall-ms", 1),
        ("--heap-mb", 8),
        ("--max-output-bytes", 4),
        ("--max-parallel", 1),
        ("--max-calls", 1),
    ] {
        let too_low = (lowest - 1).to_string();
        for value in [&*too_low, "4294967296", "-1", "1.5", "1k", ""] {
            let run = ended(command(&["-", &format!("{flag}={value}")]), "");
            check_refused(&run, &["invalid value", &format!("'{value}'"), flag]);
        }
        assert_eq!(ended(command(&["-", &format!("{flag}={lowest}")]), "").status & 2, 0, "{flag}={lowest}");
    }
}

/// Each program is stopped or changed by its limit, and says so with the limit's number.
#[test]
fn each_limit_flag_holds() {
    let bench = Bench::new(&[("a.txt", "a")]);
    let failure = |program: &str, flags: &[&str]| {
        let run = bench.run(program, flags);
        assert_eq!(run.status, 1, "{run:?}");
        run.stderr
    };
    let spins = failure("for (;;);", &["--compute-ms", "40"]);
    assert!(spins.contains("(timeout): compute budget exhausted (40ms busy)"), "{spins}");
    let waits = failure("await new Promise((done) => setTimeout(done, 60_000));", &["--max-wall-ms", "50"]);
    assert!(waits.contains("(timeout): wall-clock ceiling reached (50ms)"), "{waits}");
    let hoards =
        failure("const all = []; for (;;) all.push(new Array(1000).fill(all.length));", &["--heap-mb", "16"]);
    assert!(hoards.contains("(worker-exit): heap limit of 16 MiB reached"), "{hoards}");
    let prints = failure("return 'x'.repeat(100);", &["--max-output-bytes", "100"]);
    assert!(prints.contains("(output-limit): outer output exceeded 100 bytes"), "{prints}");
    let calls = failure("for (;;) await tools.read_file({ path: 'a.txt' });", &["--max-calls", "3"]);
    assert!(calls.contains("a run may make 3 tool calls"), "{calls}");
}

/// One call at a time: each starts when the one before it is done.
#[test]
fn one_call_at_a_time_is_what_max_parallel_1_means() {
    let bench = Bench::new(&[("a.txt", "a")]);
    let run = bench.json(
        "await Promise.all(Array.from({ length: 8 }, () => tools.read_file({ path: 'a.txt' })));",
        &["--max-parallel", "1"],
    );
    let calls = run.get("subCalls").and_then(Json::as_array).unwrap();
    let times: Vec<(f64, f64)> = calls
        .iter()
        .map(|call| {
            let time = |key| call.get(key).and_then(Json::as_f64).unwrap();
            (time("startMs"), time("startMs") + time("durationMs"))
        })
        .collect();
    assert_eq!(times.len(), 8);
    for pair in times.windows(2) {
        // Both are rounded to the microsecond.
        assert!(pair[1].0 >= pair[0].1 - 0.002, "{times:?}");
    }
}

#[test]
fn isolation_is_a_worker_process_unless_a_thread_is_asked_for() {
    for (flags, workers) in
        [(&[][..], true), (&["--isolation", "process"], true), (&["--isolation=thread"], false)]
    {
        let bench = Bench::new(&[]);
        let program = "await tools.write_file({ path: 'begun', content: '' });
             for (;;) {
               const { entries } = await tools.list_dir({ path: '.' });
               if (entries.some(({ name }) => name === 'enough')) return 'seen';
             }";
        let mut command = command(&["-", "--max-calls", "100000000", "--dir"]);
        command.arg(bench.path("folder")).args(flags).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(program.as_bytes()).unwrap();
        // The program has no other way to say so.
        while !bench.path("folder/begun").exists() {
            assert_eq!(child.try_wait().unwrap(), None);
            std::thread::sleep(Duration::from_millis(5));
        }
        #[cfg(target_os = "linux")]
        assert_eq!(has_children(child.id()), workers, "{flags:?}");
        fs::write(bench.path("folder/enough"), "").unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            (output.status.code(), &*output.stdout),
            (Some(0), &b"seen\n"[..]),
            "{flags:?}, {workers}"
        );
    }
    let nonsense = ended(command(&["-", "--isolation", "nonsense"]), "");
    check_refused(&nonsense, &["'nonsense'", "--isolation", "expected `thread` or `process`"]);
}

#[cfg(target_os = "linux")]
fn has_children(process: u32) -> bool {
    fs::read_dir(format!("/proc/{process}/task"))
        .unwrap()
        .filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok())
        .any(|children| !children.is_empty())
}

#[test]
fn output_that_nobody_reads_is_no_failure() {
    let mut command = command(&["-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(b"return 'x'.repeat(1 << 20);").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
