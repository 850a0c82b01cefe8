//! How strictly values are held to schemas that others wrote.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Json, Schema};

/// How strictly the values of outside tools are held to their schemas.
///
/// Outside schemas are often wrong about their own tool. In config files the modes are written
/// `strict`, `warn` and `off`; the default is `strict`.
///
/// ```
/// use code_mode_schema::{Judgement, Schema, ValidationMode, json};
///
/// let schema = Schema::full(json!({"type": "string"}));
/// let mode: ValidationMode = "warn".parse()?;
/// let complaint = r#""value" must be a string"#.to_owned();
/// assert_eq!(mode.judge(&schema, &json!(1), "value"), Judgement::Doubtful(vec![complaint]));
/// # Ok::<(), code_mode_schema::UnknownModeError>(())
/// ```
///
/// Source: decision 29.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValidationMode {
    /// A value that is not valid is refused.
    #[default]
    Strict,
    /// A value that is not valid is let through, its violations are reported.
    Warn,
    /// Values are not looked at.
    Off,
}

/// What became of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It is valid, or nobody looked.
    Accepted,
    /// It is let through although it has these violations.
    Doubtful(Vec<String>),
    /// It is refused for these violations.
    Refused(Vec<String>),
}

impl ValidationMode {
    /// Judges `value` by `schema`; `label` names the root as in [`Schema::validate`].
    pub fn judge(self, schema: &Schema, value: &Json, label: &str) -> Judgement {
        if self == ValidationMode::Off {
            return Judgement::Accepted;
        }
        match schema.validate(value, label) {
            violations if violations.is_empty() => Judgement::Accepted,
            violations if self == ValidationMode::Warn => Judgement::Doubtful(violations),
            violations => Judgement::Refused(violations),
        }
    }

    /// The mode as it is written in config files.
    pub fn name(self) -> &'static str {
        match self {
            ValidationMode::Strict => "strict",
            ValidationMode::Warn => "warn",
            ValidationMode::Off => "off",
        }
    }
}

impl fmt::Display for ValidationMode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A name that is none of the validation modes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("validation mode must be strict, warn or off, not \"{name}\"")]
pub struct UnknownModeError {
    /// The name.
    pub name: String,
}

impl FromStr for ValidationMode {
    type Err = UnknownModeError;

    fn from_str(name: &str) -> Result<ValidationMode, UnknownModeError> {
        match name {
            "strict" => Ok(ValidationMode::Strict),
            "warn" => Ok(ValidationMode::Warn),
            "off" => Ok(ValidationMode::Off),
            _ => Err(UnknownModeError { name: name.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn check(mode: ValidationMode, value: &Json, expected: &Judgement) {
        let schema = Schema::full(json!({"type": "string"}));
        assert_eq!(mode.judge(&schema, value, "value"), *expected);
        assert_eq!(mode.to_string().parse(), Ok(mode));
        assert_eq!(crate::to_json(&mode), Ok(json!(mode.name())));
        assert_eq!(crate::from_json::<ValidationMode>(&json!(mode.name())), Ok(mode));
    }

    #[test]
    fn modes_decide_what_becomes_of_an_invalid_value() {
        let violations = || vec!["\"value\" must be a string".to_owned()];
        check(ValidationMode::Strict, &json!(1), &Judgement::Refused(violations()));
        check(ValidationMode::Warn, &json!(1), &Judgement::Doubtful(violations()));
        check(ValidationMode::Off, &json!(1), &Judgement::Accepted);
        for mode in [ValidationMode::Strict, ValidationMode::Warn, ValidationMode::Off] {
            check(mode, &json!("s"), &Judgement::Accepted);
        }
    }

    #[test]
    fn other_names_are_refused() {
        let error = "lax".parse::<ValidationMode>().unwrap_err();
        assert_eq!(error.to_string(), "validation mode must be strict, warn or off, not \"lax\"");
    }
}
