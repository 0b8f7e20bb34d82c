use super::Measured;
use crate::suite::{Application, Outcome};
use std::time::Duration;
use weft_app_common::Traffic;

#[test]
fn rates_are_those_of_one_rank() {
    let traffic = Traffic { packets_received: 3000, bytes_received: 1 << 20, ..Traffic::default() };
    let time = Duration::from_millis(500);
    let outcome = Outcome { began: Duration::ZERO, time, traffic: vec![traffic; 2] };
    let measured = Measured::on_ranks(Application::Qr, &outcome);
    assert_eq!((measured.ranks, measured.packets, measured.bytes), (2, 6000, 2 << 20));
    let text = measured.text(Application::Qr, "a matrix");
    assert!(text.starts_with("QR on messages   a matrix   verified\n2 ranks, 0.500 s"), "{text}");
    assert!(text.contains("each received 6,000 packets/s, 2.00 MiB/s"), "{text}");
    let json = serde_json::to_string(&measured).unwrap();
    assert_eq!(serde_json::from_str::<Measured>(&json).unwrap(), measured);
}
