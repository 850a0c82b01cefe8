//! Requests that no back end serves. Contract 6.1.

use code_mode::runtime::{MisuseError, Namespace};
use code_mode::{Json, RunRequest};

use crate::subject::{BackEnd, Subject, Tools, request};
use crate::{Case, cases};

pub(super) fn cases() -> Vec<Case<BackEnd>> {
    cases![
        name_that_no_program_can_use_is_misuse,
        global_that_is_declared_twice_is_misuse,
        run_outside_tokio_is_misuse,
        disposed_runtime_refuses_runs,
        back_end_says_what_it_is,
    ]
}

fn refused(subject: &Subject, change: impl FnOnce(&mut Vec<Namespace>)) -> Result<(), String> {
    let mut request = RunRequest::new("return 1");
    request.namespaces = vec![Tools::default().namespace()];
    change(&mut request.namespaces);
    subject.request(request).map(|_| ()).map_err(|error| error.to_string())
}

fn name_that_no_program_can_use_is_misuse(back_end: BackEnd) {
    let subject = Subject::new(back_end);
    assert_eq!(refused(&subject, |_| ()), Ok(()));
    for global in ["", "1a", "a-b", "await", "console", "arguments", "eval"] {
        let expected = Err(format!("namespace {global:?} is not a usable identifier"));
        assert_eq!(refused(&subject, |namespaces| namespaces[0].global = global.into()), expected);
    }
    let refusal = refused(&subject, |namespaces| namespaces[0].error_class.name = "class".into());
    assert_eq!(refusal, Err("error class \"class\" is not a usable identifier".to_owned()));
    for member in ["", "name", "message", "stack"] {
        let expected = Err(format!("error member {member:?} is not a usable identifier"));
        assert_eq!(
            refused(&subject, |namespaces| namespaces[0].error_class.member = member.into()),
            expected
        );
    }
}

fn global_that_is_declared_twice_is_misuse(back_end: BackEnd) {
    let subject = Subject::new(back_end);
    let refusal = refused(&subject, |namespaces| namespaces.push(namespaces[0].clone()));
    assert_eq!(refusal, Err("global \"tools\" is declared twice".to_owned()));
    let refusal = refused(&subject, |namespaces| namespaces[0].error_class.name = "tools".into());
    assert_eq!(refusal, Err("global \"tools\" is declared twice".to_owned()));
}

fn run_outside_tokio_is_misuse(back_end: BackEnd) {
    let subject = Subject::new(back_end);
    let refusal = futures::executor::block_on(subject.runtime.run(request("return 1")));
    assert_eq!(refusal, Err(MisuseError::NoTokio));
}

fn disposed_runtime_refuses_runs(back_end: BackEnd) {
    let subject = Subject::new(back_end);
    assert_eq!(subject.value("return 1"), Json::from(1));
    subject.dispose();
    subject.dispose();
    assert_eq!(subject.request(request("return 1")), Err(MisuseError::Disposed));
}

fn back_end_says_what_it_is(back_end: BackEnd) {
    let subject = Subject::with(back_end, |setup| setup.limits.max_sub_calls = 77);
    assert_eq!(subject.runtime.language(), "typescript");
    assert_eq!(subject.runtime.isolation().to_string(), back_end.name);
    assert_eq!(subject.runtime.limits().max_sub_calls, 77);
}
