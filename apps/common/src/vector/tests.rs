use super::Vector;

#[test]
fn vectors_are_computed_by_coordinate() {
    let (a, b) = (Vector([1.0, -2.0, 3.0]), Vector([0.5, 4.0, -1.0]));
    assert_eq!((a + b, a - b), (Vector([1.5, 2.0, 2.0]), Vector([0.5, -6.0, 4.0])));
    assert_eq!((a * 2.0, -a), (Vector([2.0, -4.0, 6.0]), Vector([-1.0, 2.0, -3.0])));
    assert_eq!((a.dot(b), a.square(), a.reach(), a[1]), (-10.5, 14.0, 3.0, -2.0));
    assert_eq!(Vector([3.0, 0.0, -4.0]).length(), 5.0);
    let mut sum = a;
    sum += b;
    sum -= a;
    assert_eq!(sum, b);
}
