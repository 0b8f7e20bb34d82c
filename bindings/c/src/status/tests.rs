use super::{
    Failure, LAST, NAMES, Status, UNKNOWN, VERSION, WEFT_NO_RANK, call, weft_error_rank,
    weft_error_text, weft_status_name,
};

fn last() -> String {
    LAST.with(|last| {
        assert_eq!(weft_error_text(), last.borrow().text.as_ptr());
        last.borrow().text.to_str().unwrap().to_owned()
    })
}

#[test]
fn every_status_has_its_own_number_and_name() {
    for (number, (status, name)) in NAMES.iter().enumerate() {
        assert_eq!(*status as usize, number);
        assert_eq!(weft_status_name(number as u32), name.as_ptr());
    }
    assert_eq!(weft_status_name(NAMES.len() as u32), UNKNOWN.as_ptr());
}

#[test]
fn an_error_leaves_its_text_and_success_leaves_it_alone() {
    assert_eq!(last(), "");
    let short = || Err(Failure::new(Status::TooShort, "3 left,\0 4 asked for"));
    assert_eq!(call(short), Status::TooShort);
    assert_eq!(last(), "3 left,  4 asked for");
    assert_eq!(call(|| Ok(())), Status::Ok);
    assert_eq!(last(), "3 left,  4 asked for");
}

#[test]
fn the_last_error_has_the_rank_that_was_lost() {
    let loss = weft::Loss { rank: weft::Rank(2), cause: weft::Cause::Killed(9) };
    let lost = || weft_endpoint::Error::RankLost(loss);
    assert_eq!(weft_error_rank(), WEFT_NO_RANK);
    assert_eq!(call(|| Err(lost().into())), Status::RankLost);
    assert_eq!(last(), "rank 2 was killed by signal 9 (SIGKILL)");
    assert_eq!(call(|| Ok(())), Status::Ok);
    assert_eq!(weft_error_rank(), 2);
    assert_eq!(call(|| Err(Failure::invalid("nothing"))), Status::Invalid);
    assert_eq!(weft_error_rank(), WEFT_NO_RANK);
    for failure in [
        weft_messaging::Error::from(lost()).into(),
        weft_region::Error::Packets(lost()).into(),
        weft_object::Error::Messaging(lost().into()).into(),
        weft_linda::Error::Object(weft_object::Error::Messaging(lost().into())).into(),
    ] {
        assert_eq!(call(|| Err(Failure::invalid("nothing"))), Status::Invalid);
        assert_eq!(call(|| Err(failure)), Status::RankLost);
        assert_eq!(weft_error_rank(), 2);
    }
}

#[test]
fn a_panic_is_an_error() {
    assert_eq!(call(|| panic!("the sum is {}", 4)), Status::Panicked);
    assert_eq!(last(), "the sum is 4");
    assert_eq!(call(|| panic!("nothing to add")), Status::Panicked);
    assert_eq!(last(), "nothing to add");
}

#[test]
fn errors_below_have_their_codes() {
    let of = |error: weft_endpoint::Error| Failure::from(error).status;
    assert_eq!(of(weft_endpoint::Error::NoSuchVariable(40)), Status::NoSuchVariable);
    assert_eq!(of(weft_endpoint::Error::TooLong { size: 2, max: 1 }), Status::TooLong);
    let taken = weft_messaging::Error::PortTaken("a".into());
    assert_eq!(Failure::from(taken).status, Status::PortTaken);
    let of = |error: weft_messaging::Error| Failure::from(error).status;
    let (rank, service) = (weft::Rank(1), String::from("a"));
    let late = weft_messaging::Error::CallTimedOut { rank, service: service.clone() };
    assert_eq!(of(late), Status::TimedOut);
    let given_up = weft_messaging::Error::GivenUp { from: rank, sent: 1, length: 2 };
    assert_eq!(of(given_up), Status::Abandoned);
    assert_eq!(of(weft_messaging::Error::NoReply { rank, service }), Status::NoReply);
    assert_eq!(of(weft_messaging::Error::TooManyOrders { limit: 8 }), Status::TooManyOrders);
    let overdrawn = weft_messaging::Error::Overdrawn { order: "a".into(), limit: 4096 };
    assert_eq!(of(overdrawn), Status::Overdrawn);
    assert_eq!(of(weft_messaging::Error::OrderPanicked("a".into())), Status::Panicked);
    assert_eq!(of(weft_messaging::Error::CallsDiffer("agree")), Status::CallsDiffer);
    let full = weft_messaging::Error::JobIsFull { asked: 2, left: 1 };
    assert_eq!(of(full), Status::JobFull);
}

#[test]
fn errors_of_regions_have_their_codes() {
    use weft_region::coherence::Misuse;
    use weft_region::{Error, RegionId};
    let region = RegionId { home: weft::Rank(1), index: 2 };
    let of = |error: Error| {
        let failure = Failure::from(error);
        (failure.status, failure.text)
    };
    let (status, text) = of(Error::Misuse { region, what: Misuse::NotStarted });
    assert_eq!(status, Status::Invalid);
    assert!(text.starts_with("region 2 of rank 1: "), "{text}");
    assert_eq!(
        of(Error::Deleted(region)),
        (Status::NoRegion, "region 2 of rank 1 was deleted".into())
    );
    assert_eq!(of(Error::Unknown(region)).0, Status::NoRegion);
    assert_eq!(of(Error::Memory(1 << 60)).0, Status::NoMemory);
    let (one, other) = (weft::Rank(0), weft::Rank(1));
    assert_eq!(of(Error::Disagreement { one, other, number: 3 }).0, Status::Disagreement);
    assert_eq!(of(Error::Packet(other)).0, Status::Protocol);
    assert_eq!(of(weft_endpoint::Error::NotAMember.into()).0, Status::NotAMember);
}

#[test]
fn the_version_is_the_packages() {
    assert_eq!(VERSION.to_str().unwrap(), env!("CARGO_PKG_VERSION"));
}
