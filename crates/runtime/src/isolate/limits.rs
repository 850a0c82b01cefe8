//! What one run may use. Contract 6.2, decisions 26 and 27.

use std::time::Duration;

/// The limits of one run.
///
/// ```
/// use std::time::Duration;
/// use code_mode_runtime::Limits;
///
/// let mut limits = Limits::default();
/// limits.compute = Duration::from_secs(5);
/// assert_eq!(limits.max_output_bytes, 64 * 1024 * 1024);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// CPU time of the isolate's thread; default 60 s. Waiting for tools costs
    /// nothing, nor do tools that answer at once. Reached: `timeout`, within
    /// [`grace`](Self::grace) even where a built-in of the engine cannot be
    /// interrupted. Wire name `computeMs`.
    pub compute: Duration,
    /// Wall time, never paused; default 600 s. Reached: `timeout`, as above.
    /// A tool that ignores its cancellation still keeps the whole call waiting.
    /// Wire name `maxWallMs`.
    pub max_wall: Duration,
    /// How long after a limit the engine has to stop before the run is answered
    /// without it; default 230 ms, so that the answer is there within 250.
    pub grace: Duration,
    /// Bytes of log and result together, as JSON; default 64 MiB, at least 4.
    /// Reached: `output-limit`. Values between the program and its tools do not
    /// count. Wire name `maxOutputBytes`.
    pub max_output_bytes: usize,
    /// The isolate's heap in MiB; default 512. Reached: `worker-exit`. Not in
    /// it: memory of the engine's own parser and compiler. V8 looks when it
    /// collects, so one new object, such as an array of 240 MB, may pass it.
    /// Wire name `maxOldGenerationSizeMb`.
    pub max_old_generation_size_mb: usize,
    /// Bytes of array buffers; default 64 MiB. Reached: a `RangeError` that the
    /// program can catch. Only on V8; on QuickJS buffers count as heap.
    pub max_array_buffer_bytes: usize,
    /// Bytes of the program's text; default 1 MiB. Longer: `exception`.
    pub max_source_bytes: usize,
    /// Tool calls of one run; default 10 000. The calls above it reject.
    pub max_sub_calls: usize,
    /// Bytes of the images and sounds of tool calls that follow the text of a
    /// run, as JSON; default 16 MiB. Not in [`max_output_bytes`](Self::max_output_bytes),
    /// which counts what the program itself says, and no failure: in the order of
    /// the calls, those beyond it are left out, and a note says how many. Holds for
    /// `run_code`; a tool may still have made larger ones. Wire name `maxMediaBytes`.
    pub max_media_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            compute: Duration::from_secs(60),
            max_wall: Duration::from_secs(600),
            grace: Duration::from_millis(230),
            max_output_bytes: 64 << 20,
            max_old_generation_size_mb: 512,
            max_array_buffer_bytes: 64 << 20,
            max_source_bytes: 1 << 20,
            max_sub_calls: 10_000,
            max_media_bytes: 16 << 20,
        }
    }
}

const MAX_DURATION: Duration = Duration::from_millis(u32::MAX as u64);
const MAX_HEAP_MB: usize = 1 << 20;

/// A limit that no run could be under.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} must be {wanted}, got {got}")]
pub struct LimitsError {
    /// The limit's wire name.
    pub name: &'static str,
    /// What it must be.
    pub wanted: &'static str,
    /// What it is.
    pub got: String,
}

impl Limits {
    /// Checks that every limit is one that a run can be under.
    ///
    /// # Errors
    /// [`LimitsError`] naming the first that is not: a duration of zero or of more
    /// than 2^32 − 1 ms (49 days), an output limit under 4 bytes, a heap under
    /// 8 MiB or over 1 TiB. No clock and no engine counts further.
    pub fn check(&self) -> Result<(), LimitsError> {
        let refuse = |name, wanted, got: String| Err(LimitsError { name, wanted, got });
        for (name, duration) in [("computeMs", self.compute), ("maxWallMs", self.max_wall)] {
            if duration.is_zero() {
                return refuse(name, "positive", format!("{duration:?}"));
            }
        }
        let durations = [("computeMs", self.compute), ("maxWallMs", self.max_wall), ("grace", self.grace)];
        for (name, duration) in durations {
            if duration > MAX_DURATION {
                return refuse(name, "at most 4294967295 ms", format!("{duration:?}"));
            }
        }
        if self.max_output_bytes < 4 {
            return refuse("maxOutputBytes", "at least 4", self.max_output_bytes.to_string());
        }
        if self.max_old_generation_size_mb < 8 {
            return refuse(
                "maxOldGenerationSizeMb",
                "at least 8",
                self.max_old_generation_size_mb.to_string(),
            );
        }
        if self.max_old_generation_size_mb > MAX_HEAP_MB {
            return refuse(
                "maxOldGenerationSizeMb",
                "at most 1048576",
                self.max_old_generation_size_mb.to_string(),
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(change: impl FnOnce(&mut Limits), message: &str) {
        let mut limits = Limits::default();
        change(&mut limits);
        assert_eq!(limits.check().unwrap_err().to_string(), message);
    }

    #[test]
    fn limits_that_no_run_can_be_under_are_refused_with_their_number() {
        assert_eq!(Limits::default().check(), Ok(()));
        check(|limits| limits.compute = Duration::ZERO, "computeMs must be positive, got 0ns");
        check(
            |limits| limits.max_wall = Duration::from_secs(u64::MAX),
            "maxWallMs must be at most 4294967295 ms, got 18446744073709551615s",
        );
        check(
            |limits| limits.grace = Duration::from_secs(1 << 40),
            "grace must be at most 4294967295 ms, got 1099511627776s",
        );
        check(|limits| limits.max_output_bytes = 3, "maxOutputBytes must be at least 4, got 3");
        check(
            |limits| limits.max_old_generation_size_mb = 7,
            "maxOldGenerationSizeMb must be at least 8, got 7",
        );
        check(
            |limits| limits.max_old_generation_size_mb = 1 << 21,
            "maxOldGenerationSizeMb must be at most 1048576, got 2097152",
        );
    }
}
