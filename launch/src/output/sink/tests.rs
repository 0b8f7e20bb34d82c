use super::*;
use rustix::io::read;
use rustix::pipe::{PipeFlags, pipe_with};
use std::os::fd::AsFd;

fn written(pushes: &[(usize, &str, &[u8])]) -> Vec<u8> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).unwrap();
    let mut sink = Sink::stream(writer.as_fd()).unwrap();
    for (stream, label, piece) in pushes {
        sink.push(*stream, label, piece);
    }
    sink.end_line();
    while sink.waits_for().is_some() {
        sink.write_some().unwrap();
    }
    let mut bytes = vec![0; 10_000];
    let count = read(&reader, &mut bytes).unwrap();
    bytes.truncate(count);
    bytes
}

#[test]
fn labels_begin_lines_and_nothing_else() {
    let bytes = written(&[
        (0, "[0] ", b"whole\n"),
        (0, "[0] ", b"begun"),
        (0, "[0] ", b" and ended\n"),
        (1, "[1] ", b"10%\r"),
        (1, "[1] ", b"20%\r"),
        (1, "[1] ", b"\n"),
    ]);
    assert_eq!(bytes, b"[0] whole\n[0] begun and ended\n[1] 10%\r[1] 20%\r\n");
}

#[test]
fn a_line_without_end_is_ended_before_another_stream_speaks() {
    let bytes = written(&[(0, "", b"no end"), (1, "", b"other\n"), (1, "", b"last")]);
    assert_eq!(bytes, b"no end\nother\nlast\n");
}

#[test]
fn a_full_pipe_does_not_block_and_keeps_its_own_flags() {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).unwrap();
    let mut sink = Sink::stream(writer.as_fd()).unwrap();
    let bytes = vec![7; 256 * 1024];
    sink.push(0, "", &bytes);
    assert!(!sink.has_room());
    let mut waiting = usize::MAX;
    while sink.queue.len() < waiting {
        waiting = sink.queue.len();
        sink.write_some().unwrap();
    }
    assert!(waiting > 0, "a pipe that nobody reads is full at some point");
    assert!(!rustix::fs::fcntl_getfl(&writer).unwrap().contains(OFlags::NONBLOCK));
    drop(reader);
    // Children of other tests have the pipe, too, until they have become other programs.
    let refused = std::iter::repeat_with(|| sink.write_some()).find(Result::is_err);
    assert_eq!(refused, Some(Err(Errno::PIPE)));
    assert!(sink.waits_for().is_none());
}
