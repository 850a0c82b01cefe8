//! Judges `programs`: each is run as a model's program would be, and compared with what is expected of it.

use std::io::Write as _;
use std::path::Path;

use code_mode::Isolation;

use crate::Tally;
use crate::arguments::Arguments;
use crate::case::{self, Case};
use crate::host::Host;
use crate::judge::{self, Verdict};
use crate::mock_tools::ToolFile;

/// # Errors
/// If the folder cannot be read or its tools are none.
pub(crate) fn judge(folder: &Path, arguments: &Arguments, tally: &mut Tally) -> Result<(), String> {
    let tools = ToolFile::read(&folder.join("_mock_tools.json"))?;
    let cases = case::in_folder(folder)?;
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| format!("no tokio runtime: {error}"))?;
    for warning in tools.warnings() {
        println!("note: {warning}");
    }
    for case in cases.iter().filter(|case| arguments.asks_for(&case.name)) {
        // The name comes first, so that it is seen which program takes the process with it.
        print!("{}: ", case.name);
        let _ = std::io::stdout().flush();
        let (verdict, text) = tokio.block_on(judge_case(case, &tools, arguments.isolation));
        tally.add(&case.name, verdict, "");
        if arguments.show {
            println!("{}\n", text.as_deref().unwrap_or("(no answer)"));
        }
    }
    Ok(())
}

/// One program's verdict, and what the model would have read.
async fn judge_case(case: &Case, tools: &ToolFile, isolation: Isolation) -> (Verdict, Option<String>) {
    let expectation = match &case.expectation {
        Ok(expectation) => expectation,
        Err(problem) => return (Verdict::Differs(vec![problem.clone()]), None),
    };
    let host = match Host::new(tools, &expectation.limits, isolation) {
        Ok(host) => host,
        Err(problem) => return (Verdict::Differs(vec![problem]), None),
    };
    let observed = host.run(&case.program, expectation.patience()).await;
    let mut differences = match &observed {
        Some(observed) => judge::differences(expectation, observed),
        None => vec![format!("no answer within {} ms", expectation.patience().as_millis())],
    };
    // After every program the same host must still serve.
    differences.extend(host.check_serves().await);
    (Verdict::of(differences), observed.map(|observed| observed.text))
}
