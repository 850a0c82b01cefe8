//! Variables: what stands for `{{name}}` in the text of a section.

use std::{collections::HashMap, fmt, sync::Arc};

use super::PromptError;
use crate::{
    contain::{Callback, contain_result},
    error::ToolError,
};

/// One variable. Names are made of letters, digits, `_`, `-`, `.` and `:`; anything else between double
/// braces is ordinary text.
#[derive(Clone)]
pub struct Variable {
    name: Arc<str>,
    value: Value,
}

#[derive(Clone)]
enum Value {
    Fixed(Arc<str>),
    Made(Callback<MakeValue>),
}

type MakeValue = dyn Fn() -> Result<String, ToolError> + Send + Sync;

impl Variable {
    /// A variable of fixed text.
    #[must_use]
    pub fn text(name: impl Into<Arc<str>>, value: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), value: Value::Fixed(value.into()) }
    }

    /// A variable whose text is made at each place it stands. An `Err` fails the rendering.
    #[must_use]
    pub fn made(
        name: impl Into<Arc<str>>,
        make: impl Fn() -> Result<String, ToolError> + Send + Sync + 'static,
    ) -> Self {
        let make: Arc<MakeValue> = Arc::new(make);
        Self { name: name.into(), value: Value::Made(make.into()) }
    }

    pub(super) fn name(&self) -> &Arc<str> {
        &self.name
    }
}

impl fmt::Debug for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Variable").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The variables of one rendering.
#[derive(Clone, Debug, Default)]
pub struct Variables(HashMap<Arc<str>, Variable>);

impl FromIterator<Variable> for Variables {
    fn from_iter<I: IntoIterator<Item = Variable>>(variables: I) -> Self {
        let named = |variable: Variable| (Arc::clone(&variable.name), variable);
        Self(variables.into_iter().map(named).collect())
    }
}

impl Variables {
    /// Puts the variables into `text`. What a variable gives is not looked at again.
    pub(super) fn interpolate(&self, section: &Arc<str>, text: &str) -> Result<String, PromptError> {
        let mut rendered = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(open) = rest.find("{{") {
            let (before, from_braces) = rest.split_at(open);
            rendered.push_str(before);
            match leading_name(from_braces) {
                Some(name) => {
                    rendered.push_str(&self.value(section, name)?);
                    rest = &from_braces[name.len() + 4..];
                }
                // One brace only: `{{{x}}}` is a brace around a variable.
                None => {
                    rendered.push('{');
                    rest = &from_braces[1..];
                }
            }
        }
        rendered.push_str(rest);
        Ok(rendered)
    }

    fn value(&self, section: &Arc<str>, name: &str) -> Result<Arc<str>, PromptError> {
        let Some(variable) = self.0.get(name) else {
            let section = Arc::clone(section);
            return Err(PromptError::UnknownVariable { variable: Arc::from(name), section });
        };
        match &variable.value {
            Value::Fixed(text) => Ok(Arc::clone(text)),
            Value::Made(make) => {
                contain_result(&**make).map(Arc::from).map_err(|error| PromptError::Variable {
                    variable: Arc::clone(&variable.name),
                    message: Arc::from(error.message()),
                })
            }
        }
    }
}

/// The name in `{{name}}` at the start of `text`.
fn leading_name(text: &str) -> Option<&str> {
    let inside = text.strip_prefix("{{")?;
    let end = inside.find(|c: char| !(c.is_ascii_alphanumeric() || "_-.:".contains(c)))?;
    let name = &inside[..end];
    (!name.is_empty() && inside[end..].starts_with("}}")).then_some(name)
}
