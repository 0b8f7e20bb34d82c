use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

const BOTH: [Version; 2] = [Version::One, Version::Two];

fn one_message(version: Version, bytes: &[u8]) -> Result<Option<String>, BadReply> {
    let mut arrived = Arrived::default();
    arrived.push(bytes);
    arrived.next(version)
}

#[test]
fn messages_look_as_process_managers_expect_them() {
    let fields = [("key", "name"), ("value", "word")];
    assert_eq!(emit(Version::One, "put", &fields), b"cmd=put key=name value=word\n");
    assert_eq!(emit(Version::Two, "kvs-put", &fields), b"    32cmd=kvs-put;key=name;value=word;");
    assert_eq!(emit(Version::One, "barrier_in", &[]), b"cmd=barrier_in\n");
}

#[test]
fn lengths_may_be_padded_on_either_side() {
    for text in ["     9cmd=done;", "9     cmd=done;"] {
        assert_eq!(one_message(Version::Two, text.as_bytes()), Ok(Some("cmd=done;".into())));
    }
}

#[test]
fn messages_that_never_end_are_refused() {
    let endless = vec![b'x'; REPLY_BYTES_MAX + 1];
    assert_eq!(one_message(Version::One, &endless), Err(BadReply::Long));
    assert_eq!(one_message(Version::Two, b" 65537"), Err(BadReply::Long));
    assert_eq!(one_message(Version::Two, b"  -1  "), Err(BadReply::Length));
    assert_eq!(one_message(Version::Two, b"    5"), Ok(None));
    assert_eq!(one_message(Version::One, b"\xff\n"), Err(BadReply::Text));
}

#[test]
fn answers_are_read_in_any_order_and_refusals_seen() {
    let text = "cmd=get_result rc=-1  msg=key_not_found value=unknown";
    let reply = Reply::parse(Version::One, text).unwrap();
    assert_eq!((&*reply.command, reply.get("value")), ("get_result", Some("unknown")));
    assert_eq!(reply.refusal().unwrap(), "key_not_found (-1)");
    let reply = Reply::parse(Version::Two, "size=4;rc=0;cmd=fullinit-response;rank=3;").unwrap();
    assert_eq!((reply.number("rank"), reply.number("size")), (Ok(3), Ok(4)));
    assert_eq!(reply.number("appnum"), Err(BadReply::Field("appnum")));
    assert_eq!(reply.refusal(), None);
    assert_eq!(Reply::parse(Version::One, "rc=0"), Err(BadReply::NoCommand));
    assert_eq!(Reply::parse(Version::Two, "cmd=a;rc=0;rc=1;"), Err(BadReply::Fields));
}

proptest! {
    #[test]
    fn what_is_sent_is_what_is_read(values in vec("[!-:<>-~]{0,40}", 0..8), cut in 0..400usize) {
        let names: Vec<_> = (0..values.len()).map(|index| format!("n{index}")).collect();
        let fields: Vec<_> = names.iter().zip(&values).map(|(n, v)| (&**n, &**v)).collect();
        for version in BOTH {
            let bytes = emit(version, "do", &fields);
            let (early, late) = bytes.split_at(cut.min(bytes.len() - 1));
            let mut arrived = Arrived::default();
            arrived.push(early);
            prop_assert_eq!(arrived.next(version), Ok(None));
            arrived.push(late);
            let message = arrived.next(version).unwrap().unwrap();
            let reply = Reply::parse(version, &message).unwrap();
            prop_assert_eq!(&*reply.command, "do");
            for (name, value) in &fields {
                prop_assert_eq!(reply.get(name), Some(*value));
            }
            prop_assert_eq!(arrived.next(version), Ok(None));
        }
    }

    #[test]
    fn any_bytes_survive_a_store_with_short_words(
        value in vec(any::<u8>(), 0..300),
        word_chars in WORD_CHARS_MIN..200usize,
    ) {
        let words = split(&value, word_chars);
        prop_assert!(words.iter().all(|word| word.len() <= word_chars && is_word(word)));
        let (count, digits) = parts(&words[0]).unwrap();
        prop_assert_eq!(count, words.len());
        let mut back = from_digits(digits).unwrap();
        back.extend(words[1..].iter().flat_map(|word| from_digits(word).unwrap()));
        prop_assert_eq!(back, value);
    }
}

#[test]
fn the_longest_value_fits_its_count() {
    let words = split(&vec![7; VALUE_BYTES_MAX], WORD_CHARS_MIN);
    assert!(words[0].len() <= WORD_CHARS_MIN);
    assert_eq!(parts(&words[0]).map(|(count, _)| count), Some(words.len()));
    assert_eq!((parts("0."), parts("x.00"), parts("00")), (None, None, None));
    assert_eq!(
        (from_digits("0"), from_digits("0g"), from_digits("aF")),
        (None, None, Some(vec![0xaf]))
    );
}
