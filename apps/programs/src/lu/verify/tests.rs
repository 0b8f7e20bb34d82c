use super::residual;
use crate::lu::matrix::Matrix;
use crate::lu::sequential::sequential;

fn matrix(order: usize, block: usize) -> Matrix {
    Matrix { order, block, seed: 11 }
}

#[test]
fn factors_of_any_blocks_solve_the_system() {
    for (order, block) in [(1, 1), (5, 16), (64, 8), (50, 7), (33, 16)] {
        let matrix = matrix(order, block);
        let residual = residual(&matrix, &sequential(&matrix, |_| ()));
        assert!(
            residual.as_ref().is_ok_and(|residual| *residual < 1e-13),
            "{order} {block}: {residual:?}"
        );
    }
}

#[test]
fn an_element_that_is_off_is_found() {
    let matrix = matrix(40, 8);
    let factors = sequential(&matrix, |_| ());
    for (block, value) in [(0, 1e-6), (7, 1e-6), (24, -1e-5), (24, f64::NAN)] {
        let mut factors = factors.clone();
        factors[block][9] += value;
        let error = residual(&matrix, &factors).expect_err("it is wrong");
        assert!(error.starts_with("the residual is "), "{error}");
    }
}

#[test]
fn operations_are_two_thirds_of_the_order_s_cube() {
    let total = std::cell::Cell::new(0);
    sequential(&matrix(128, 16), |operations| total.set(total.get() + operations));
    let wanted = 2 * 128_usize.pow(3) / 3;
    assert!(total.get().abs_diff(wanted) < wanted / 50, "{} instead of {wanted}", total.get());
}
