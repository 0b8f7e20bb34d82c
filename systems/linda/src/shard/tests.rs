use super::*;

fn point(name: &str, x: i64) -> Vec<Field> {
    vec![Field::Text(name.into()), Field::I64(x)]
}

fn named(name: &str) -> Vec<Pattern> {
    vec![Pattern::Actual(Field::Text(name.into())), Pattern::Formal(FieldKind::I64)]
}

fn any_point() -> Vec<Pattern> {
    vec![Pattern::Formal(FieldKind::Text), Pattern::Formal(FieldKind::I64)]
}

#[test]
fn a_tuple_is_read_many_times_and_taken_once() {
    let mut shard = Shard::default();
    assert_eq!(shard.put(point("a", 1)), []);
    assert_eq!(shard.read(&named("a")), Some(&*point("a", 1)));
    assert_eq!(shard.read(&any_point()), Some(&*point("a", 1)));
    assert_eq!(shard.read(&named("b")), None);
    assert_eq!((shard.count(), shard.puts(&named("b"))), (1, 1));
    assert_eq!(shard.take(&any_point()), Some(point("a", 1)));
    assert_eq!(shard.take(&any_point()), None);
    assert_eq!((shard.count(), shard.puts(&any_point())), (0, 1));
    assert_eq!(shard.puts(&[]), 0);
}

#[test]
fn the_eldest_of_a_name_comes_first() {
    let mut shard = Shard::default();
    for x in [3, 1, 2, 1] {
        shard.put(point("a", x));
    }
    let first = [Pattern::Actual(Field::Text("a".into())), Pattern::Actual(Field::I64(1))];
    assert_eq!(shard.take(&first), Some(point("a", 1)));
    let order = [3, 2, 1].map(|x| Some(point("a", x)));
    assert_eq!([(); 3].map(|()| shard.take(&named("a"))), order);
}

#[test]
fn tuples_that_are_no_numbers_are_kept_apart_and_zeros_together() {
    let mut shard = Shard::default();
    let float = |value| vec![Field::F64(value)];
    for value in [f64::NAN, 0.0, -0.0] {
        shard.put(float(value));
    }
    let actual = |value| [Pattern::Actual(Field::F64(value))];
    assert_eq!(shard.take(&actual(f64::NAN)), None);
    assert_eq!(shard.take(&actual(-0.0)), Some(float(0.0)));
    assert_eq!(shard.take(&actual(0.0)), Some(float(-0.0)));
    let Some([Field::F64(left)]) = shard.read(&[Pattern::Formal(FieldKind::F64)]) else { panic!() };
    assert!(left.is_nan());
}

#[test]
fn of_ten_thousand_tuples_those_are_looked_at_that_have_the_first_field_and_the_types() {
    let mut shard = Shard::default();
    for n in 0..10_000 {
        shard.put(point(&n.to_string(), n));
        shard.put(vec![Field::Text(n.to_string())]);
    }
    for n in [0, 1, 5000, 9999] {
        assert_eq!(shard.candidates(&named(&n.to_string())).count(), 1);
        assert_eq!(shard.take(&named(&n.to_string())), Some(point(&n.to_string(), n)));
        assert_eq!(shard.candidates(&named(&n.to_string())).count(), 0);
    }
    assert_eq!(shard.candidates(&any_point()).count(), 9996);
    assert_eq!(shard.count(), 19_996);
}

#[test]
fn who_puts_a_tuple_hears_of_all_that_want_it() {
    let mut shard = Shard::default();
    let [first, second, third] = [(0, 1), (2, 1), (2, 2)].map(|(rank, number)| {
        let want = Want { rank, number };
        shard.wants.insert(want, (any_point(), Wanted::default()));
        want
    });
    shard.wants.insert(third, (vec![Pattern::Formal(FieldKind::Text)], Wanted::default()));
    assert_eq!(shard.put(point("a", 1)), [first, second]);
    assert_eq!(shard.put(vec![Field::Text("a".into())]), [third]);
    shard.wants.remove(&first);
    assert_eq!(shard.put(point("a", 1)), [second]);
    assert_eq!(shard.put(vec![Field::Bool(true)]), []);
}
