use std::ops::{Add, AddAssign, Index, Mul, Neg, Sub, SubAssign};

/// A point or a direction in space.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Vector(pub [f64; 3]);

impl Vector {
    /// The inner product.
    #[inline]
    pub fn dot(self, other: Self) -> f64 {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        a * x + b * y + c * z
    }

    /// The square of its length.
    #[inline]
    pub fn square(self) -> f64 {
        self.dot(self)
    }

    /// Its length.
    #[inline]
    pub fn length(self) -> f64 {
        self.square().sqrt()
    }

    /// Each coordinate by itself.
    #[inline]
    #[must_use]
    pub fn map(self, each: impl FnMut(f64) -> f64) -> Self {
        Vector(self.0.map(each))
    }

    /// The largest absolute value of a coordinate.
    #[inline]
    pub fn reach(self) -> f64 {
        self.0.into_iter().fold(0.0, |most, coordinate| most.max(coordinate.abs()))
    }
}

impl Add for Vector {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Vector(std::array::from_fn(|axis| self.0[axis] + other.0[axis]))
    }
}

impl Sub for Vector {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        Vector(std::array::from_fn(|axis| self.0[axis] - other.0[axis]))
    }
}

impl Mul<f64> for Vector {
    type Output = Self;

    #[inline]
    fn mul(self, factor: f64) -> Self {
        self.map(|coordinate| coordinate * factor)
    }
}

impl Neg for Vector {
    type Output = Self;

    #[inline]
    fn neg(self) -> Self {
        self.map(|coordinate| -coordinate)
    }
}

impl AddAssign for Vector {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Vector {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Index<usize> for Vector {
    type Output = f64;

    #[inline]
    fn index(&self, axis: usize) -> &f64 {
        &self.0[axis]
    }
}

#[cfg(test)]
mod tests;
