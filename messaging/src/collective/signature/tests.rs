use super::*;

fn signature(number: usize) -> Signature {
    let operation = Operation::ALL[number % 9];
    Signature { operation, root: (number * 7919) as u16, bytes: (number as u64) << 35 | 3 }
}

#[test]
fn headers_come_back_as_they_went() {
    for number in 0..40 {
        let header = Header {
            team: number as u16 * 1000,
            what: What::Piece(signature(number)),
            last: number % 2 == 0,
            number: number as u32 * 100_000_000,
            step: number as u16 * 1500,
        };
        assert_eq!(Header::parse(&header.emit()), Some(header));
    }
    let abort = Header { team: 3, what: What::Abort, last: true, number: 9, step: 0 };
    assert_eq!(Header::parse(&abort.emit()), Some(abort));
    let mut unknown = abort.emit();
    unknown[2] = 9;
    assert_eq!(Header::parse(&unknown), None);
}

#[test]
fn aborts_come_back_as_they_went() {
    let (one, other) = ((Rank(7), signature(2)), (Rank(300), signature(30)));
    let disagreement = Abort::Disagreement(Disagreement { number: 77, one, other });
    for abort in [disagreement, Abort::Panicked(Rank(513))] {
        let bytes = abort.emit();
        assert_eq!(Abort::parse(&bytes), Some(abort));
        assert_eq!(Abort::parse(&bytes[..bytes.len() - 1]), None);
    }
}

#[test]
fn a_disagreement_names_ranks_operations_and_lengths() {
    let one = (Rank(1), Signature::new(Operation::Reduce, 2, 80));
    let other = (Rank(3), Signature::new(Operation::Barrier, 0, 0));
    let text = Disagreement { number: 5, one, other }.to_string();
    assert_eq!(
        text,
        "the members of a team disagree about its operation 5: rank 1 began reduce of 80 bytes \
         with member 2 as root, rank 3 began barrier"
    );
}
