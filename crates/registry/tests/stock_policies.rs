//! The files of the stock policies once more, as part of a crate that is not the registry's: they compile, so they use
//! nothing but what every embedder can.
#![allow(dead_code, unreachable_pub, reason = "each file has more than is used here")]

// What the files call `super`.
use code_mode_registry::policy::{Timer, TokioTimer};

#[path = "../src/policy/call_size.rs"]
mod call_size;
#[path = "../src/policy/invariants.rs"]
mod invariants;
#[path = "../src/policy/metrics.rs"]
mod metrics;
#[path = "../src/policy/payloads.rs"]
mod payloads;
#[path = "../src/policy/retry.rs"]
mod retry;
#[path = "../src/policy/spill.rs"]
mod spill;
#[path = "../src/policy/timeout.rs"]
mod timeout;

use crate::support::{echo, execute};

#[test]
fn stock_policies_use_public_extension_points_only() {
    let registry = code_mode_registry::ToolRegistry::default();
    registry.register(echo("t")).unwrap().keep();
    let (invariants, watched) = invariants::DevInvariants::install(&registry);
    let (metrics, counted) = metrics::Metrics::install(&registry);
    let _installed = [
        watched,
        counted,
        call_size::CallSizePolicy::default().install(&registry),
        payloads::TracePayloads::install(&registry),
        retry::RetryPolicy::default().install(&registry),
        spill::SpillPolicy::new(spill::FolderStore::new("unused")).install(&registry),
        timeout::TimeoutPolicy::install(&registry),
    ];
    assert_eq!(execute(&registry, "t").text(), r#"{"x":1}"#);
    assert_eq!(metrics.snapshot()["t"].calls, 1);
    assert_eq!(invariants.violations(), [""; 0]);
}
