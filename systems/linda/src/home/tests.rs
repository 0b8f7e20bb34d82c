use super::*;

#[test]
fn fields_have_equal_keys_if_they_are_equal() {
    let fields = [
        Field::I64(0),
        Field::U64(0),
        Field::F64(0.0),
        Field::F64(-0.0),
        Field::F64(1.0),
        Field::Bool(false),
        Field::Char('\0'),
        Field::Text(String::new()),
        Field::Bytes(vec![]),
        Field::Bytes(vec![0]),
    ];
    for first in &fields {
        for second in &fields {
            let key = |field: &Field| Key::of_tuple(&[field.clone(), Field::Bool(true)]);
            assert_eq!(key(first) == key(second), first == second, "{first:?}, {second:?}");
        }
    }
}

#[test]
fn a_template_has_the_home_of_what_matches_unless_it_begins_with_a_formal() {
    for homes in [1, 2, 3, 64] {
        for n in 0..100 {
            let tuple = [Field::U64(n), Field::Bool(true)];
            let template = [Pattern::Actual(Field::U64(n)), Pattern::Formal(FieldKind::Bool)];
            let home = Key::of_tuple(&tuple).home(tuple.iter().map(Field::kind), homes);
            let key = Key::of_template(&template).unwrap();
            assert_eq!(key.home(template.iter().map(Pattern::kind), homes), home);
        }
    }
    assert_eq!(Key::of_template(&[Pattern::Formal(FieldKind::U64)]), None);
    assert_eq!(Key::of_template(&[]), Some(Key::of_tuple(&[])));
}

#[test]
fn first_values_and_types_spread_over_the_homes() {
    let mut homes = [0_u32; 8];
    for n in 0..8000 {
        homes[Key::of_tuple(&[Field::U64(n)]).home([FieldKind::U64].into_iter(), 8)] += 1;
    }
    assert!(homes.iter().all(|count| (800..1200).contains(count)), "{homes:?}");
    let by_type = FieldKind::ALL.map(|kind| {
        Key::of_tuple(&[Field::U64(0)]).home([FieldKind::U64, kind].into_iter(), 1 << 20)
    });
    assert!(by_type.iter().any(|home| *home != by_type[0]));
}
