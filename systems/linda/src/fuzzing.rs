//! Fuzz targets for bytes of tuple spaces (`testing/fuzz`): any bytes, and a panic if a shard does
//! what it must not.

use crate::format::Answer;
use crate::shard::Shard;
use weft_object::{Body, Object, Outcome};

/// Answer of a shard: what was read is written as the same bytes.
pub fn answer(data: &[u8]) {
    if let Some(answer) = Answer::parse(data) {
        let mut bytes = Vec::new();
        answer.emit(&mut bytes);
        assert_eq!(bytes, data);
    }
    if let Some(shard) = Shard::restore(data) {
        assert!(Shard::restore(&shard.capture()).is_some(), "a state that was read is one");
    }
}

/// A script of operations on a shard: each is a number, a length, and as many bytes of arguments.
/// What an operation refuses, or waits for, has changed nothing and answered nothing; other answers
/// are answers; and the state is one from which the same shard is made.
pub fn shard(data: &[u8]) {
    let (mut shard, mut rest) = (Shard::default(), data);
    while let Some(([number, length], script)) = rest.split_first_chunk() {
        let (arguments, script) = script.split_at(script.len().min((*length).into()));
        rest = script;
        let operation = &Shard::OPERATIONS[usize::from(*number) % Shard::OPERATIONS.len()];
        let before = shard.capture();
        let mut answer = Vec::new();
        let outcome = match &operation.body {
            Body::Read(body) => body(&shard, arguments, &mut answer),
            Body::Write(body) | Body::Either(_, body) => body(&mut shard, arguments, &mut answer),
        };
        let after = shard.capture();
        match outcome {
            Outcome::Done => assert!(Answer::parse(&answer).is_some(), "{}", operation.name),
            Outcome::Blocked | Outcome::Malformed => {
                assert!(answer.is_empty() && before == after, "{} did something", operation.name);
            }
        }
        let again = Shard::restore(&after).map(|shard| shard.capture());
        assert_eq!(again.as_ref(), Some(&after));
    }
}
