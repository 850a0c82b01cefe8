//! The size policy: calls whose arguments or whose value are too large fail (decision 26).

use std::sync::Arc;

use crate::{
    Dispatch, Next, PreDecision, RUN_CODE, Registration, ToolError, ToolExecution, ToolRegistry, ToolResult,
};

/// Bounds what one call may be given and give back, in bytes of JSON text in UTF-8. Both bounds are off by default:
/// what a program passes from tool to tool crosses whole.
///
/// Arguments beyond their bound deny the call before its body; a value beyond its bound replaces the success by a
/// failure, after the body has done what it does. It bounds neither the content that a tool renders for the model (see
/// [`SpillPolicy`](crate::policy::SpillPolicy)) nor `run_code`, whose program and output have limits of their own.
///
/// ```
/// use code_mode_registry::{ToolRegistry, policy::CallSizePolicy};
///
/// let registry = ToolRegistry::default();
/// let _bounded = CallSizePolicy::default().with_max_value_bytes(1024 * 1024).install(&registry);
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct CallSizePolicy {
    /// The most bytes of one call's arguments. Default: any number.
    pub max_arguments_bytes: Option<usize>,
    /// The most bytes of one call's value. Default: any number.
    pub max_value_bytes: Option<usize>,
}

impl CallSizePolicy {
    /// Sets [`CallSizePolicy::max_arguments_bytes`].
    #[must_use]
    pub fn with_max_arguments_bytes(mut self, max: usize) -> Self {
        self.max_arguments_bytes = Some(max);
        self
    }

    /// Sets [`CallSizePolicy::max_value_bytes`].
    #[must_use]
    pub fn with_max_value_bytes(mut self, max: usize) -> Self {
        self.max_value_bytes = Some(max);
        self
    }

    /// Installs the policy for every call, inside of all wrappers that are there.
    pub fn install(self, registry: &ToolRegistry) -> Registration {
        let arguments = registry.on_pre_execute(move |execution, next| async move {
            match self.objection(&execution) {
                Some(reason) => Ok(PreDecision::deny(reason)),
                None => next.call().await,
            }
        });
        arguments.and(registry.on_execute(move |dispatch, next| self.bounded(dispatch, next)))
    }

    fn objection(self, execution: &ToolExecution) -> Option<String> {
        let max = self.max_arguments_bytes.filter(|_| execution.name() != RUN_CODE)?;
        let size = execution.arguments()?.text_len();
        let name = execution.name();
        (size > max).then(|| {
            format!(
                "tool \"{name}\" was given arguments of {size} bytes; the limit is {max} (maxArgumentsBytes)"
            )
        })
    }

    async fn bounded(
        self,
        dispatch: Dispatch,
        next: Next<Arc<ToolResult>>,
    ) -> Result<Arc<ToolResult>, ToolError> {
        let result = next.call().await?;
        let name = dispatch.name();
        let (Some(max), Some(value)) = (self.max_value_bytes.filter(|_| name != RUN_CODE), result.value())
        else {
            return Ok(result);
        };
        let size = value.text_len();
        if size <= max {
            return Ok(result);
        }
        let message =
            format!("tool \"{name}\" returned a value of {size} bytes; the limit is {max} (maxValueBytes)");
        let contexts = result.additional_contexts().to_vec();
        Ok(Arc::new(ToolResult::failure(ToolError::new(message)).with_contexts(contexts)))
    }
}
