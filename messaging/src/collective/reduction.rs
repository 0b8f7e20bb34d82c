//! Functions that combine values.

/// Combines values of type `T`. It must be associative: `(a b) c` as good as `a (b c)`. It need not
/// be commutative: values are combined in the order of members, and always in the same tree, so
/// that floats give the same bits on every member and in every run.
///
/// Any `Fn(&mut T, &T)` is one.
pub trait Reduction<T>: Send + Sync + 'static {
    /// Makes of `into` what it and `next`, which comes after it in the order of members, give.
    fn combine(&self, into: &mut T, next: &T);
}

impl<T, F: Fn(&mut T, &T) + Send + Sync + 'static> Reduction<T> for F {
    fn combine(&self, into: &mut T, next: &T) {
        self(into, next);
    }
}

/// The sum. That of integers wraps around.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum;

/// The product. That of integers wraps around.
#[derive(Clone, Copy, Debug, Default)]
pub struct Product;

/// The least. Of floats that are not numbers it takes none, if there is another.
#[derive(Clone, Copy, Debug, Default)]
pub struct Min;

/// The greatest. Of floats that are not numbers it takes none, if there is another.
#[derive(Clone, Copy, Debug, Default)]
pub struct Max;

/// Bitwise and.
#[derive(Clone, Copy, Debug, Default)]
pub struct And;

/// Bitwise or.
#[derive(Clone, Copy, Debug, Default)]
pub struct Or;

/// Bitwise exclusive or.
#[derive(Clone, Copy, Debug, Default)]
pub struct Xor;

macro_rules! reductions {
    ($name:ident, |$a:ident, $b:ident| $value:expr, $($number:ty)*) => {$(
        impl Reduction<$number> for $name {
            fn combine(&self, into: &mut $number, next: &$number) {
                let ($a, $b) = (*into, *next);
                *into = $value;
            }
        }
    )*};
}

macro_rules! integers {
    ($name:ident, |$a:ident, $b:ident| $value:expr) => {
        reductions!($name, |$a, $b| $value, u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);
    };
}

integers!(Sum, |a, b| a.wrapping_add(b));
integers!(Product, |a, b| a.wrapping_mul(b));
integers!(Min, |a, b| a.min(b));
integers!(Max, |a, b| a.max(b));
integers!(And, |a, b| a & b);
integers!(Or, |a, b| a | b);
integers!(Xor, |a, b| a ^ b);
reductions!(Sum, |a, b| a + b, f32 f64);
reductions!(Product, |a, b| a * b, f32 f64);
reductions!(Min, |a, b| a.min(b), f32 f64);
reductions!(Max, |a, b| a.max(b), f32 f64);
