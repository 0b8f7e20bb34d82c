use super::*;

#[test]
fn values_match_by_equality_and_formals_by_type() {
    let fields = [
        Field::I64(1),
        Field::U64(1),
        Field::F64(1.0),
        Field::Bool(true),
        Field::Char('1'),
        Field::Text("1".into()),
        Field::Bytes(b"1".into()),
    ];
    assert!(fields.iter().map(Field::kind).eq(FieldKind::ALL));
    for (a, first) in fields.iter().enumerate() {
        for (b, second) in fields.iter().enumerate() {
            assert_eq!(Pattern::Actual(first.clone()).matches(second), a == b);
            assert_eq!(Pattern::Formal(first.kind()).matches(second), a == b);
        }
    }
    assert!(!Pattern::Actual(Field::I64(1)).matches(&Field::I64(2)));
    assert!(Pattern::Formal(FieldKind::I64).matches(&Field::I64(2)));
}

#[test]
fn what_is_no_number_is_matched_by_formals_alone_and_zeros_are_equal() {
    let nan = Field::F64(f64::NAN);
    assert!(!Pattern::Actual(nan.clone()).matches(&nan));
    assert!(Pattern::Formal(FieldKind::F64).matches(&nan));
    assert!(Pattern::Actual(Field::F64(0.0)).matches(&Field::F64(-0.0)));
    assert!(Pattern::Actual(Field::F64(-0.0)).matches(&Field::F64(0.0)));
}

#[test]
fn a_tuple_of_another_length_does_not_match() {
    let (one, any) = (Field::U64(1), Pattern::Formal(FieldKind::U64));
    assert!(matches(&[], &[]));
    assert!(!matches(std::slice::from_ref(&any), &[]));
    assert!(!matches(std::slice::from_ref(&any), &[one.clone(), one.clone()]));
    assert!(matches(&[any.clone(), any], &[one.clone(), one]));
}
