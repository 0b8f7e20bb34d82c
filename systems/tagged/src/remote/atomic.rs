//! Atomic accesses: an operation on elements of one type, one after the other.
//!
//! The numbers are those of libfabric's `enum fi_op` and `enum fi_datatype`, and the operations are
//! those of its `fi_atomic(3)`. Elements are in the byte order of the machines, which is one.

/// An operation that replaces a stored element, by the value given here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum AtomicOperation {
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
    /// The sum; of integers modulo their size.
    Sum,
    /// The product; of integers modulo their size.
    Product,
    /// 1 if one of the two is not 0.
    LogicalOr,
    /// 1 if both are not 0.
    LogicalAnd,
    /// Bit by bit.
    BitOr,
    /// Bit by bit.
    BitAnd,
    /// 1 if just one of the two is not 0.
    LogicalXor,
    /// Bit by bit.
    BitXor,
    /// The stored element, unchanged.
    Read,
    /// The operand.
    Write,
    /// The operand, if the compared element is equal to the stored one.
    Swap,
    /// The operand, if the compared element is not equal to the stored one.
    SwapNotEqual,
    /// The operand, if the compared element is less than the stored one, or equal.
    SwapLessOrEqual,
    /// The operand, if the compared element is less than the stored one.
    SwapLess,
    /// The operand, if the compared element is greater than the stored one, or equal.
    SwapGreaterOrEqual,
    /// The operand, if the compared element is greater than the stored one.
    SwapGreater,
    /// The operand in those bits that are set in the compared element.
    SwapMasked,
}

/// A type of elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs)] // They are what they are called.
pub enum Element {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
    ComplexF32,
    ComplexF64,
}

/// An operation on elements of a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AtomicAccess {
    /// The operation.
    pub operation: AtomicOperation,
    /// To what.
    pub element: Element,
}

impl AtomicOperation {
    /// All, by their numbers.
    pub const ALL: [AtomicOperation; 19] = [
        AtomicOperation::Min,
        AtomicOperation::Max,
        AtomicOperation::Sum,
        AtomicOperation::Product,
        AtomicOperation::LogicalOr,
        AtomicOperation::LogicalAnd,
        AtomicOperation::BitOr,
        AtomicOperation::BitAnd,
        AtomicOperation::LogicalXor,
        AtomicOperation::BitXor,
        AtomicOperation::Read,
        AtomicOperation::Write,
        AtomicOperation::Swap,
        AtomicOperation::SwapNotEqual,
        AtomicOperation::SwapLessOrEqual,
        AtomicOperation::SwapLess,
        AtomicOperation::SwapGreaterOrEqual,
        AtomicOperation::SwapGreater,
        AtomicOperation::SwapMasked,
    ];

    /// The one with this number.
    pub fn of_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// True if it compares.
    pub fn compares(self) -> bool {
        self as u8 >= AtomicOperation::Swap as u8
    }

    /// Number of operands that each element takes.
    pub fn operands(self) -> usize {
        match self {
            AtomicOperation::Read => 0,
            _ if self.compares() => 2,
            _ => 1,
        }
    }
}

impl Element {
    /// All, by their numbers.
    pub const ALL: [Element; 12] = [
        Element::I8,
        Element::U8,
        Element::I16,
        Element::U16,
        Element::I32,
        Element::U32,
        Element::I64,
        Element::U64,
        Element::F32,
        Element::F64,
        Element::ComplexF32,
        Element::ComplexF64,
    ];

    /// The one with this number.
    pub fn of_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// Bytes of one.
    pub fn size(self) -> usize {
        match self {
            Element::I8 | Element::U8 => 1,
            Element::I16 | Element::U16 => 2,
            Element::I32 | Element::U32 | Element::F32 => 4,
            Element::I64 | Element::U64 | Element::F64 | Element::ComplexF32 => 8,
            Element::ComplexF64 => 16,
        }
    }

    fn is_float(self) -> bool {
        matches!(self, Element::F32 | Element::F64)
    }

    fn is_complex(self) -> bool {
        matches!(self, Element::ComplexF32 | Element::ComplexF64)
    }
}

impl AtomicAccess {
    /// True if there is such an operation on such elements: bits are those of integers, and complex
    /// numbers have no order. An operation that only reads has to fetch, and one that compares
    /// fetches always.
    pub fn is_valid(self, fetches: bool) -> bool {
        use AtomicOperation::{
            BitAnd, BitOr, BitXor, Max, Min, Read, Swap, SwapMasked, SwapNotEqual,
        };
        let operation = self.operation;
        let of_bits = matches!(operation, BitOr | BitAnd | BitXor | SwapMasked);
        let swaps_by_order = operation.compares() && !matches!(operation, Swap | SwapNotEqual);
        let of_order = matches!(operation, Min | Max) || swaps_by_order;
        let is_right = !(of_bits && (self.element.is_float() || self.element.is_complex())
            || of_order && self.element.is_complex());
        is_right && (fetches || !(operation == Read || operation.compares()))
    }

    /// Does it to the elements in `stored`. `operands` has as many as the operation takes: first
    /// all operands, and then all that is compared with.
    pub fn apply(self, stored: &mut [u8], operands: &[u8]) {
        let apply = match self.element {
            Element::I8 => each::<i8>,
            Element::U8 => each::<u8>,
            Element::I16 => each::<i16>,
            Element::U16 => each::<u16>,
            Element::I32 => each::<i32>,
            Element::U32 => each::<u32>,
            Element::I64 => each::<i64>,
            Element::U64 => each::<u64>,
            Element::F32 => each::<f32>,
            Element::F64 => each::<f64>,
            Element::ComplexF32 => each::<Complex<f32>>,
            Element::ComplexF64 => each::<Complex<f64>>,
        };
        apply(self.operation, stored, operands);
    }
}

fn each<T: Number>(operation: AtomicOperation, stored: &mut [u8], operands: &[u8]) {
    let (operands, compared) = operands.split_at(stored.len().min(operands.len()));
    for (number, element) in stored.chunks_exact_mut(size_of::<T>()).enumerate() {
        let at = number * size_of::<T>()..(number + 1) * size_of::<T>();
        let old = T::of(element);
        let of = |given: &[u8]| given.get(at.clone()).map_or(old, T::of);
        T::combine(operation, old, of(operands), of(compared)).put(element);
    }
}

/// A type of elements, as Rust has it.
trait Number: Copy {
    /// The one in these bytes, which are as many as it has.
    fn of(bytes: &[u8]) -> Self;
    /// Puts it into such bytes.
    fn put(self, bytes: &mut [u8]);
    /// The new element in place of `old`.
    fn combine(operation: AtomicOperation, old: Self, operand: Self, compared: Self) -> Self;
}

/// Of operations that choose: what is stored or the operand.
fn chosen<T: PartialOrd>(operation: AtomicOperation, old: T, operand: T, compared: T) -> T {
    let takes = match operation {
        AtomicOperation::Min => operand < old,
        AtomicOperation::Max => operand > old,
        AtomicOperation::Write => true,
        AtomicOperation::Swap => compared == old,
        AtomicOperation::SwapNotEqual => compared != old,
        AtomicOperation::SwapLessOrEqual => compared <= old,
        AtomicOperation::SwapLess => compared < old,
        AtomicOperation::SwapGreaterOrEqual => compared >= old,
        AtomicOperation::SwapGreater => compared > old,
        _ => false,
    };
    if takes { operand } else { old }
}

/// Of operations on truth; `None` if it is no such.
fn logical(operation: AtomicOperation, old: bool, operand: bool) -> Option<bool> {
    Some(match operation {
        AtomicOperation::LogicalOr => old | operand,
        AtomicOperation::LogicalAnd => old & operand,
        AtomicOperation::LogicalXor => old ^ operand,
        _ => return None,
    })
}

macro_rules! primitive {
    ($number:ty, $old:ident, $operand:ident, $compared:ident, $($operation:ident => $result:expr),*) => {
        impl Number for $number {
            fn of(bytes: &[u8]) -> Self {
                bytes.try_into().map_or(Self::default(), Self::from_ne_bytes)
            }

            fn put(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_ne_bytes());
            }

            fn combine(operation: AtomicOperation, $old: Self, $operand: Self, $compared: Self) -> Self {
                let zero = Self::default();
                if let Some(truth) = logical(operation, $old != zero, $operand != zero) {
                    return truth.into();
                }
                match operation {
                    $(AtomicOperation::$operation => $result,)*
                    _ => chosen(operation, $old, $operand, $compared),
                }
            }
        }
    };
}

macro_rules! whole {
    ($($number:ty)*) => { $(primitive! { $number, old, operand, compared,
        Sum => old.wrapping_add(operand),
        Product => old.wrapping_mul(operand),
        BitOr => old | operand,
        BitAnd => old & operand,
        BitXor => old ^ operand,
        SwapMasked => operand & compared | old & !compared
    })* };
}

whole! { i8 u8 i16 u16 i32 u32 i64 u64 }
primitive! { f32, old, operand, compared, Sum => old + operand, Product => old * operand }
primitive! { f64, old, operand, compared, Sum => old + operand, Product => old * operand }

/// The real part and the imaginary one.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Complex<T>(T, T);

impl<T> Number for Complex<T>
where
    T: Number + Default + PartialOrd + From<bool>,
    T: std::ops::Add<Output = T> + std::ops::Sub<Output = T> + std::ops::Mul<Output = T>,
{
    fn of(bytes: &[u8]) -> Self {
        let (real, imaginary) = bytes.split_at(size_of::<T>());
        Complex(T::of(real), T::of(imaginary))
    }

    fn put(self, bytes: &mut [u8]) {
        let (real, imaginary) = bytes.split_at_mut(size_of::<T>());
        self.0.put(real);
        self.1.put(imaginary);
    }

    fn combine(operation: AtomicOperation, old: Self, operand: Self, compared: Self) -> Self {
        let zero = Complex(T::default(), T::default());
        if let Some(truth) = logical(operation, old != zero, operand != zero) {
            return Complex(truth.into(), T::default());
        }
        let (Complex(a, b), Complex(c, d)) = (old, operand);
        match operation {
            AtomicOperation::Sum => Complex(a + c, b + d),
            AtomicOperation::Product => Complex(a * c - b * d, a * d + b * c),
            _ => chosen(operation, old, operand, compared),
        }
    }
}

#[cfg(test)]
mod tests;
