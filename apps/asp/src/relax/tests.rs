use super::{FAR, relax};

#[test]
fn floyd_and_warshall_find_the_shortest_ways() {
    // A ring of five with a chord, and a node that nothing leads to.
    let mut matrix = vec![[FAR; 6]; 6];
    (0..6).for_each(|node| matrix[node][node] = 0);
    (0..5).for_each(|node| matrix[node][(node + 1) % 5] = 2);
    (matrix[0][3], matrix[5][0]) = (1, 7);
    for pivot in 0..6 {
        let by = matrix[pivot];
        matrix.iter_mut().for_each(|row| relax(row, &by, pivot));
    }
    assert_eq!(matrix[0], [0, 2, 4, 1, 3, FAR]);
    assert_eq!(matrix[5], [7, 9, 11, 8, 10, 0]);
    assert_eq!(matrix[2], [6, 8, 0, 2, 4, FAR]);
}
