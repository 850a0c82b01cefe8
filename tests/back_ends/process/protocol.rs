//! Workers that do not keep to the protocol: each is ended, and its run told.

use std::time::{Duration, Instant};

use code_mode::runtime::MisuseError;

use super::roles::BABBLE;
use super::{config, made};
use crate::subject::request;
use crate::{Case, cases};

pub(super) fn cases() -> Vec<Case<()>> {
    cases![worker_that_does_not_speak_the_protocol_is_refused_at_once]
}

/// The first words of a right worker, in another version: greeting and version, then the build.
fn greeting(version: u8, build: &str) -> Vec<u8> {
    let mut content = vec![0];
    let greeting = b"code-mode worker";
    content.push(u8::try_from(greeting.len()).unwrap());
    content.extend(greeting);
    content.push(version);
    content.push(u8::try_from(build.len()).unwrap());
    content.extend(build.as_bytes());
    message(&content)
}

fn message(content: &[u8]) -> Vec<u8> {
    let mut message = u32::try_from(content.len()).unwrap().to_le_bytes().to_vec();
    message.extend(content);
    message
}

fn worker_that_does_not_speak_the_protocol_is_refused_at_once((): ()) {
    for (babble, expected) in [
        (b"hello, world\n".to_vec(), "does not answer as a worker (a chunk of"),
        (vec![0xff; 64], "does not answer as a worker (a chunk of"),
        (message(b""), "does not answer as a worker (no message of this protocol"),
        (message(&[0xff; 8]), "does not answer as a worker (no message of this protocol"),
        // `Ready` before the greeting.
        (message(&[1]), "does not answer as a worker (no message of this protocol"),
        (greeting(1, "another"), "the worker is of another build (another, protocol 1)"),
        (greeting(99, "another"), "the worker is of another build (another, protocol 99)"),
    ] {
        let mut config = config();
        config.spare_workers = 0;
        let digits: String = babble.iter().map(|byte| format!("{byte:02x}")).collect();
        config.arguments = vec![BABBLE.into(), digits.into()];
        let (_, subject) = made(config);
        let started = Instant::now();
        match subject.request(request("return 1")) {
            Err(MisuseError::Worker { reason }) => assert!(reason.contains(expected), "{reason}"),
            other => panic!("{other:?}"),
        }
        assert!(started.elapsed() < Duration::from_secs(30));
    }
}
