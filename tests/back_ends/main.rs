//! The back ends: one conformance suite for every `CodeRuntime`, and what the `process` back end promises beyond it.
//!
//! Its own `main`, because this executable is started again as the workers, and in the roles that the tests of the
//! `process` back end need beside them (`process::roles`). Arguments are those of an ordinary test binary.
#![allow(clippy::unwrap_used, reason = "a helper that cannot go on fails the test that called it")]

mod conformance;
#[cfg(unix)]
mod process;
mod subject;

use libtest_mimic::{Arguments, Failed, Trial};

use subject::BackEnd;

/// A test: its name, and what it checks.
type Case<T> = (&'static str, fn(T));

/// The functions as cases, under their own names.
macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        vec![$((stringify!($name), $name as fn(_))),*]
    };
}
pub(crate) use cases;

fn main() {
    #[cfg(unix)]
    process::roles::play_if_requested();
    #[cfg(unix)]
    code_mode::worker::run_if_requested();
    let arguments = Arguments::from_args();
    libtest_mimic::run(&arguments, trials()).exit();
}

fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for back_end in subject::back_ends() {
        for (subject, cases) in conformance::cases() {
            for (name, case) in cases {
                let title = format!("{}::{subject}::{name}", back_end.name);
                trials.push(Trial::test(title, move || run(|| case(back_end))));
            }
        }
    }
    #[cfg(unix)]
    for (title, _) in process::cases() {
        trials.push(Trial::test(title.clone(), move || process::alone(&title)));
    }
    trials
}

/// A panic is the failure of a test; its text was printed when it happened.
fn run(case: impl FnOnce() + std::panic::UnwindSafe) -> Result<(), Failed> {
    std::panic::catch_unwind(case).map_err(|_| Failed::from("it panicked"))
}
