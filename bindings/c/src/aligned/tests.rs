use super::*;

#[test]
fn bytes_stay_where_they_are_if_that_is_aligned() {
    let numbers = [1_u64, 2, 3];
    let bytes: &[u8] = bytemuck::cast_slice(&numbers);
    let aligned = Aligned::new(bytes);
    assert_eq!((aligned.start(), aligned.len()), (bytes.as_ptr().cast(), 24));
    let aligned = Aligned::new(&bytes[8..9]);
    assert_eq!((aligned.start(), aligned.len()), (bytes[8..].as_ptr().cast(), 1));
}

#[test]
fn others_are_moved_whole() {
    let numbers = [0x0807_0605_0403_0201_u64, 0x100f_0e0d_0c0b_0a09];
    let bytes: &[u8] = bytemuck::cast_slice(&numbers);
    for (start, end) in [(1, 2), (1, 9), (1, 10), (3, 16), (7, 8)] {
        let aligned = Aligned::new(&bytes[start..end]);
        assert!(aligned.start().cast::<u64>().is_aligned());
        assert_eq!(aligned.start(), aligned.moved.as_ptr().cast());
        assert_eq!(aligned.len(), end - start);
        assert_eq!(bytemuck::cast_slice::<_, u8>(&aligned.moved)[..end - start], bytes[start..end]);
    }
}

#[test]
fn no_bytes_have_an_address() {
    let numbers = [0_u64];
    let nothing: &[u8] = &bytemuck::cast_slice(&numbers)[1..1];
    let aligned = Aligned::new(nothing);
    assert!(!aligned.start().is_null() && aligned.start().cast::<u64>().is_aligned());
    assert_eq!((aligned.len(), aligned.moved.len()), (0, 0));
}
