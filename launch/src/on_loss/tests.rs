use super::*;

#[test]
fn reactions_are_read_as_they_are_written() {
    for reaction in [OnLoss::End, OnLoss::Continue] {
        assert_eq!(reaction.to_string().parse(), Ok(reaction));
    }
    assert_eq!("kill".parse::<OnLoss>(), Err("\"kill\" is neither end nor continue".into()));
}
