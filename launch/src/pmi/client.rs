//! PMI-1 and PMI-2 over a socket.
//!
//! Question and answer in turn; the socket is the one that the process manager left open
//! (`PMI_FD`), or one that is made to it (`PMI_PORT`).

use std::env;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use crate::pmi::farewell::{self, Farewell};
use crate::pmi::inherited::{TakeError, share_socket};
use crate::pmi::wire::{
    Arrived, BadReply, Reply, Version, WORD_CHARS_MIN, emit, from_digits, is_word, parts, split,
};
use crate::pmi::{Error, PmiClient, key_of};
use rustix::process::getpid;

/// Characters of the longest word that is put in a store, and PMI-2's limit.
const WORD_CHARS_MAX: u32 = 1024;

/// A connection to a process manager.
#[derive(Debug)]
pub struct Client {
    // A Unix stream of std calls `read` and `send`, which any connected socket has.
    stream: UnixStream,
    version: Version,
    arrived: Arrived,
    name: String,
    rank: u32,
    ranks: u32,
    /// The name of the store.
    store: String,
    /// Characters of the longest value in it.
    word_chars: usize,
    /// Number of times that this process has taken its place before.
    before: u32,
}

impl Client {
    /// Connects to the process manager that the environment names, and agrees on the version. Who
    /// has had its place so many times `before` goes on where it left.
    pub fn open(version: Version, before: u32) -> Result<Self, Error> {
        let mut client = Client::connect(version)?;
        client.before = before;
        Ok(client)
    }

    fn connect(version: Version) -> Result<Self, Error> {
        let slurm = env::var_os("SLURM_JOB_ID").is_some();
        let hydra = env::var_os("HYDI_CONTROL_FD").is_some();
        let whose = if slurm {
            " (Slurm)"
        } else if hydra {
            " (hydra)"
        } else {
            ""
        };
        let number = match version {
            Version::One => 1,
            Version::Two => 2,
        };
        let name = format!("PMI-{number}{whose}");
        if let Some(Farewell { stream, place, .. }) = farewell::take_back() {
            return Client::begin(stream, version, name, Some(place));
        }
        if env::var_os("PMI_FD").is_some() {
            let stream = inherit(number_in("PMI_FD")?)?;
            let (rank, ranks) = (number_in("PMI_RANK")?, number_in("PMI_SIZE")?);
            return Client::begin(stream.into(), version, name, Some((rank, ranks)));
        }
        let stream = TcpStream::connect(text_in("PMI_PORT")?)?;
        Client::begin(OwnedFd::from(stream).into(), version, name, None)
    }

    /// Agrees on the version. `place` is the rank and how many there are, if known.
    fn begin(
        stream: UnixStream,
        version: Version,
        name: String,
        place: Option<(u32, u32)>,
    ) -> Result<Self, Error> {
        let (rank, ranks) = place.unwrap_or_default();
        let (arrived, store) = (Arrived::default(), String::new());
        let word_chars = WORD_CHARS_MAX as usize;
        let mut client = Client {
            stream,
            version: Version::One,
            arrived,
            name,
            rank,
            ranks,
            store,
            word_chars,
            before: 0,
        };
        if place.is_none() {
            client.introduce()?;
        }
        let (wanted, fields) = match version {
            Version::One => (1, [("pmi_version", "1"), ("pmi_subversion", "1")]),
            Version::Two => (2, [("pmi_version", "2"), ("pmi_subversion", "0")]),
        };
        let reply = client.ask("init", &fields, "response_to_init")?;
        if reply.number("pmi_version").map_err(|bad| Error::bad("init", bad))? != wanted {
            let why = format!("it does not speak PMI-{wanted}; set WEFT_PMI to one that it speaks");
            return Err(Error::Refused { command: "init".into(), why });
        }
        client.version = version;
        match version {
            Version::One => client.enter_one()?,
            Version::Two => client.enter_two()?,
        }
        if client.rank >= client.ranks {
            return Err(Error::bad("init", BadReply::Field("rank")));
        }
        Ok(client)
    }

    /// Says on a new connection who this is, and is told the rank.
    fn introduce(&mut self) -> Result<(), Error> {
        const COMMAND: &str = "initack";
        let own = text_in("PMI_ID")?;
        if !is_word(&own) {
            return Err(Error::variable("PMI_ID", &own));
        }
        self.ask(COMMAND, &[("pmiid", &own)], COMMAND)?;
        let mut told = [("size", 0), ("rank", 0), ("debug", 0)];
        for (name, number) in &mut told {
            let reply = self.receive(COMMAND)?;
            if reply.command != "set" {
                return Err(Error::bad(COMMAND, BadReply::Other(reply.command)));
            }
            *number = reply.number(name).map_err(|bad| Error::bad(COMMAND, bad))?;
        }
        (self.ranks, self.rank) = (told[0].1, told[1].1);
        Ok(())
    }

    fn enter_one(&mut self) -> Result<(), Error> {
        let maxes = self.ask("get_maxes", &[], "maxes")?;
        let longest = maxes.number("vallen_max").map_err(|bad| Error::bad("get_maxes", bad))?;
        // The limit counts the zero at the end.
        self.word_chars = longest.min(WORD_CHARS_MAX).saturating_sub(1) as usize;
        if self.word_chars < WORD_CHARS_MIN {
            return Err(Error::bad("get_maxes", BadReply::Field("vallen_max")));
        }
        let reply = self.ask("get_my_kvsname", &[], "my_kvsname")?;
        let store = reply.get("kvsname").filter(|name| !name.is_empty() && is_word(name));
        let store = store.ok_or(Error::bad("get_my_kvsname", BadReply::Field("kvsname")))?;
        self.store = store.to_owned();
        Ok(())
    }

    fn enter_two(&mut self) -> Result<(), Error> {
        const COMMAND: &str = "fullinit";
        let job = env::var("PMI_JOBID").ok().filter(|job| is_word(job)).unwrap_or("0".into());
        let rank = self.rank.to_string();
        let fields = [("pmijobid", &*job), ("pmirank", &*rank), ("threaded", "FALSE")];
        let reply = self.ask(COMMAND, &fields, "fullinit-response")?;
        let number = |name| reply.number(name).map_err(|bad| Error::bad(COMMAND, bad));
        (self.rank, self.ranks) = (number("rank")?, number("size")?);
        self.word_chars = WORD_CHARS_MAX as usize - 1;
        Ok(())
    }

    /// Asks, and waits for the answer, which must be `expected`.
    fn ask(
        &mut self,
        command: &str,
        fields: &[(&str, &str)],
        expected: &str,
    ) -> Result<Reply, Error> {
        self.tell(command, fields)?;
        let reply = self.receive(command)?;
        if reply.command != expected {
            return Err(Error::bad(command, BadReply::Other(reply.command)));
        }
        match reply.refusal() {
            Some(why) => Err(Error::Refused { command: command.into(), why }),
            None => Ok(reply),
        }
    }

    fn tell(&mut self, command: &str, fields: &[(&str, &str)]) -> Result<(), Error> {
        self.stream.write_all(&emit(self.version, command, fields)).map_err(gone)
    }

    fn receive(&mut self, command: &str) -> Result<Reply, Error> {
        loop {
            let message =
                self.arrived.next(self.version).map_err(|bad| Error::bad(command, bad))?;
            if let Some(message) = message {
                return Reply::parse(self.version, &message)
                    .map_err(|bad| Error::bad(command, bad));
            }
            let mut bytes = [0; 4096];
            match self.stream.read(&mut bytes) {
                Ok(0) => return Err(Error::Gone),
                Ok(count) => self.arrived.push(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(gone(error)),
            }
        }
    }

    /// The name of a part of what a rank has put under a key.
    fn part_key(&self, rank: u32, key: &str, part: usize) -> String {
        format!("{}-{rank}-{part}", key_of(self.before, key))
    }

    fn put_word(&mut self, key: &str, word: &str) -> Result<(), Error> {
        let store = self.store.clone();
        match self.version {
            Version::One => {
                let fields = [("kvsname", &*store), ("key", key), ("value", word)];
                self.ask("put", &fields, "put_result")?
            }
            Version::Two => {
                self.ask("kvs-put", &[("key", key), ("value", word)], "kvs-put-response")?
            }
        };
        Ok(())
    }

    /// A word of the store; `None` if there is none under this key.
    fn get_word(&mut self, key: &str) -> Result<Option<String>, Error> {
        let store = self.store.clone();
        let asked = match self.version {
            Version::One => self.ask("get", &[("kvsname", &*store), ("key", key)], "get_result"),
            Version::Two => self.ask("kvs-get", &[("key", key)], "kvs-get-response"),
        };
        match asked {
            Ok(reply) if reply.get("found").is_some_and(|found| found != "TRUE") => Ok(None),
            Ok(reply) => Ok(reply.get("value").map(str::to_owned)),
            Err(Error::Refused { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl PmiClient for Client {
    fn name(&self) -> &str {
        &self.name
    }

    fn rank(&self) -> u32 {
        self.rank
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), Error> {
        for (part, word) in split(value, self.word_chars).iter().enumerate() {
            self.put_word(&self.part_key(self.rank, key, part), word)?;
        }
        Ok(())
    }

    fn fence(&mut self) -> Result<(), Error> {
        match self.version {
            Version::One => self.ask("barrier_in", &[], "barrier_out")?,
            Version::Two => self.ask("kvs-fence", &[], "kvs-fence-response")?,
        };
        Ok(())
    }

    fn get(&mut self, rank: u32, key: &str) -> Result<Vec<u8>, Error> {
        let missing = || Error::Missing { rank, key: key.to_owned() };
        let first = self.get_word(&self.part_key(rank, key, 0))?.ok_or_else(missing)?;
        let (count, digits) = parts(&first).ok_or_else(missing)?;
        let mut value = from_digits(digits).ok_or_else(missing)?;
        for part in 1..count {
            let word = self.get_word(&self.part_key(rank, key, part))?.ok_or_else(missing)?;
            value.extend(from_digits(&word).ok_or_else(missing)?);
        }
        Ok(value)
    }

    fn abort(&mut self, status: u8, words: &str) {
        let status = status.to_string();
        let words: String = words
            .chars()
            .map(|char| if is_word(char.encode_utf8(&mut [0; 4])) { char } else { '_' })
            .collect();
        // A process manager that cannot be told is gone, or ends the job for that.
        let _ = match self.version {
            Version::One => self.tell("abort", &[("exitcode", &status)]),
            Version::Two => {
                self.tell("abort", &[("isworld", "TRUE"), ("exitcode", &status), ("msg", &words)])
            }
        };
    }

    fn finalize(&mut self) -> Result<(), Error> {
        match self.version {
            Version::One => self.ask("finalize", &[], "finalize_ack")?,
            Version::Two => self.ask("finalize", &[], "finalize-response")?,
        };
        Ok(())
    }

    /// After PMI-1's `finalize` hydra ends the connection: it is said last.
    fn finalize_beside_others(&mut self) -> Result<(), Error> {
        match self.version {
            Version::One => {
                let stream = self.stream.try_clone().map_err(Error::System)?;
                let (words, place) = (emit(self.version, "finalize", &[]), (self.rank, self.ranks));
                farewell::at_exit(Farewell { of: getpid(), stream, words, place });
                Ok(())
            }
            Version::Two => self.finalize(),
        }
    }

    fn launcher(&self) -> Option<BorrowedFd<'_>> {
        Some(self.stream.as_fd())
    }
}

fn inherit(number: u32) -> Result<OwnedFd, Error> {
    let number =
        i32::try_from(number).map_err(|_| Error::variable("PMI_FD", &number.to_string()))?;
    share_socket(number).map_err(|error| match error {
        TakeError::NotOpen(number) => Error::NotOpen(number),
        TakeError::Taken => Error::AlreadyJoined,
        TakeError::System(error) => Error::System(error),
    })
}

fn gone(error: std::io::Error) -> Error {
    match error.kind() {
        ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => Error::Gone,
        _ => Error::System(error),
    }
}

fn text_in(name: &'static str) -> Result<String, Error> {
    let value = env::var_os(name).unwrap_or_default();
    value.into_string().map_err(|value| Error::variable(name, &value.to_string_lossy()))
}

fn number_in(name: &'static str) -> Result<u32, Error> {
    let value = text_in(name)?;
    value.parse().map_err(|_| Error::variable(name, &value))
}

#[cfg(test)]
mod tests;
