use super::sweep;

#[test]
fn a_step_is_what_it_is_on_paper() {
    let rows = [4.0, 1.0, -1.0, 2.0, 8.0, 0.0, 0.0, 1.0, 2.0];
    let (right, x) = ([8.0, 16.0, 4.0], [1.0, 2.0, 3.0]);
    let mut next = [0.0; 3];
    let change = sweep(&rows, &right, 0, &x, &mut next);
    assert_eq!(next, [(8.0 - 2.0 + 3.0) / 4.0, (16.0 - 2.0) / 8.0, (4.0 - 2.0) / 2.0]);
    assert_eq!(change, 2.0);
}

#[test]
fn rows_by_themselves_give_the_same_bits() {
    let count = 7;
    let rows: Vec<f64> = (0..count * count).map(|i| 1.0 / (i + 1) as f64).collect();
    let right: Vec<f64> = (0..count).map(|i| i as f64 / 3.0).collect();
    let x: Vec<f64> = (0..count).map(|i| (i * i) as f64 / 7.0).collect();
    let mut whole = vec![0.0; count];
    let change = sweep(&rows, &right, 0, &x, &mut whole);
    let mut largest: f64 = 0.0;
    for row in 0..count {
        let mut one = [0.0];
        let own = &rows[row * count..(row + 1) * count];
        largest = largest.max(sweep(own, &right[row..=row], row, &x, &mut one));
        assert_eq!(one[0].to_bits(), whole[row].to_bits());
    }
    assert_eq!(largest.to_bits(), change.to_bits());
    assert_eq!(sweep(&[], &[], 3, &x, &mut []), 0.0, "a rank without rows");
}
