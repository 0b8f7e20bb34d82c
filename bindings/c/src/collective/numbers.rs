//! Types and operations of C in Rust.

use super::{Operation, Type};
use crate::memory::{OperationNumber, TypeNumber};
use crate::status::Failure;
use bytemuck::Pod;
use weft::collective::{self, Reduction};

/// Combines a value with the one that comes after it.
pub type Combiner<T> = fn(&mut T, &T);

/// A number that operations compute with.
pub trait Number: Pod + Send {
    /// Combiner of the operation, unless these numbers do not have it.
    fn combiner(operation: Operation) -> Option<Combiner<Self>>;
}

macro_rules! number {
    ($number:ty: $($operation:ident)*) => {
        impl Number for $number {
            fn combiner(operation: Operation) -> Option<Combiner<Self>> {
                $(if operation == Operation::$operation {
                    return Some(|into, next| collective::$operation.combine(into, next));
                })*
                None
            }
        }
    };
}

number!(i8: Sum Product Min Max And Or Xor);
number!(i16: Sum Product Min Max And Or Xor);
number!(i32: Sum Product Min Max And Or Xor);
number!(i64: Sum Product Min Max And Or Xor);
number!(u8: Sum Product Min Max And Or Xor);
number!(u16: Sum Product Min Max And Or Xor);
number!(u32: Sum Product Min Max And Or Xor);
number!(u64: Sum Product Min Max And Or Xor);
number!(f32: Sum Product Min Max);
number!(f64: Sum Product Min Max);

/// Does some work with the Rust type that a type of C's is.
macro_rules! with_type {
    ($of:expr, |$number:ident| $work:expr) => {
        match $of {
            Type::I8 => with_type!(@ $number i8, $work),
            Type::I16 => with_type!(@ $number i16, $work),
            Type::I32 => with_type!(@ $number i32, $work),
            Type::I64 => with_type!(@ $number i64, $work),
            Type::U8 => with_type!(@ $number u8, $work),
            Type::U16 => with_type!(@ $number u16, $work),
            Type::U32 => with_type!(@ $number u32, $work),
            Type::U64 => with_type!(@ $number u64, $work),
            Type::F32 => with_type!(@ $number f32, $work),
            Type::F64 => with_type!(@ $number f64, $work),
        }
    };
    (@ $number:ident $type:ty, $work:expr) => {{
        type $number = $type;
        $work
    }};
}

const TYPES: [Type; 10] = [
    Type::I8,
    Type::I16,
    Type::I32,
    Type::I64,
    Type::U8,
    Type::U16,
    Type::U32,
    Type::U64,
    Type::F32,
    Type::F64,
];

const OPERATIONS: [Operation; 7] = [
    Operation::Sum,
    Operation::Product,
    Operation::Min,
    Operation::Max,
    Operation::And,
    Operation::Or,
    Operation::Xor,
];

pub(crate) use with_type;

impl TypeNumber {
    /// The type, if there is one of that number.
    pub fn get(self) -> Result<Type, Failure> {
        let unknown = || Failure::invalid(format!("there is no type {}", self.0));
        TYPES.get(self.0 as usize).copied().ok_or_else(unknown)
    }

    /// The bytes that so many values take.
    pub fn bytes(self, count: usize) -> Result<usize, Failure> {
        let size = with_type!(self.get()?, |T| size_of::<T>());
        let too_many = || Failure::invalid(format!("no memory holds {count} values"));
        count.checked_mul(size).ok_or_else(too_many)
    }
}

impl OperationNumber {
    fn get(self) -> Result<Operation, Failure> {
        let unknown = || Failure::invalid(format!("there is no operation {}", self.0));
        OPERATIONS.get(self.0 as usize).copied().ok_or_else(unknown)
    }

    /// Combiner of values of one type.
    pub fn combiner<T: Number>(self) -> Result<Combiner<T>, Failure> {
        let operation = self.get()?;
        let without = || {
            let name = std::any::type_name::<T>();
            Failure::invalid(format!("{operation:?} is not computed with {name}"))
        };
        T::combiner(operation).ok_or_else(without)
    }
}

/// The numbers that bytes of C's are, which need not be aligned.
pub fn numbers<T: Number>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}

/// The bytes of numbers, for C.
pub fn bytes_of<T: Number>(values: Vec<T>) -> Vec<u8> {
    bytemuck::cast_slice(&values).to_vec()
}
