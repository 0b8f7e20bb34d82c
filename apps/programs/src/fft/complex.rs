//! Complex numbers as they lie in regions: eight bytes each, as in the thesis.

/// The real and the imaginary part.
pub type Complex = [f32; 2];

/// The sum.
pub fn add(a: Complex, b: Complex) -> Complex {
    [a[0] + b[0], a[1] + b[1]]
}

/// The difference.
pub fn subtract(a: Complex, b: Complex) -> Complex {
    [a[0] - b[0], a[1] - b[1]]
}

/// The product.
pub fn multiply(a: Complex, b: Complex) -> Complex {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

/// The square of the distance from zero.
pub fn square(a: Complex) -> f64 {
    f64::from(a[0]).powi(2) + f64::from(a[1]).powi(2)
}
