//! Messages: what is put in comes out, and what is none is refused.

use super::*;

const PEER: Rank = Rank(3);

#[test]
fn headers_and_tallies_come_out_as_they_went_in() {
    let kinds =
        [Kind::Jobs, Kind::Credit, Kind::Ask, Kind::Answer, Kind::Found, Kind::Stop, Kind::End];
    for kind in kinds {
        let header = Header { kind, bound: 513, iteration: 0x0102_0304, number: 0xf0e0_d0c0 };
        let mut message = header.emit().to_vec();
        message.extend([5; JOB_BYTES]);
        let (parsed, rest) = Header::parse(PEER, &message).unwrap();
        assert_eq!((parsed, jobs(PEER, rest).unwrap()), (header, &[[5; JOB_BYTES]][..]));
    }
    let messages = Counts { sent: 1, received: 2 };
    let worked = Worked { nodes: 3, leaves: 4, hits: 5, dropped: 7, excess: u64::MAX };
    let tally = Tally { messages, jobs: 6, worked };
    assert_eq!(Tally::parse(PEER, &tally.emit()).unwrap(), tally);
    let twice = tally.with(Tally { worked: Worked { excess: 2, ..worked }, ..tally });
    assert_eq!((twice.jobs, twice.messages.received), (12, 4));
    assert_eq!(twice.worked, Worked { nodes: 6, leaves: 8, hits: 10, dropped: 14, excess: 2 });
}

#[test]
fn what_is_no_message_is_refused() {
    let said = |error: Error| error.to_string();
    let mut bytes = [0; HEADER_BYTES];
    let none = Header::parse(PEER, &bytes).map(|_| ()).unwrap_err();
    assert_eq!(said(none), "a message from rank 3 is of no kind that there is");
    bytes[0] = 8;
    assert!(Header::parse(PEER, &bytes).is_err());
    let short = Header::parse(PEER, &bytes[1..]).map(|_| ()).unwrap_err();
    assert_eq!(said(short), "a message from rank 3 is shorter than a header");
    assert!(jobs(PEER, &[0; 33]).is_err() && Tally::parse(PEER, &[0; 56]).is_err());
}
