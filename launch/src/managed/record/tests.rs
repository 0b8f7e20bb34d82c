use super::*;
use crate::messages::reached::tests::any_reached;
use crate::messages::tests::{check_foreign, check_whole};
use proptest::collection::vec;
use proptest::prelude::*;

fn record() -> impl Strategy<Value = Record> {
    let hosts = || vec(any::<u16>(), 0..5);
    prop_oneof![
        ".{0,40}".prop_map(Record::Without),
        ("[a-z0-9]{0,15}", any::<[u8; 6]>()).prop_map(|(interface, address)| Record::Taken {
            interface,
            address: MacAddress(address)
        }),
        (hosts(), hosts()).prop_map(|(missed, uncopied)| Record::Met { missed, uncopied }),
        Just(Record::Ready),
        any_reached().prop_map(Record::Reached),
    ]
}

proptest! {
    #[test]
    fn what_is_said_is_read_as_it_was_written(record in record()) {
        check_whole(&record);
    }

    #[test]
    fn any_body_is_said_or_an_error(record in record(), body in vec(any::<u8>(), 0..60)) {
        check_foreign(&record, &body);
    }
}

#[test]
fn no_more_hosts_are_named_than_a_job_has() {
    let many = Record::Met { missed: vec![0; HOSTS_MAX + 1], uncopied: Vec::new() };
    assert_eq!(Record::parse(&many.emit()), Err(BadMessage::Range("count")));
}
