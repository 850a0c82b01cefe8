//! Contract 3.11: the shape of failures.

use std::{error::Error, fmt};

use code_mode_registry::{
    AdditionalContext, ContentBlock, ErrorInfo, Outcome, ToolError, ToolFailure, ToolRegistry, ToolResult,
};
use code_mode_schema::json;

use crate::support::{check_failure, echo, execute};

#[test]
fn a_success_has_value_and_content_and_no_error() {
    let registry = ToolRegistry::default();
    let _tool = registry.register(echo("t")).unwrap();
    let result = execute(&registry, "t");
    assert!(!result.is_error());
    assert_eq!(result.outcome(), &Outcome::Ok { value: json!({"x": 1}) });
    assert_eq!((result.message(), result.error().is_none()), (None, true));
    assert_eq!(result.content(), [ContentBlock::text(r#"{"x":1}"#)]);
}

#[test]
fn a_failure_has_message_and_prefixed_content_and_no_value() {
    let result = ToolResult::failure(ToolFailure::new("m"));
    assert_eq!(result.value(), None);
    assert_eq!(result.token(), None, "authored");
    check_failure(&result, "m", None);
}

#[test]
fn info_is_what_the_error_carries() {
    let registry = ToolRegistry::default();
    let tool = echo("t").execute(|_, _| async {
        Err(ToolError::new("m").with_info(ErrorInfo::new("RateLimitError", "RATE_LIMIT")))
    });
    let _tool = registry.register(tool).unwrap();
    let result = execute(&registry, "t");
    check_failure(&result, "m", Some("RATE_LIMIT"));
    let info = result.error().unwrap().info().unwrap();
    assert_eq!(
        code_mode_schema::to_json(info).unwrap(),
        json!({"name": "RateLimitError", "code": "RATE_LIMIT"})
    );
}

#[test]
fn an_unprintable_error_is_contained() {
    #[derive(Debug)]
    struct Hostile;
    impl fmt::Display for Hostile {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            panic!("no text for you")
        }
    }
    impl Error for Hostile {}
    let registry = ToolRegistry::default();
    let tool = echo("t").execute(|_, _| async { Err(ToolError::from(Hostile)) });
    let _tool = registry.register(tool).unwrap();
    check_failure(&execute(&registry, "t"), "no text for you", None);
}

#[test]
fn the_operators_source_is_not_in_what_the_model_reads() {
    let error = ToolError::new("for the model").with_source(std::io::Error::other("secret path /etc/shadow"));
    let result = ToolResult::failure(error);
    assert!(!result.text().contains("secret"));
    assert!(result.error().unwrap().source().unwrap().to_string().contains("secret"));
    let shown = format!("{:?}", result.error().unwrap());
    assert!(!shown.contains("secret"), "{shown}");

    let boxed: Box<dyn Error + Send + Sync> = Box::new(std::io::Error::other("disk full"));
    let error = ToolError::other(boxed);
    assert_eq!(error.message(), "disk full");
    assert!(error.source().unwrap().is::<std::io::Error>());
}

#[test]
fn text_is_the_text_blocks_joined() {
    let result = ToolResult::success(json!(1)).with_content(vec![
        "a".into(),
        ContentBlock::image("aGk=", "image/png"),
        "b".into(),
    ]);
    assert_eq!(result.text(), "a\nb");
    assert_eq!(AdditionalContext::new("s", result.content().to_vec()).joined_text(), "a\nb");
}
