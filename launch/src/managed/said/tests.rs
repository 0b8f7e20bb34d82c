use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

fn said() -> impl Strategy<Value = Said> {
    let hosts = || vec(any::<u16>(), 0..5);
    prop_oneof![
        ".{0,40}".prop_map(Said::Without),
        ("[a-z0-9]{0,15}", any::<[u8; 6]>()).prop_map(|(interface, address)| Said::Taken {
            interface,
            address: MacAddress(address)
        }),
        (hosts(), hosts()).prop_map(|(missed, uncopied)| Said::Met { missed, uncopied }),
        Just(Said::Ready),
    ]
}

proptest! {
    #[test]
    fn what_is_said_is_read_as_it_was_written(said in said()) {
        let bytes = said.emit();
        prop_assert_eq!(Said::parse(&bytes), Ok(said));
        for length in 0..bytes.len() {
            prop_assert!(Said::parse(&bytes[..length]).is_err(), "{} bytes", length);
        }
        let longer = [&bytes[..], &[0]].concat();
        prop_assert_eq!(Said::parse(&longer), Err(BadMessage::Long));
    }

    #[test]
    fn any_bytes_are_said_or_an_error(bytes in vec(any::<u8>(), 0..60)) {
        if let Ok(said) = Said::parse(&bytes) {
            prop_assert_eq!(said.emit(), bytes);
        }
    }
}

#[test]
fn no_more_hosts_are_named_than_a_job_has() {
    let many = Said::Met { missed: vec![0; HOSTS_MAX + 1], uncopied: Vec::new() };
    assert_eq!(Said::parse(&many.emit()), Err(BadMessage::Range("count")));
}
