use super::*;
use proptest::prelude::*;

fn field() -> impl Strategy<Value = Field> {
    prop_oneof![
        any::<i64>().prop_map(Field::I64),
        any::<u64>().prop_map(Field::U64),
        any::<f64>().prop_map(Field::F64),
        any::<bool>().prop_map(Field::Bool),
        any::<char>().prop_map(Field::Char),
        any::<String>().prop_map(Field::Text),
        any::<Vec<u8>>().prop_map(Field::Bytes),
    ]
}

fn pattern() -> impl Strategy<Value = Pattern> {
    let kind = (0..FieldKind::ALL.len()).prop_map(|index| Pattern::Formal(FieldKind::ALL[index]));
    prop_oneof![field().prop_map(Pattern::Actual), kind]
}

/// Equality by bits, so that what is no number equals itself.
fn is_same<T: std::fmt::Debug>(one: &T, other: &T) -> bool {
    format!("{one:?}") == format!("{other:?}")
}

proptest! {
    #[test]
    fn tuples_and_templates_are_read_as_they_were_written(
        tuple in proptest::collection::vec(field(), 0..10),
        template in proptest::collection::vec(pattern(), 0..10),
    ) {
        let mut bytes = Vec::new();
        emit_tuple(&tuple, &mut bytes);
        let mut reader = Reader(&bytes);
        let read = reader.tuple().unwrap();
        prop_assert!(reader.end(()).is_some() && is_same(&read, &tuple));
        for length in 0..bytes.len() {
            prop_assert_eq!(Reader(&bytes[..length]).tuple(), None);
        }
        bytes.clear();
        emit_template(&template, &mut bytes);
        let mut reader = Reader(&bytes);
        let read = reader.template().unwrap();
        prop_assert!(reader.end(()).is_some() && is_same(&read, &template));
        for length in 0..bytes.len() {
            prop_assert_eq!(Reader(&bytes[..length]).template(), None);
        }
    }

    #[test]
    fn what_is_read_of_any_bytes_is_written_as_these_bytes(
        bytes in proptest::collection::vec(prop_oneof![0..9_u8, any::<u8>()], 0..60),
    ) {
        let (mut tuple, mut template) = (Reader(&bytes), Reader(&bytes));
        let mut written = Vec::new();
        if let Some(read) = tuple.tuple() {
            emit_tuple(&read, &mut written);
            prop_assert_eq!(&written, &bytes[..bytes.len() - tuple.0.len()]);
        }
        written.clear();
        if let Some(read) = template.template() {
            emit_template(&read, &mut written);
            prop_assert_eq!(&written, &bytes[..bytes.len() - template.0.len()]);
        }
        written.clear();
        if let Some(read) = Answer::parse(&bytes) {
            read.emit(&mut written);
            prop_assert_eq!(&written, &bytes);
        }
    }
}

#[test]
fn answers_are_read_as_they_were_written() {
    let wants = vec![Want { rank: 1, number: u64::MAX }, Want { rank: 513, number: 2 }];
    let answers = [
        Answer::Done(vec![]),
        Answer::Done(wants),
        Answer::Found(vec![Field::U64(1), Field::Text("a".into())]),
        Answer::None(3),
        Answer::Hinted(Wanted { hints: 7, home: 300 }),
        Answer::Count(9),
    ];
    for answer in answers {
        let mut bytes = Vec::new();
        answer.emit(&mut bytes);
        assert_eq!(Answer::parse(&bytes).as_ref(), Some(&answer));
        bytes.push(0);
        assert_eq!(Answer::parse(&bytes), None, "{answer:?} and a byte");
    }
    assert_eq!(Answer::parse(&[]), None);
    assert_eq!(Answer::parse(&[6]), None);
}

#[test]
fn values_that_there_are_not_are_refused() {
    let tuple = |kind: FieldKind, value: &[u8]| Reader(&[&[1, kind as u8], value].concat()).tuple();
    assert_eq!(tuple(FieldKind::Bool, &[1]), Some(vec![Field::Bool(true)]));
    assert_eq!(tuple(FieldKind::Bool, &[2]), None);
    assert_eq!(tuple(FieldKind::Char, &0xd800_u32.to_le_bytes()), None);
    assert_eq!(tuple(FieldKind::Text, &[1, 0, 0, 0, 0xff]), None);
    assert_eq!(tuple(FieldKind::Bytes, &[1, 0, 0, 0, 0xff]), Some(vec![Field::Bytes(vec![0xff])]));
    assert_eq!(tuple(FieldKind::Bytes, &[0xff; 4]), None, "four gigabytes that are not there");
    assert_eq!(Reader(&[1, 0]).tuple(), None, "no kind");
    assert_eq!(Reader(&[1, FieldKind::I64 as u8 | FORMAL]).tuple(), None, "a formal in a tuple");
}

#[test]
fn more_fields_than_a_byte_counts_do_not_travel() {
    let many = vec![Field::Bool(true); FIELDS_MAX + 1];
    assert_eq!(check_fields(many.len(), many.iter()), Err(Error::ManyFields(256)));
    assert_eq!(check_fields(FIELDS_MAX, many[1..].iter()), Ok(()));
    let many = vec![Pattern::Formal(FieldKind::Bool); FIELDS_MAX + 1];
    assert_eq!(check_patterns(&many), Err(Error::ManyFields(256)));
    assert_eq!(check_patterns(&many[1..]), Ok(()));
}
