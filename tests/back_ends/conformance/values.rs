//! What a program returns, and what crosses between it and its host. Contract 3.4, 6.7.

use code_mode::{FailureKind, Json, json};

use crate::subject::{BackEnd, Subject};
use crate::{Case, cases};

pub(super) fn cases() -> Vec<Case<BackEnd>> {
    cases![
        completion_crosses_as_it_is,
        program_without_result_completes_with_none,
        values_cross_whole_whatever_their_size,
        values_cross_whole_whatever_their_depth,
        result_that_is_no_json_is_invalid_output_with_its_place,
        statement_whose_value_went_nowhere_is_noted,
    ]
}

fn completion_crosses_as_it_is(back_end: BackEnd) {
    let subject = Subject::new(back_end);
    for text in [
        "null",
        "true",
        "-0.5",
        "1e300",
        "\"\"",
        "\"é😀\\u0000\\n\\\\\"",
        "[]",
        "[1,[2,[3]]]",
        "{\"b\":1,\"a\":{\"__proto__\":2}}",
    ] {
        let value = subject.value(&format!("return JSON.parse({})", Json::from(text).to_text()));
        assert_eq!(value.to_text(), Json::parse(text).unwrap().to_text());
    }
}

fn program_without_result_completes_with_none(back_end: BackEnd) {
    let subject = Subject::new(back_end);
    for program in ["", "return", "return undefined", "return Promise.resolve()", "const a: number = 1"] {
        assert_eq!(subject.run(program).end, Ok(None), "{program}");
    }
}

fn values_cross_whole_whatever_their_size(back_end: BackEnd) {
    let subject = Subject::with(back_end, |setup| setup.limits.max_old_generation_size_mb = 512);
    for length in [0usize, 1, 65_535, 262_143, 262_144, 262_145, 3_000_000, 20_000_000] {
        for function in ["now", "later"] {
            let program = format!(
                "const text = 'é' + 'x'.repeat({length});
                 const {{ back }} = await tools.{function}({{ back: text }});
                 if (back !== text) throw new Error('another text came back');
                 return text"
            );
            let value = subject.value(&program);
            let text = value.as_str().unwrap();
            assert!(text.len() == length + 2 && text.starts_with('é'), "{function} {length}");
        }
    }
}

fn values_cross_whole_whatever_their_depth(back_end: BackEnd) {
    let subject = Subject::new(back_end);
    let levels = 20_000;
    let program = format!(
        "let value: unknown = 1;
         for (let i = 0; i < {levels}; i++) value = [value];
         let {{ back }} = await tools.later({{ back: value }}) as any, depth = 0;
         const whole = back;
         while (Array.isArray(back)) {{ back = back[0]; depth++ }}
         if (depth !== {levels}) throw new Error(`depth ${{depth}}`);
         return whole"
    );
    let mut value = &subject.value(&program);
    let mut depth = 0;
    while let Some([inner]) = value.as_array().map(|items| &items[..]) {
        (value, depth) = (inner, depth + 1);
    }
    assert_eq!((depth, value), (levels, &Json::from(1)));
}

fn result_that_is_no_json_is_invalid_output_with_its_place(back_end: BackEnd) {
    let subject = Subject::new(back_end);
    for (program, place) in [
        ("return { n: NaN }", "value.n is NaN"),
        ("return [undefined]", "value[0] is undefined"),
        ("return new Map()", "value is a Map"),
    ] {
        let failure = subject.failure(program);
        assert_eq!(failure.kind, FailureKind::InvalidOutput, "{program}");
        let expected = format!("program completion must be lossless JSON: {place}");
        assert!(failure.message.starts_with(&expected), "{}", failure.message);
    }
    assert_eq!(subject.value("return [1]"), json!([1]));
}

fn statement_whose_value_went_nowhere_is_noted(back_end: BackEnd) {
    let subject = Subject::new(back_end);
    assert!(subject.run("1 + 1").ends_with_expression);
    assert!(!subject.run("return 1 + 1").ends_with_expression);
    assert!(subject.run("const a: any = null; a.b").ends_with_expression);
}
