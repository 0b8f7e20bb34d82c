use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

fn framed(messages: &[Vec<u8>]) -> Vec<u8> {
    let length = |message: &Vec<u8>| (message.len() as u32).to_le_bytes();
    messages.iter().flat_map(|message| [&length(message)[..], message].concat()).collect()
}

proptest! {
    #[test]
    fn messages_arrive_as_they_were_sent_however_they_are_cut(
        messages in vec(vec(any::<u8>(), 0..50), 0..20),
        at_a_time in 1..40usize,
    ) {
        let (mut frames, mut arrived) = (Frames::default(), Vec::new());
        for part in framed(&messages).chunks(at_a_time) {
            frames.take_in(part, |message| arrived.push(message.to_vec())).unwrap();
        }
        prop_assert_eq!(arrived, messages);
    }
}

#[test]
fn a_length_that_no_message_has_is_refused() {
    let mut frames = Frames::default();
    let noise = b"Welcome to this host\n";
    assert_eq!(frames.take_in(noise, |_| panic!("a message")), Err(BadMessage::Long));
}

#[test]
fn a_slow_reader_gets_everything() {
    let (out, into) = rustix::pipe::pipe().unwrap();
    let (silent, _open) = rustix::pipe::pipe().unwrap();
    let (_closed, nowhere) = rustix::pipe::pipe().unwrap();
    let mut writer = Stream::new(silent, into).unwrap();
    let mut reader = Stream::new(out, nowhere).unwrap();
    let sent: Vec<Vec<u8>> = (0..100).map(|number| vec![number; 5000]).collect();
    sent.iter().for_each(|message| writer.send(message));
    assert!(!writer.is_flushed(), "half a megabyte fits into no pipe");
    let mut arrived = Vec::new();
    while arrived.len() < sent.len() {
        reader.read_some().unwrap();
        arrived.extend(std::iter::from_fn(|| reader.take()));
        writer.write_some();
    }
    assert_eq!(arrived, sent);
    drop(writer);
    reader.read_some().unwrap();
    assert!(reader.readable().is_none());
}
