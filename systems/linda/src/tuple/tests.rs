use super::*;

#[test]
fn tuples_become_fields_and_fields_tuples() {
    let owned = "owned".to_owned();
    let tuple = (1_i64, 2_u64, 0.5, true, 'x', "text", &owned, &[1_u8, 2]);
    let fields = vec![
        Field::I64(1),
        Field::U64(2),
        Field::F64(0.5),
        Field::Bool(true),
        Field::Char('x'),
        Field::Text("text".into()),
        Field::Text("owned".into()),
        Field::Bytes(vec![1, 2]),
    ];
    assert_eq!(tuple.into_fields(), fields);
    let found = <(i64, u64, f64, bool, char, String, String, Vec<u8>)>::found(fields);
    let expected = (1, 2, 0.5, true, 'x', "text".into(), "owned".into(), vec![1, 2]);
    assert_eq!(found, Some(expected));
    assert_eq!(().into_fields(), []);
}

#[test]
fn a_template_says_what_it_finds() {
    fn found<T: Template>(_: T, fields: Vec<Field>) -> Option<T::Found> {
        T::found(fields)
    }
    let template = ("point", any::<i64>(), &b"raw"[..]);
    let patterns = vec![
        Pattern::Actual(Field::Text("point".into())),
        Pattern::Formal(FieldKind::I64),
        Pattern::Actual(Field::Bytes(b"raw".into())),
    ];
    assert_eq!(template.into_patterns(), patterns);
    let fields = vec![Field::Text("point".into()), Field::I64(7), Field::Bytes(b"raw".into())];
    let point: Option<(String, i64, Vec<u8>)> = found(template, fields.clone());
    assert_eq!(point, Some(("point".into(), 7, b"raw".into())));
    assert_eq!(found(template, fields[..2].into()), None);
    assert_eq!(found(template, [&fields[..], &fields[..1]].concat()), None);
    assert_eq!(found((any::<u64>(),), vec![Field::I64(1)]), None);
}
