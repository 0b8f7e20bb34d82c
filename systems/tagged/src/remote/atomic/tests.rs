//! Operations against what C's operators say.

#![allow(clippy::unwrap_used)]

use super::*;
use AtomicOperation::*;

/// Does `operation` to one element of type `T`.
fn on<T: Number>(
    element: Element,
    operation: AtomicOperation,
    stored: T,
    operand: T,
    compared: T,
) -> T {
    let atomic = AtomicAccess { operation, element };
    assert!(atomic.is_valid(true), "{atomic:?}");
    let size = size_of::<T>();
    assert_eq!(size, element.size());
    let mut bytes = vec![0; size];
    stored.put(&mut bytes);
    let mut operands = vec![0; 2 * size];
    operand.put(&mut operands[..size]);
    compared.put(&mut operands[size..]);
    operands.truncate(operation.operands() * size);
    atomic.apply(&mut bytes, &operands);
    T::of(&bytes)
}

type Binary = fn(i32, i32) -> i32;
type Takes = fn(&i32, &i32) -> bool;

#[test]
fn integers_do_what_c_does() {
    let on = |operation, stored, operand, compared| {
        on::<i32>(Element::I32, operation, stored, operand, compared)
    };
    let binary: [(AtomicOperation, Binary); 12] = [
        (Min, |a, b| a.min(b)),
        (Max, |a, b| a.max(b)),
        (Sum, i32::wrapping_add),
        (Product, i32::wrapping_mul),
        (LogicalOr, |a, b| i32::from(a != 0 || b != 0)),
        (LogicalAnd, |a, b| i32::from(a != 0 && b != 0)),
        (BitOr, |a, b| a | b),
        (BitAnd, |a, b| a & b),
        (LogicalXor, |a, b| i32::from((a != 0) != (b != 0))),
        (BitXor, |a, b| a ^ b),
        (Read, |a, _| a),
        (Write, |_, b| b),
    ];
    let compares: [(AtomicOperation, Takes); 6] = [
        (Swap, i32::eq),
        (SwapNotEqual, i32::ne),
        (SwapLessOrEqual, i32::le),
        (SwapLess, i32::lt),
        (SwapGreaterOrEqual, i32::ge),
        (SwapGreater, i32::gt),
    ];
    let values = [0, 1, -1, 5, -7, i32::MAX, i32::MIN, 0x5555_5555];
    for a in values {
        for b in values {
            for (operation, expected) in binary {
                assert_eq!(on(operation, a, b, 0), expected(a, b), "{a} {operation:?} {b}");
            }
            for (operation, takes) in compares {
                let expected = if takes(&b, &a) { 99 } else { a };
                assert_eq!(on(operation, a, 99, b), expected, "{b} {operation:?} {a}");
            }
            assert_eq!(on(SwapMasked, a, 99, b), (99 & b) | (a & !b));
        }
    }
}

#[test]
fn sizes_and_signs_are_those_of_the_types() {
    assert_eq!(on::<u8>(Element::U8, Sum, 250, 10, 0), 4);
    assert_eq!(on::<i8>(Element::I8, Min, 5, -3, 0), -3);
    assert_eq!(on::<u16>(Element::U16, Max, 1, 0xffff, 0), 0xffff);
    assert_eq!(on::<i16>(Element::I16, Max, 1, -1, 0), 1);
    assert_eq!(on::<u32>(Element::U32, Max, 1, u32::MAX, 0), u32::MAX);
    assert_eq!(on::<i64>(Element::I64, Product, -3, 1 << 40, 0), -3 << 40);
    assert_eq!(on::<u64>(Element::U64, Swap, 7, u64::MAX, 7), u64::MAX);
    assert_eq!(on::<f32>(Element::F32, Sum, 0.5, 0.25, 0.0), 0.75);
    assert_eq!(on::<f64>(Element::F64, Product, -0.5, 3.0, 0.0), -1.5);
    assert_eq!(on::<f64>(Element::F64, LogicalXor, 0.0, 3.0, 0.0), 1.0);
    assert_eq!(on::<f64>(Element::F64, SwapLess, 3.0, 9.0, 2.0), 9.0);
}

#[test]
fn complex_numbers_have_no_order() {
    let product =
        on(Element::ComplexF64, Product, Complex(1.0, 2.0), Complex(3.0, 4.0), Complex(0.0, 0.0));
    assert!(product == Complex(-5.0, 10.0));
    let truth = on(
        Element::ComplexF32,
        LogicalAnd,
        Complex(0.0_f32, 2.0),
        Complex(3.0, 0.0),
        Complex(0.0, 0.0),
    );
    assert!(truth == Complex(1.0, 0.0));
    for operation in [Min, Max, SwapLess, BitOr, SwapMasked] {
        assert!(!AtomicAccess { operation, element: Element::ComplexF32 }.is_valid(true));
    }
    assert!(!AtomicAccess { operation: BitXor, element: Element::F64 }.is_valid(true));
}

#[test]
fn who_reads_or_compares_fetches() {
    for operation in AtomicOperation::ALL {
        let atomic = AtomicAccess { operation, element: Element::U64 };
        assert!(atomic.is_valid(true));
        assert_eq!(atomic.is_valid(false), operation != Read && !operation.compares());
    }
}

#[test]
fn numbers_are_those_of_libfabric() {
    for (number, operation) in AtomicOperation::ALL.into_iter().enumerate() {
        assert_eq!(operation as usize, number);
        assert_eq!(AtomicOperation::of_number(number as u8), Some(operation));
    }
    for (number, element) in Element::ALL.into_iter().enumerate() {
        assert_eq!(element as usize, number);
        assert_eq!(Element::of_number(number as u8), Some(element));
    }
    assert_eq!((AtomicOperation::of_number(19), Element::of_number(12)), (None, None));
}

#[test]
fn each_element_has_its_own_operands() {
    let mut stored: Vec<u8> = [1_u16, 2, 3].iter().flat_map(|it| it.to_ne_bytes()).collect();
    let operands: Vec<u8> =
        [10_u16, 20, 30, 1, 9, 3].iter().flat_map(|it| it.to_ne_bytes()).collect();
    AtomicAccess { operation: Swap, element: Element::U16 }.apply(&mut stored, &operands);
    let now: Vec<u16> =
        stored.chunks(2).map(|it| u16::from_ne_bytes(it.try_into().unwrap())).collect();
    assert_eq!(now, [10, 2, 30]);
}
