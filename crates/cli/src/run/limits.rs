//! The flags that bound a run, and what they set.

use std::time::Duration;

use code_mode::{Limits, Mode, RegistryConfig};

/// The limits of the command line. What is not given keeps the library's default.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitFlags {
    /// CPU time of the program, in milliseconds [default: 60000]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = from::<1, MAX>)]
    compute_ms: Option<u32>,
    /// Time from start to end, in milliseconds [default: 600000]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = from::<1, MAX>)]
    max_wall_ms: Option<u32>,
    /// JavaScript heap, in MiB, at least 8 [default: 512]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = from::<8, MAX_HEAP_MB>)]
    heap_mb: Option<u32>,
    /// Log and result together, in bytes of JSON, at least 4 [default: 67108864]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = from::<4, MAX>)]
    max_output_bytes: Option<u32>,
    /// Tool calls at one time; more queue [default: 10]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = from::<1, MAX>)]
    max_parallel: Option<u32>,
    /// Tool calls of the run [default: 10000]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = from::<1, MAX>)]
    max_calls: Option<u32>,
}

/// 1 TiB: beyond it the engine's own arithmetic ends.
const MAX_HEAP_MB: u32 = 1 << 20;
const MAX: u32 = u32::MAX;

/// Reads a whole number between the two.
fn from<const LEAST: u32, const MOST: u32>(text: &str) -> Result<u32, OutOfRange> {
    let value = text.parse().ok().filter(|value| (LEAST..=MOST).contains(value));
    value.ok_or(OutOfRange { least: LEAST, most: MOST })
}

#[derive(Debug, thiserror::Error)]
#[error("expected a whole number from {least} to {most}")]
struct OutOfRange {
    least: u32,
    most: u32,
}

impl LimitFlags {
    /// The limits of the back end.
    pub(crate) fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        set(&mut limits.compute, self.compute_ms, millis);
        set(&mut limits.max_wall, self.max_wall_ms, millis);
        set(&mut limits.max_old_generation_size_mb, self.heap_mb, count);
        set(&mut limits.max_output_bytes, self.max_output_bytes, count);
        set(&mut limits.max_sub_calls, self.max_calls, count);
        limits
    }

    /// The configuration of the registry.
    pub(crate) fn registry(&self) -> RegistryConfig {
        let mut config = RegistryConfig::new(Mode::Code);
        set(&mut config.max_parallel_sub_calls, self.max_parallel, count);
        config
    }
}

fn set<T>(limit: &mut T, flag: Option<u32>, convert: impl Fn(u32) -> T) {
    if let Some(value) = flag {
        *limit = convert(value);
    }
}

fn millis(value: u32) -> Duration {
    Duration::from_millis(value.into())
}

fn count(value: u32) -> usize {
    value as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_are_not_given_keep_the_defaults() {
        let flags = LimitFlags::default();
        assert_eq!(flags.limits(), Limits::default());
        assert_eq!(flags.registry().max_parallel_sub_calls, 10);
    }

    #[test]
    fn number_that_cannot_be_a_limit_is_answered_with_the_range() {
        let problem = |text| from::<8, 100>(text).unwrap_err().to_string();
        for text in ["7", "101", "-5", "1.5", "abc", "", "99999999999999999999"] {
            assert_eq!(problem(text), "expected a whole number from 8 to 100", "{text}");
        }
        assert_eq!(from::<8, 100>("8").ok(), Some(8));
    }

    #[test]
    fn each_flag_sets_its_limit() {
        let flags = LimitFlags {
            compute_ms: Some(1),
            max_wall_ms: Some(2),
            heap_mb: Some(30),
            max_output_bytes: Some(40),
            max_parallel: Some(5),
            max_calls: Some(6),
        };
        let mut limits = Limits::default();
        limits.compute = Duration::from_millis(1);
        limits.max_wall = Duration::from_millis(2);
        limits.max_old_generation_size_mb = 30;
        limits.max_output_bytes = 40;
        limits.max_sub_calls = 6;
        assert_eq!(flags.limits(), limits);
        assert_eq!(flags.registry().max_parallel_sub_calls, 5);
    }
}
