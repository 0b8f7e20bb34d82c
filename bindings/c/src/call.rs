//! Remote procedure call: services and requests, clients and calls.
#![allow(unsafe_code)] // For `no_mangle` only; tidy sees to that.

use crate::awaited::Awaited;
use crate::callback::Callback;
use crate::handle::{Handle, HandleKind, free, free_even_used, given, put};
use crate::job::{Job, rank, state};
use crate::memory::{Bytes, Text, User, Vector};
use crate::message::{Content, Message};
use crate::status::{Failure, Status, call};
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::time::Duration;
use weft::Parts;
use weft_messaging::Engine;

/// A service that this rank offers. Any thread may use it.
pub struct Service(Handle<Served>);

/// A request to a service, to be answered once. One thread at a time uses it and its message.
pub struct Request(Handle<RequestMessage>);

/// Client of a service of other ranks. Any thread may use it, several at once.
pub struct Client(Handle<Caller>);

/// A call that was begun. One thread at a time uses it.
pub struct Call(Handle<Calling>);

/// Request in Rust: a message of that content, until it is answered.
struct RequestMessage(Message);

struct Served {
    _service: weft::Service,
    callback: Callback<Called>,
}

struct Caller {
    client: weft::Client,
    engine: Arc<Engine>,
}

type Calling = Awaited<weft::Call>;

impl HandleKind for Served {
    const MARK: u32 = 0x5352_5607;
    const NAME: &'static str = "service";
}

impl HandleKind for RequestMessage {
    const MARK: u32 = 0x5245_510b;
    const NAME: &'static str = "request";
}

impl HandleKind for Caller {
    const MARK: u32 = 0x434c_4908;
    const NAME: &'static str = "client";
}

impl HandleKind for Calling {
    const MARK: u32 = 0x4341_4c0a;
    const NAME: &'static str = "call";
}

/// Callback for each request of a service, one at a time. It runs on whatever thread polls or
/// waits, or on Weft's upcall thread if none does. The request is valid until it returns, unless it
/// keeps it; if it does neither keep nor answer it, the caller gets WEFT_NO_REPLY.
pub type ServiceCallback = Option<extern "C" fn(request: &mut Request, user: User)>;

type Called = extern "C" fn(&mut Request, User);

/// Creates the service of a name, whose requests the callback gets; user is handed to it, and must
/// live until the service is destroyed. Before clients of it at the same rank. The service is the
/// caller's, to be given back to weft_service_destroy(). Never blocks, but the callback may run
/// before it returns.
#[unsafe(no_mangle)]
pub extern "C" fn weft_service_create(
    job: Option<&Job>,
    name: Text<'_>,
    callback: ServiceCallback,
    user: User,
    service: Option<&mut MaybeUninit<*mut Service>>,
) -> Status {
    call(|| {
        let out = given(service, "the pointer for the result")?;
        let job = state(job)?;
        let callback = Callback::new(job, callback, user)?;
        let called = callback.clone();
        let service = job.messages()?.service(name.get("the name")?, move |request| {
            let mut request = Request(Handle::lent(RequestMessage::new(request)));
            called.run(|function, user| function(&mut request, user));
        })?;
        let served = Served { _service: service, callback };
        out.write(Box::into_raw(Box::new(Service(Handle::new(served)))));
        Ok(())
    })
}

/// Ends a service and frees it; requests that wait are not answered. Waits for a callback that
/// another thread runs. Not to be called in a callback.
#[unsafe(no_mangle)]
pub extern "C" fn weft_service_destroy(service: Option<Box<Service>>) -> Status {
    call(|| {
        free(service, |service| &mut service.0)?.callback.end();
        Ok(())
    })
}

/// The rank that asks. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_request_source(
    request: Option<&mut Request>,
    source: Option<&mut MaybeUninit<u32>>,
) -> Status {
    call(|| put(source, asked(request)?.source().0.into()))
}

/// Content of a request: its own message, to be read as others are. It is valid until the request
/// is answered, kept or released, and is itself neither kept nor released. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_request_message(
    request: Option<&mut Request>,
    message: Option<&mut MaybeUninit<*mut Message>>,
) -> Status {
    call(|| {
        let asked = given(request, "request")?.0.get_mut()?;
        put(message, &raw mut asked.0)
    })
}

/// Tells if the caller waits no more: then an answer is not even sent. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_request_cancelled(
    request: Option<&mut Request>,
    cancelled: Option<&mut MaybeUninit<bool>>,
) -> Status {
    call(|| put(cancelled, asked(request)?.is_cancelled()))
}

/// Answers a request, which is used up, even when it fails: a kept one is left to be released. What
/// was not read of it is skipped. Blocks as weft_port_send() does.
#[unsafe(no_mangle)]
pub extern "C" fn weft_request_reply(
    request: Option<&mut Request>,
    bytes: Bytes<'_>,
    length: usize,
) -> Status {
    call(|| reply(request, bytes.slice(length)?))
}

/// Does what weft_request_reply() does, with an answer in count pieces.
#[unsafe(no_mangle)]
pub extern "C" fn weft_request_replyv(
    request: Option<&mut Request>,
    pieces: Vector<'_>,
    count: usize,
) -> Status {
    call(|| reply(request, &pieces.checked(count)?))
}

/// Answers that what was asked cannot be done: the caller gets WEFT_CALL_FAILED, with this text,
/// cut to what fits into a packet. Else as weft_request_reply().
#[unsafe(no_mangle)]
pub extern "C" fn weft_request_fail(request: Option<&mut Request>, text: Text<'_>) -> Status {
    call(|| {
        let text = text.get("the text")?;
        Ok(take(request)?.fail(text)?)
    })
}

/// Keeps a request beyond its callback, to be answered later, from any thread. It is then the
/// caller's, to be released with weft_request_release(), and the callback's own pointer leads to
/// nothing any more, as does that to its message. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_request_keep(
    request: Option<&mut Request>,
    kept: Option<&mut MaybeUninit<*mut Request>>,
) -> Status {
    call(|| {
        let out = given(kept, "the pointer for the result")?;
        out.write(Box::into_raw(Box::new(Request(Handle::new(RequestMessage::new(take(
            request,
        )?))))));
        Ok(())
    })
}

/// Releases a request that was kept. Whoever waits for its answer, if there was none, gets
/// WEFT_NO_REPLY. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_request_release(request: Option<Box<Request>>) -> Status {
    call(|| {
        free_even_used(request, |request| &mut request.0)?;
        Ok(())
    })
}

/// Creates a client of the service of a name, which the ranks that are called have to have. The
/// client is the caller's, to be freed with weft_client_free(). Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_client_create(
    job: Option<&Job>,
    name: Text<'_>,
    client: Option<&mut MaybeUninit<*mut Client>>,
) -> Status {
    call(|| {
        let out = given(client, "the pointer for the result")?;
        let weft = state(job)?.messages()?;
        let client = weft.client(name.get("the name")?)?;
        let caller = Caller { client, engine: Arc::clone(weft.engine()) };
        out.write(Box::into_raw(Box::new(Client(Handle::new(caller)))));
        Ok(())
    })
}

/// Frees a client. Calls that it began go on. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_client_free(client: Option<Box<Client>>) -> Status {
    call(|| free(client, |client| &mut client.0).map(drop))
}

/// Asks the service at rank to, and gives the answer; it is the caller's, to be released with
/// weft_message_release(). Blocks until it begins to arrive; callbacks run meanwhile.
#[unsafe(no_mangle)]
pub extern "C" fn weft_call(
    client: Option<&Client>,
    to: u32,
    bytes: Bytes<'_>,
    length: usize,
    answer: Option<&mut MaybeUninit<*mut Message>>,
) -> Status {
    call(|| {
        let out = given(answer, "the pointer for the result")?;
        let call = ask(client, to, bytes.slice(length)?)?.1;
        out.write(Message::boxed(Content::Sent(call.wait()?)));
        Ok(())
    })
}

/// Does what weft_call() does, but blocks for so many nanoseconds at most: then it is
/// WEFT_TIMED_OUT, and the call is cancelled.
#[unsafe(no_mangle)]
pub extern "C" fn weft_call_within(
    client: Option<&Client>,
    to: u32,
    bytes: Bytes<'_>,
    length: usize,
    nanoseconds: u64,
    answer: Option<&mut MaybeUninit<*mut Message>>,
) -> Status {
    call(|| {
        let out = given(answer, "the pointer for the result")?;
        let call = ask(client, to, bytes.slice(length)?)?.1;
        let answer = call.wait_within(Duration::from_nanos(nanoseconds))?;
        out.write(Message::boxed(Content::Sent(answer)));
        Ok(())
    })
}

/// Asks the service at rank to, in count pieces, and returns when all of them are in packets. Any
/// number of calls may be under way. The call is the caller's, who ends it by waiting or
/// cancelling. Blocks as weft_port_send() does.
#[unsafe(no_mangle)]
pub extern "C" fn weft_call_begin(
    client: Option<&Client>,
    to: u32,
    pieces: Vector<'_>,
    count: usize,
    call: Option<&mut MaybeUninit<*mut Call>>,
) -> Status {
    crate::status::call(|| {
        let out = given(call, "the pointer for the result")?;
        let (engine, call) = ask(client, to, &pieces.checked(count)?)?;
        out.write(Box::into_raw(Box::new(Call(Handle::new(Awaited::new(engine, call))))));
        Ok(())
    })
}

/// Tells if a call is over, well or not, so that weft_call_wait() does not block. Polls once.
#[unsafe(no_mangle)]
pub extern "C" fn weft_call_test(
    call: Option<&mut Call>,
    done: Option<&mut MaybeUninit<bool>>,
) -> Status {
    crate::status::call(|| put(done, given(call, "call")?.0.get_mut()?.is_done()?))
}

/// Waits for the answer to a call, and frees the call, even when it fails. The answer is the
/// caller's, as that of weft_call(). Blocks until it begins to arrive; callbacks run meanwhile.
#[unsafe(no_mangle)]
pub extern "C" fn weft_call_wait(
    call: Option<Box<Call>>,
    answer: Option<&mut MaybeUninit<*mut Message>>,
) -> Status {
    crate::status::call(|| {
        let call = free(call, |call| &mut call.0)?;
        let out = given(answer, "the pointer for the result")?;
        out.write(Message::boxed(Content::Sent(call.wait()?)));
        Ok(())
    })
}

/// Gives up on a call and frees it. The service is told, which may have begun; an answer that comes
/// late is skipped. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_call_cancel(call: Option<Box<Call>>) -> Status {
    crate::status::call(|| free(call, |call| &mut call.0).map(drop))
}

fn ask<'a>(
    client: Option<&'a Client>,
    to: u32,
    parts: &(impl Parts + ?Sized),
) -> Result<(&'a Arc<Engine>, weft::Call), Failure> {
    let caller = given(client, "client")?.0.get()?;
    Ok((&caller.engine, caller.client.call(rank(to)?, parts)?))
}

impl RequestMessage {
    fn new(request: weft::Request) -> Self {
        RequestMessage(Message::lent(Content::Request(request)))
    }
}

/// The request that C points to, which was not answered yet.
fn asked(request: Option<&mut Request>) -> Result<&mut weft::Request, Failure> {
    given(request, "request")?.0.get_mut()?.0.request()
}

/// Takes it from there, to be answered or kept.
fn take(request: Option<&mut Request>) -> Result<weft::Request, Failure> {
    given(request, "request")?.0.take()?.0.into_request()
}

fn reply(request: Option<&mut Request>, parts: &(impl Parts + ?Sized)) -> Result<(), Failure> {
    Ok(take(request)?.reply(parts)?)
}
