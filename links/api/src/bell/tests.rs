use super::*;

#[test]
fn causes_travel_as_numbers() {
    let causes = [
        Cause::Exited(0),
        Cause::Exited(255),
        Cause::Killed(9),
        Cause::Misbehaved,
        Cause::Ended,
        Cause::Unreachable(255),
        Cause::MtuExceeded { bytes: 1 },
        Cause::MtuExceeded { bytes: u16::MAX },
    ];
    for cause in causes {
        assert_ne!(cause.to_bits(), 0);
        assert_eq!(Cause::from_bits(cause.to_bits()), Some(cause));
    }
    for nothing in [0, 0xff, 0x600, 0xffff] {
        assert_eq!(Cause::from_bits(nothing), None, "{nothing:#x}");
    }
}

#[test]
fn a_narrow_way_is_said_with_what_to_do() {
    let said = Cause::MtuExceeded { bytes: 1440 }.to_string();
    assert!(said.starts_with("gets no packets with 1440 bytes any more, though it gets short"));
    assert!(said.ends_with("or start the job with a smaller --mtu"));
}
