use super::Error;
use weft_endpoint::Rank;

#[test]
fn one_message_is_not_many() {
    let text = |messages| Error::Unclaimed { from: Rank(3), messages }.to_string();
    assert_eq!(text(1), "rank 3 sent 1 message to a port that this rank never created");
    assert_eq!(text(2), "rank 3 sent 2 messages to a port that this rank never created");
}
