use super::*;

#[test]
fn creations_and_invocations_are_read_as_they_were_written() {
    for site in [Site::Replicated, Site::Single(Rank(513))] {
        let creation = Creation {
            site,
            is_automatic: false,
            is_named: true,
            name: "counter",
            kind: "Int",
            state: &[1, 2, 3],
        };
        let parts = [&creation.emit()[..], b"counter", b"Int", &[1, 2, 3]];
        let bytes = parts.concat();
        assert_eq!(Ordered::parse(&bytes), Some(Ordered::Create(creation)));
    }
    let invocation = Invocation { operation: 258, object: u64::MAX - 1, call: 7, number: 1 << 20 };
    let bytes = [&invocation.emit()[..], b"arguments"].concat();
    assert_eq!(Ordered::parse(&bytes), Some(Ordered::Invoke(invocation, b"arguments")));
}

#[test]
fn forks_and_ends_are_read_as_they_were_written() {
    for is_main in [false, true] {
        let fork = Fork { is_main, on: Rank(258), name: "Worker" };
        let bytes = [&fork.emit()[..], b"Worker", b"arguments"].concat();
        assert_eq!(Ordered::parse(&bytes), Some(Ordered::Fork(fork, b"arguments")));
        assert_eq!(Ordered::parse(&bytes[..HEAD + 5]), None);
        let end = End { process: u64::MAX - 7, has_failed: is_main };
        let bytes = [&end.emit()[..], b"why"].concat();
        assert_eq!(Ordered::parse(&bytes), Some(Ordered::End(end, b"why")));
        assert_eq!(Ordered::parse(&bytes[..2 * HEAD - 1]), None);
    }
}

#[test]
fn changes_states_and_questions_are_read_as_they_were_written() {
    for site in [Site::Replicated, Site::Single(Rank(258))] {
        let place = Place { object: u64::MAX - 3, site };
        for why in [Why::Fixed, Why::Estimate, Why::Statistics, Why::Left] {
            let asked = place.emit(why);
            assert_eq!(Ordered::parse(&asked), Some(Ordered::Place(place, why)));
            assert_eq!(Ordered::parse(&[&asked[..], &[0]].concat()), None);
        }
        let state = [&place.emit_state(true)[..], b"state"].concat();
        assert_eq!(Ordered::parse(&state), Some(Ordered::State(place, Some(b"state"))));
        let stays = place.emit_state(false);
        assert_eq!(Ordered::parse(&stays), Some(Ordered::State(place, None)));
    }
    let reads = emit_reads(5, 1 << 40);
    assert_eq!(Ordered::parse(&reads), Some(Ordered::Reads(5, 1 << 40)));
    assert_eq!(Ordered::parse(&reads[..reads.len() - 1]), None);
    let delete = emit_delete(1 << 40);
    assert_eq!(Ordered::parse(&delete), Some(Ordered::Delete(1 << 40)));
    assert_eq!(Ordered::parse(&[&delete[..], &[0]].concat()), None);
    assert_eq!(Ordered::parse(&PROBING), Some(Ordered::Probe));
    assert_eq!(Ordered::parse(&[&PROBING[..], &[0]].concat()), None);
    let answer = emit_answer(1 << 40, &[1, 2]);
    assert_eq!(Ordered::parse(&answer), Some(Ordered::Answer(1 << 40, &[1, 2])));
    assert_eq!(Ordered::parse(&answer[..2 * HEAD - 1]), None);
}

#[test]
fn replies_say_how_an_operation_ended() {
    use Fault::{Broken, Ended, Malformed, NoCopy, NoSuchOperation};
    let faults = [NoSuchOperation, Malformed, NoCopy, Broken, Ended];
    for fault in faults.map(Some).into_iter().chain([None]) {
        let reply = Reply { fault, seen: u64::MAX - 3 };
        assert_eq!(Reply::parse(&reply.emit()), reply);
    }
    assert_eq!(Reply::parse(&[200; REPLY]).fault, Some(Fault::Broken));
}

#[test]
fn everything_else_is_refused() {
    let invocation = Invocation { operation: 1, object: 2, call: 3, number: 0 }.emit();
    assert_eq!(Ordered::parse(&invocation[..INVOCATION - 1]), None);
    let (site, state) = (Site::Replicated, &[][..]);
    let creation =
        Creation { site, is_automatic: false, is_named: true, name: "a", kind: "b", state };
    let creation = [&creation.emit()[..], b"ab"].concat();
    assert!(Ordered::parse(&creation).is_some());
    assert_eq!(Ordered::parse(&creation[..creation.len() - 1]), None);
    for (place, value) in [(0, 0), (0, 9), (1, 1), (4, 9), (6, 4), (7, 1), (8, 0xff)] {
        let mut wrong = creation.clone();
        wrong[place] = value;
        assert_eq!(Ordered::parse(&wrong), None, "{place}");
    }
    assert_eq!(Ordered::parse(&[]), None);
}
