//! What every `CodeRuntime` must keep, one file a subject. Contract 6, decision 32.

mod abort;
mod calls;
mod concurrency;
mod failures;
mod limits;
mod logs;
mod media;
mod misuse;
mod values;

use crate::{BackEnd, Case};

pub(crate) fn cases() -> Vec<(&'static str, Vec<Case<BackEnd>>)> {
    vec![
        ("misuse", misuse::cases()),
        ("values", values::cases()),
        ("logs", logs::cases()),
        ("calls", calls::cases()),
        ("failures", failures::cases()),
        ("limits", limits::cases()),
        ("media", media::cases()),
        ("abort", abort::cases()),
        ("concurrency", concurrency::cases()),
    ]
}
