use super::*;

#[test]
fn arrays_and_values_are_read_as_they_were_written() {
    let (row, counts) = ([1.5, -2.5, 1e300], [7_u16, 9]);
    let values = values(&("name", count(&row).unwrap(), count(&counts).unwrap(), 5_i64)).unwrap();
    let bytes = [array(&row), array(&counts), &values].concat();
    let mut arguments = Arguments::parse(&bytes).unwrap();
    assert_eq!(arguments.values::<(&str, u32, u32, i64)>(), Some(("name", 3, 2, 5)));
    assert_eq!(arguments.array::<f64>(3).unwrap(), row.as_slice());
    assert!(!arguments.is_read());
    assert_eq!(arguments.array::<u16>(2).unwrap(), counts.as_slice());
    assert!(arguments.is_read());
    assert_eq!(arguments.array::<u8>(1), None);
}

#[test]
fn an_array_is_used_where_it_lies_if_it_is_aligned() {
    // Of two neighbouring places one is aligned for u16 and one is not.
    let bytes = [1, 2, 3, 4, 5, 0, 0, 0, 0];
    let is_borrowed = [0, 1].map(|start| {
        let mut arguments = Arguments { arrays: &bytes[start..], values: &[] };
        let array = arguments.array::<u16>(2).unwrap();
        let expected =
            [0, 2].map(|at| u16::from_ne_bytes([bytes[start + at], bytes[start + at + 1]]));
        assert_eq!(array, expected.as_slice());
        matches!(array, Cow::Borrowed(_))
    });
    assert!(is_borrowed[0] != is_borrowed[1]);
}

#[test]
fn what_are_no_arguments_is_refused() {
    assert!(Arguments::parse(&[1, 2, 3]).is_none());
    assert!(Arguments::parse(&[1, 2, 0, 0, 0]).is_none(), "fewer bytes than it says");
    assert!(Arguments::parse(&u32::MAX.to_le_bytes()).is_none());
    let values = values(&(1_u64, 2_u8)).unwrap();
    let mut arguments = Arguments::parse(&values).unwrap();
    assert_eq!(arguments.values::<(u64,)>(), None, "something is left over");
    assert_eq!(arguments.values::<(u64, u8, u8)>(), None, "something is missing");
    assert_eq!(arguments.array::<u128>(u32::MAX), None);
}

#[test]
fn results_and_states_are_read_as_they_were_written() {
    let mut bytes = Vec::new();
    put(&("text", 7_u8), &mut bytes);
    assert_eq!(take::<(String, u8)>(&bytes), Ok(("text".into(), 7)));
    assert_eq!(take::<u8>(&bytes), Err(Error::Unreadable));
    assert_eq!(take_array::<u8>(vec![1, 2, 3]), Ok(vec![1, 2, 3]));
    let mut bytes = Vec::new();
    put_array(vec![1_u8, 2], &mut bytes);
    put_array(vec![3_u8], &mut bytes);
    put_array(vec![0x0605_u16], &mut bytes);
    assert_eq!(bytes, [&[1, 2, 3][..], &0x0605_u16.to_ne_bytes()].concat());
    let numbers = [1.5, 2.5];
    assert_eq!(take_array::<f64>(array(&numbers).to_vec()), Ok(numbers.to_vec()));
    assert_eq!(take_array::<f64>(vec![1, 2, 3]), Err(Error::Unreadable));
    assert_eq!(restore::<(u8, String)>(&capture(&(1_u8, "one"))), Some((1, "one".into())));
    assert_eq!(restore::<()>(&capture(&())), Some(()));
    assert_eq!(restore::<()>(&[]), None);
    assert_eq!(restore::<()>(&[1, 2]), None);
}

/// A type that cannot be written.
struct Unwritable;

impl Serialize for Unwritable {
    fn serialize<S: serde::Serializer>(&self, _: S) -> std::result::Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("on purpose"))
    }
}

#[test]
fn what_cannot_be_written_is_an_error_and_no_state() {
    assert!(matches!(values(&(Unwritable,)), Err(Error::Unwritable(_))));
    assert!(capture(&Unwritable).is_empty());
}
