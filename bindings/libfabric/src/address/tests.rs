//! Addresses as bytes.

use super::*;

const JOB: JobName = JobName { ranks: 4, number: 0x0102_0304 };

#[test]
fn an_address_comes_back_as_it_was() {
    let address = Address { rank: Rank(513), endpoint: 7 };
    let large = JobName { ranks: 1000, ..JOB };
    assert_eq!(large.parse(&large.emit(address)), Some(address));
}

#[test]
fn what_is_no_address_of_this_job_is_refused() {
    let address = Address { rank: Rank(2), endpoint: 0 };
    let bytes = JOB.emit(address);
    assert_eq!(JobName { ranks: 8, ..JOB }.parse(&bytes), None, "a job of another size");
    let beyond = JOB.emit(Address { rank: Rank(4), ..address });
    assert_eq!(JOB.parse(&beyond), None, "no such rank");
    assert_eq!(JOB.parse(&[0; ADDRESS_BYTES]), None);
    for place in [0, 4, 12, 15] {
        let mut broken = bytes;
        broken[place] ^= 1;
        assert_eq!(JOB.parse(&broken), None, "another byte at {place}");
    }
}

#[test]
fn an_address_of_another_job_is_known_for_one() {
    let bytes = JobName { number: 7, ..JOB }.emit(Address { rank: Rank(0), endpoint: 0 });
    assert!(JOB.is_foreign(&bytes) && JOB.parse(&bytes).is_none());
    assert!(!JOB.is_foreign(&JOB.emit(Address { rank: Rank(0), endpoint: 0 })));
    assert!(!JOB.is_foreign(&[0; ADDRESS_BYTES]));
}
