use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedSender;

use crate::scan::IdScanner;
use crate::shape::{self, INVALID_REQUEST};

/// How many messages are let in ahead of the answers that the client has taken.
const AHEAD_MAX: u64 = 256;
/// How long nothing must be left to write until those that are still open are known to wait for no writer: they are at
/// work, or were cancelled and get no answer.
const IDLE: Duration = Duration::from_secs(1);
/// How a line of the server begins that answers nothing.
const NOTIFICATION: &[u8] = br#"{"jsonrpc":"2.0","method""#;

/// Lets no client in that does not take its answers, so that those do not pile up.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    /// Messages that were let in or refused, and have no answer yet.
    open: AtomicU64,
    /// Lines written.
    written: AtomicU64,
    writing: AtomicBool,
    taken: Notify,
}

impl Flow {
    fn admitted(&self) {
        self.open.fetch_add(1, Ordering::AcqRel);
    }

    /// Waits until another message may come in.
    async fn room(&self) {
        while self.open.load(Ordering::Acquire) >= AHEAD_MAX {
            let before = self.written.load(Ordering::Acquire);
            let taken = tokio::time::timeout(IDLE, self.taken.notified()).await;
            let is_idle = !self.writing.load(Ordering::Acquire) && self.written.load(Ordering::Acquire) == before;
            if taken.is_err() && is_idle {
                self.open.store(0, Ordering::Release);
            }
        }
    }

    /// Writes a line to the client.
    async fn write(&self, line: &[u8], to_client: &mut (impl AsyncWrite + Unpin)) -> std::io::Result<()> {
        self.writing.store(true, Ordering::Release);
        let result = async {
            to_client.write_all(line).await?;
            to_client.flush().await
        };
        let result = result.await;
        if !line.starts_with(NOTIFICATION) {
            let one_less = |open: u64| Some(open.saturating_sub(1));
            let _ = self.open.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_less);
        }
        self.written.fetch_add(1, Ordering::AcqRel);
        self.writing.store(false, Ordering::Release);
        self.taken.notify_one();
        result
    }
}

/// What came of reading a line.
enum Line {
    /// A line that is not too long, without its end.
    Whole,
    /// A line that is; it was dropped as it came.
    TooLong { bytes: usize, id: Option<Value> },
    /// There are no more. What stood after the last line's end is no message.
    End,
}

/// Hands the client's messages on, line by line. What is too long, or no JSON, is answered here and goes no further, so
/// that nothing behind the gate has to be afraid of it. Takes no more while too many answers wait for the client to take
/// them. Ends with the client's stream.
///
/// # Errors
/// The streams'.
pub(crate) async fn admit(
    from_client: impl AsyncRead + Unpin,
    mut to_server: impl AsyncWrite + Unpin,
    to_client: UnboundedSender<Vec<u8>>,
    bytes_max: usize,
    flow: Arc<Flow>,
) -> std::io::Result<()> {
    let mut reader = BufReader::with_capacity(64 << 10, from_client);
    let mut line = Vec::new();
    loop {
        flow.room().await;
        let refusal = match read_line(&mut reader, &mut line, bytes_max).await? {
            Line::End => return to_server.shutdown().await,
            Line::TooLong { bytes, id } => {
                tracing::warn!(bytes, bytes_max, "a message was too long");
                let message = format!("the message has {bytes} bytes: at most {bytes_max} are taken");
                Some(refusal(INVALID_REQUEST, &message, id))
            }
            Line::Whole if line.iter().all(u8::is_ascii_whitespace) => continue,
            Line::Whole => judge(&line),
        };
        match refusal {
            Some(refusal) => {
                flow.admitted();
                // The writer ends only with the server.
                let _ = to_client.send(refusal);
            }
            None => {
                line.push(b'\n');
                flow.admitted();
                to_server.write_all(&line).await?;
                to_server.flush().await?;
            }
        }
    }
}

/// The refusal of what can't be served.
fn judge(line: &[u8]) -> Option<Vec<u8>> {
    let fault = shape::check(line).err()?;
    tracing::warn!(code = fault.code, message = %fault.message, "a message is refused");
    Some(refusal(fault.code, &fault.message, fault.id))
}

/// An error response. One to a message whose id isn't known has none.
fn refusal(code: i32, message: &str, id: Option<Value>) -> Vec<u8> {
    let mut response = json!({"jsonrpc": "2.0", "error": {"code": code, "message": message}});
    if let Some(id) = id {
        response["id"] = id;
    }
    let mut line = response.to_string().into_bytes();
    line.push(b'\n');
    line
}

async fn read_line(
    reader: &mut (impl AsyncBufReadExt + Unpin),
    line: &mut Vec<u8>,
    bytes_max: usize,
) -> std::io::Result<Line> {
    line.clear();
    let mut scanner: Option<IdScanner> = None;
    let mut bytes = 0_usize;
    loop {
        let available = reader.fill_buf().await?;
        if available.is_empty() {
            return Ok(Line::End);
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
        bytes += part.len();
        if let Some(scanner) = &mut scanner {
            scanner.feed(part);
        } else if bytes > bytes_max {
            let mut new = IdScanner::default();
            new.feed(line);
            new.feed(part);
            scanner = Some(new);
            *line = Vec::new();
        } else {
            line.extend_from_slice(part);
        }
        let used = end.map_or(available.len(), |end| end + 1);
        reader.consume(used);
        if end.is_some() {
            return Ok(match scanner {
                Some(scanner) => Line::TooLong { bytes, id: scanner.id() },
                None => Line::Whole,
            });
        }
    }
}

/// Writes whole lines to the client, from the server behind the gate and from the gate itself, until both have ended.
///
/// # Errors
/// The client's stream is closed.
pub(crate) async fn emit(
    from_server: impl AsyncRead + Unpin,
    mut from_gate: tokio::sync::mpsc::UnboundedReceiver<Vec<u8>>,
    mut to_client: impl AsyncWrite + Unpin,
    flow: Arc<Flow>,
) -> std::io::Result<()> {
    let mut reader = BufReader::with_capacity(64 << 10, from_server);
    // A line that is read in parts, kept across the turns of the loop.
    let mut line = Vec::new();
    let mut server_ended = false;
    let mut gate_ended = false;
    while !(server_ended && gate_ended) {
        tokio::select! {
            read = reader.read_until(b'\n', &mut line), if !server_ended => match read? {
                0 => server_ended = true,
                _ if line.ends_with(b"\n") => {
                    flow.write(&line, &mut to_client).await?;
                    line.clear();
                }
                _ => {}
            },
            refusal = from_gate.recv(), if !gate_ended => match refusal {
                None => gate_ended = true,
                Some(refusal) => flow.write(&refusal, &mut to_client).await?,
            },
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;
    use tokio::sync::mpsc;

    use super::*;

    /// What gets through the gate, and what the client is told, for what a client sends.
    fn pass(sent: &[u8], bytes_max: usize) -> (String, Vec<Value>) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (near, mut far) = tokio::io::duplex(1 << 20);
            let (sender, mut receiver) = mpsc::unbounded_channel();
            admit(sent, near, sender, bytes_max, Arc::default()).await.unwrap();
            let mut through = String::new();
            far.read_to_string(&mut through).await.unwrap();
            let mut told = Vec::new();
            while let Some(line) = receiver.recv().await {
                assert_eq!(line.last(), Some(&b'\n'));
                told.push(serde_json::from_slice(&line).unwrap());
            }
            (through, told)
        })
    }

    #[test]
    fn messages_pass_and_the_rest_is_answered() {
        let ping = |id: u32| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}");
        let (through, told) = pass(format!("{}\r\n\n  \n{}\n", ping(1), ping(2)).as_bytes(), 100);
        assert_eq!(through, format!("{}\r\n{}\n", ping(1), ping(2)));
        assert!(told.is_empty());
        let sent = [b"garbage\n[1]\n\xff\xfe\n", ping(3).as_bytes(), b"\n{\"cut"].concat();
        let (through, told) = pass(&sent, 100);
        assert_eq!(through, format!("{}\n", ping(3)));
        let codes: Vec<i64> = told.iter().map(|told| told["error"]["code"].as_i64().unwrap()).collect();
        assert_eq!(codes, [-32_700, -32_600, -32_700]);
        assert!(told.iter().all(|told| told.get("id").is_none()));
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
    }

    #[test]
    fn no_more_comes_in_than_is_taken_out() {
        runtime().block_on(async {
            let sent = "garbage\n".repeat(1_000);
            let (near, _far) = tokio::io::duplex(64);
            let (server_output, from_server) = tokio::io::duplex(64);
            // A pipe that the client does not read.
            let (to_client, mut client) = tokio::io::duplex(64);
            let (sender, receiver) = mpsc::unbounded_channel();
            let flow = Arc::new(Flow::default());
            let own = Arc::clone(&flow);
            let gate = tokio::spawn(async move { admit(sent.as_bytes(), near, sender, 100, own).await });
            let writer = tokio::spawn(emit(from_server, receiver, to_client, Arc::clone(&flow)));
            while flow.open.load(Ordering::Acquire) < AHEAD_MAX || !flow.writing.load(Ordering::Acquire) {
                tokio::task::yield_now().await;
            }
            // Also when it takes longer than those at work would.
            let waited = tokio::time::timeout(2 * IDLE, flow.room()).await;
            assert!(waited.is_err() && !gate.is_finished());
            assert_eq!(flow.open.load(Ordering::Acquire), AHEAD_MAX);
            drop(server_output);
            let mut told = String::new();
            client.read_to_string(&mut told).await.unwrap();
            assert_eq!(told.lines().count(), 1_000);
            gate.await.unwrap().unwrap();
            writer.await.unwrap().unwrap();
        });
    }

    #[test]
    fn what_is_never_answered_holds_nobody_up_for_long() {
        runtime().block_on(async {
            let flow = Flow::default();
            (0..AHEAD_MAX).for_each(|_| flow.admitted());
            let begun = tokio::time::Instant::now();
            flow.room().await;
            assert!(begun.elapsed() >= IDLE);
            assert_eq!(flow.open.load(Ordering::Acquire), 0);
        });
    }

    #[test]
    fn notifications_answer_nothing() {
        runtime().block_on(async {
            let flow = Flow::default();
            flow.admitted();
            flow.write(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n", &mut tokio::io::sink())
                .await
                .unwrap();
            assert_eq!(flow.open.load(Ordering::Acquire), 1);
            for _ in 0..2 {
                flow.write(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n", &mut tokio::io::sink()).await.unwrap();
                assert_eq!(flow.open.load(Ordering::Acquire), 0);
            }
        });
    }

    #[test]
    fn a_long_message_is_answered_by_its_id_and_the_next_one_passes() {
        let padding = "x".repeat(300_000);
        let next = "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}\n";
        let sent = format!("{{\"method\":\"{padding}\",\"id\":\"late\"}}\n{next}");
        let (through, told) = pass(sent.as_bytes(), 100_000);
        assert_eq!(through, next);
        assert_eq!(told.len(), 1);
        assert_eq!(told[0]["id"], json!("late"));
        assert!(told[0]["error"]["message"].as_str().unwrap().contains("100000"));
        let empty = r#"{"jsonrpc":"2.0","method":""}"#;
        let method = format!("\"{}\"", "y".repeat(100 - empty.len()));
        let exact = empty.replace("\"\"", &method) + "\n";
        assert_eq!(pass(exact.as_bytes(), 100).0, exact);
        assert_eq!(pass(exact.as_bytes(), 99).1.len(), 1);
    }
}
