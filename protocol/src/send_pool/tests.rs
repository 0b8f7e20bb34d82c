use super::*;
use crate::settings::Pupa;

#[test]
fn buffers_run_short_at_the_upper_mark_and_recover_at_the_lower() {
    let settings = Settings { pupa: Pupa::new(3, 100), ..Settings::new(3, 8) };
    let (many, few) = settings.pupa.pool_marks();
    assert!(few < many);
    let mut buffers = SendPool::default();
    (1..many).for_each(|_| buffers.take(1));
    assert!(!buffers.are_scarce(&settings));
    buffers.take(1);
    assert!(buffers.are_scarce(&settings) && buffers.run_short() && !buffers.run_short());
    while buffers.taken > few {
        buffers.recover(&settings);
        assert!(buffers.are_short(), "{} are taken", buffers.taken);
        buffers.note_acknowledged(1);
        buffers.give_back(1);
    }
    buffers.recover(&settings);
    assert!(!buffers.are_short());
    assert_eq!(buffers.unacknowledged(), few);
}
