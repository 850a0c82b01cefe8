//! What the guards of array methods cost (decision 33): the methods of a program's arrays against those of a bare V8,
//! each in a process of its own, in turn.
//!
//! Prints a table and fails if `map`, `filter`, `reduce` or `indexOf` is more than 10 % slower than bare; a `forEach`
//! with a trivial callback is shown and not judged.

use std::process::{Command, ExitCode};

use code_mode_runtime::{CodeRuntime, RunRequest, ThreadRuntime};
use code_mode_schema::Json;

/// Milliseconds of the fastest of several turns, by method, as an object.
const SCRIPT: &str = r#"
  const array = Array.from({ length: 200000 }, (_, i) => i % 1000);
  const bodies = {
    map: () => array.map((n) => n + 1).length,
    filter: () => array.filter((n) => n & 1).length,
    reduce: () => array.reduce((sum, n) => sum + n, 0),
    "forEach, working": () => { let sum = 0; array.forEach((n) => { sum += Math.sqrt(n * 3 + 1) % 7 }); return sum },
    "forEach, trivial": () => { let sum = 0; array.forEach((n) => { sum += n }); return sum },
    indexOf: () => array.indexOf(-1),
  };
  const times = {};
  let sink = 0;
  for (const [name, body] of Object.entries(bodies)) {
    let best = Infinity;
    for (let turn = 0; turn < 12; turn++) {
      const start = Date.now();
      for (let i = 0; i < 100; i++) sink += body();
      best = Math.min(best, Date.now() - start);
    }
    times[name] = best;
  }
"#;

/// Names judged, with the most that they may take of what bare V8 takes.
const JUDGED: [(&str, f64); 5] =
    [("map", 1.1), ("filter", 1.1), ("reduce", 1.1), ("forEach, working", 1.1), ("indexOf", 1.1)];
const ROUNDS: usize = 3;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("bare") => {
            println!("{}", bare());
            ExitCode::SUCCESS
        }
        Some("program") => {
            println!("{}", program());
            ExitCode::SUCCESS
        }
        _ => compare(),
    }
}

fn compare() -> ExitCode {
    let mut rounds: Vec<[Json; 2]> = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push(["bare", "program"].map(measured));
    }
    let mut is_slow = false;
    println!("{:<20} {:>10} {:>10} {:>8}", "100 x 200 000", "bare", "program", "ratio");
    let names: Vec<&str> = rounds[0][0].as_object().map(|times| times.keys().collect()).unwrap_or_default();
    for name in names {
        let best = |side: usize| {
            let times = rounds.iter().filter_map(|round| round[side].get(name).and_then(Json::as_f64));
            times.fold(f64::INFINITY, f64::min)
        };
        let (bare, program) = (best(0), best(1));
        let ratio = program / bare;
        println!("{name:<20} {bare:>7} ms {program:>7} ms {ratio:>8.2}");
        is_slow |= JUDGED.iter().any(|(judged, most)| *judged == name && ratio > *most);
    }
    if is_slow { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn measured(what: &str) -> Json {
    let this = std::env::current_exe().expect("the bench knows where it is");
    let output = Command::new(this).arg(what).output().expect("the bench can be started again");
    let text = String::from_utf8_lossy(&output.stdout);
    Json::parse(text.trim()).unwrap_or_else(|error| panic!("{what}: {error}: {text}"))
}

fn program() -> String {
    let tokio =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a tokio runtime starts");
    let runtime = ThreadRuntime::new().expect("the engine starts");
    let request = RunRequest::new(format!("{SCRIPT}\n  return times;"));
    let outcome = tokio.block_on(runtime.run(request)).expect("the request is valid");
    outcome.end.expect("the program completes").expect("it returns its times").to_text()
}

/// The engine without anything of ours; the flag is one that the runtime always sets.
fn bare() -> String {
    deno_core::v8::V8::set_flags_from_string("--no-turboshaft-loop-unrolling");
    let tokio =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a tokio runtime starts");
    let _entered = tokio.enter();
    let mut runtime = deno_core::JsRuntime::new(deno_core::RuntimeOptions::default());
    let script = format!("(() => {{ {SCRIPT}\n return JSON.stringify(times); }})()");
    let value = runtime.execute_script("bench", script).expect("the script completes");
    deno_core::scope!(scope, runtime);
    let value = deno_core::v8::Local::new(scope, value);
    value.to_rust_string_lossy(scope)
}
