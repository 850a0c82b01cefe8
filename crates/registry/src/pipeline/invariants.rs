//! What holds of every call, whatever its hooks do (contract 3.15), as assertions of debug builds.
//!
//! That name and id are not empty is no such assertion: a registry takes any name (contract 2.1).
//! [`DevInvariants`](crate::policy::DevInvariants) notes it, and watches from outside.

use crate::execution::ToolExecution;

/// The stages that have acted on a call. A stage that passed it by is not among them.
#[derive(Debug, Default)]
pub(super) struct Passed {
    pre_execute: bool,
    /// Refused before any policy (decision 25).
    refused: bool,
    dispatch: bool,
    post_execute: bool,
    observe: bool,
}

impl Passed {
    pub(super) fn refused(&mut self) {
        debug_assert!(!self.pre_execute, "a call was refused behind its policies");
        self.refused = true;
    }

    pub(super) fn pre_execute(&mut self) {
        debug_assert!(!self.pre_execute, "pre-execute ran twice");
        self.pre_execute = true;
    }

    pub(super) fn dispatch(&mut self) {
        debug_assert!(self.pre_execute, "execute ran before pre-execute");
        debug_assert!(!self.dispatch, "execute ran twice");
        self.dispatch = true;
    }

    pub(super) fn post_execute(&mut self) {
        debug_assert!(
            self.pre_execute || self.dispatch || self.refused,
            "post-execute ran before pre-execute and execute"
        );
        debug_assert!(!self.post_execute, "post-execute ran twice");
        self.post_execute = true;
    }

    pub(super) fn observe(&mut self, execution: &ToolExecution) {
        debug_assert!(execution.is_frozen(), "observers are told of a call that may still change");
        debug_assert!(!self.observe, "observers are told twice");
        self.observe = true;
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use code_mode_schema::json;

    use super::*;
    use crate::execution::ToolCall;

    fn execution() -> ToolExecution {
        ToolExecution::new(ToolCall::new("1", "t", json!({}))).0
    }

    #[test]
    fn stages_in_order_break_no_invariant() {
        let (mut passed, execution) = (Passed::default(), execution());
        passed.pre_execute();
        passed.dispatch();
        passed.post_execute();
        execution.freeze();
        passed.observe(&execution);
    }

    #[test]
    fn refused_call_goes_on_to_the_post_policies() {
        let mut passed = Passed::default();
        passed.refused();
        passed.post_execute();
    }

    #[test]
    #[should_panic(expected = "pre-execute ran twice")]
    fn pre_execute_twice_breaks_an_invariant() {
        let mut passed = Passed::default();
        passed.pre_execute();
        passed.pre_execute();
    }

    #[test]
    #[should_panic(expected = "execute ran before pre-execute")]
    fn execute_before_pre_execute_breaks_an_invariant() {
        Passed::default().dispatch();
    }

    #[test]
    #[should_panic(expected = "post-execute ran before pre-execute and execute")]
    fn post_execute_alone_breaks_an_invariant() {
        Passed::default().post_execute();
    }

    #[test]
    #[should_panic(expected = "observers are told of a call that may still change")]
    fn result_of_a_call_that_is_not_frozen_breaks_an_invariant() {
        Passed::default().observe(&execution());
    }
}
