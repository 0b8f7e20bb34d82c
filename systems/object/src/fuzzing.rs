//! Fuzz target for messages of objects (`testing/fuzz`): any bytes, and a panic if a parser does
//! what it must not.

use crate::format::{Invocation, Ordered, REPLY, Reply, emit_answer, emit_delete, emit_reads};

/// A message of the order, an invocation by call, and the reply to one: what was read is within
/// what there is, and written again is the same.
pub fn messages(data: &[u8]) {
    if let Some(message) = Ordered::parse(data) {
        assert!(message.names_ranks_of(1 << 16), "there are so many numbers of ranks");
        assert_eq!(emit(&message), data);
    }
    if let Some((invocation, arguments)) = Invocation::parse(data) {
        assert_eq!([&invocation.emit()[..], arguments].concat(), data);
    }
    if let Some(bytes) = data.first_chunk::<REPLY>() {
        let reply = Reply::parse(bytes);
        assert_eq!(Reply::parse(&reply.emit()), reply);
    }
}

/// Encodes a message of the order, all of it.
pub(crate) fn emit(message: &Ordered<'_>) -> Vec<u8> {
    match message {
        Ordered::Create(creation) => {
            let names = [creation.name, creation.kind].concat();
            [&creation.emit()[..], names.as_bytes(), creation.state].concat()
        }
        Ordered::Invoke(invocation, arguments) => [&invocation.emit()[..], arguments].concat(),
        Ordered::Fork(fork, arguments) => {
            [&fork.emit()[..], fork.name.as_bytes(), arguments].concat()
        }
        Ordered::End(end, text) => [&end.emit()[..], text].concat(),
        Ordered::Place(place, why) => place.emit(*why).to_vec(),
        Ordered::State(place, state) => {
            [&place.emit_state(state.is_some())[..], state.unwrap_or_default()].concat()
        }
        Ordered::Reads(object, reads) => emit_reads(*object, *reads),
        Ordered::Delete(object) => emit_delete(*object).to_vec(),
        Ordered::Probe => crate::format::PROBING.to_vec(),
        Ordered::Answer(number, answer) => emit_answer(*number, answer),
    }
}
