use super::{Buffer, Layer};

const LAYERS: [Layer; 4] = [Layer::Far, Layer::Bulk, Layer::Runs, Layer::Endpoint];

#[test]
fn a_name_says_kind_number_and_marks() {
    for kind in 0..Buffer::KINDS {
        for number in [0, 1, Buffer::NUMBERS - 1] {
            let buffer = Buffer::new(kind, number);
            assert_eq!((buffer.kind(), buffer.number()), (kind, number));
            for layer in LAYERS {
                let marked = buffer.marked(layer);
                assert_eq!((marked.kind(), marked.number()), (kind, number));
                assert_eq!(marked.unmarked(layer), Some(buffer));
                assert_eq!(buffer.unmarked(layer), None);
            }
        }
    }
}

#[test]
fn all_layers_may_mark_a_frame_and_each_sees_its_own_mark() {
    let all = LAYERS.into_iter().fold(Buffer::new(3, 7), Buffer::marked);
    assert_ne!(all, Buffer::NONE);
    let none = LAYERS.into_iter().try_fold(all, Buffer::unmarked);
    assert_eq!(none, Some(Buffer::new(3, 7)));
}

#[test]
#[should_panic = "a frame is marked once"]
fn a_frame_is_marked_once() {
    let _ = Buffer::new(0, 0).marked(Layer::Far).marked(Layer::Far);
}

#[test]
#[should_panic = "a frame has one name"]
fn a_number_is_no_kind() {
    let _ = Buffer::new(0, Buffer::NUMBERS);
}

#[test]
fn a_name_can_be_read() {
    let marked = Buffer::new(1, 5).marked(Layer::Far);
    assert_eq!(format!("{marked:?}"), "frame 5 of kind 1, Far");
}
