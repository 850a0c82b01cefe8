//! Programs that brought down engines and other runtimes. Each is answered in time and rightly, the same runtime
//! serves the next one, and the memory comes back. Contract 6.2, 6.4; decisions 6, 14, 15, 27, 33.

mod case;

mod loops;
mod lengths;
mod memory;
mod waiting;
mod floods;
mod results;

mod abandoned;
mod unsurvivable;

use self::unsurvivable::UNSURVIVABLE;
use crate::support::Host;

#[test]
fn programs_that_no_thread_survives_are_programs() {
    for each in UNSURVIVABLE {
        assert!(each.on_v8 || each.on_quickjs, "{}", each.name);
        assert!(each.evidence.len() > 20, "{}", each.name);
        // All of it is compiled, none of it runs.
        let program = format!("if (tools) return {:?};\n{}", format!("{:?}", each.harm), each.program);
        assert_eq!(
            Host::new().value(&program),
            code_mode::Json::from(format!("{:?}", each.harm)),
            "{}",
            each.name
        );
    }
}
