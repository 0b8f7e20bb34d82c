use super::*;

#[test]
fn the_field_is_found_by_its_name() {
    let text = "Ip: Forwarding\nIp: 1\nTcp: ActiveOpens RetransSegs InErrs\nTcp: 5 17 2\n";
    assert_eq!(counter_in(text, "Tcp", "RetransSegs"), Some(17));
    assert_eq!(counter_in(text, "Ip", "RetransSegs"), None);
    assert_eq!(counter_in("Tcp: RetransSegs\n", "Tcp", "RetransSegs"), None);
    arrived_twice().unwrap();
    segments_sent_again().unwrap();
}

#[test]
fn what_iperf3_says_is_read_and_what_it_complains_of_is_passed_on() {
    let says = r#"{"end": {"sum_sent": {"bits_per_second": 9e8, "retransmits": 3},
        "sum_received": {"bits_per_second": 8e8}}}"#;
    let carried = carried_in(says).unwrap();
    let expected = Carried { bytes_per_second: 1e8, sent_again: 3, arrived_twice: 0 };
    assert_eq!(carried, expected);
    let error = carried_in(r#"{"error": "unable to connect"}"#).unwrap_err();
    assert_eq!(error.to_string(), "iperf3: unable to connect");
    assert!(carried_in("").is_err() && carried_in("{}").is_err());
}

#[test]
fn the_writer_keeps_its_pace_and_all_arrives() {
    let (_server, port) = By::Weft.serve().unwrap();
    for _ in 0..2 {
        let start = Instant::now();
        let carried =
            write_paced(([127, 0, 0, 1], port).into(), Duration::from_millis(20)).unwrap();
        let bytes = carried.bytes_per_second * start.elapsed().as_secs_f64();
        assert!(bytes >= BLOCK as f64, "nothing was written");
        // Whatever this machine does, it is never ahead of its time.
        assert!(carried.bytes_per_second <= RATE);
    }
}
