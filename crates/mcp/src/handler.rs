use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base64::Engine;
use lab::{Cancel, Progress};
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, EmbeddedResource, ErrorData,
    GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams, InitializeResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents,
    ServerCapabilities, ServerConfig, Tool as Listed, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::arguments::Arguments;
use crate::catalogue::{instructions, tools};
use crate::failure::{Code, Failure};
use crate::fair::{Stance, stance};
use crate::guides;
use crate::reply::{Call, NOT_KEPT, Reply};
use crate::resources;
use crate::schema::drop_nulls;
use crate::session::Session;
use crate::tool::{Effect, Tool};

/// Progress is told at most so often.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);

/// Answers the requests of one client.
#[derive(Clone)]
pub(crate) struct Handler {
    session: Arc<Session>,
    tools: Arc<Vec<Tool>>,
    /// Whether its client has made its handshake.
    greeted: Arc<AtomicBool>,
}

/// What a tool call comes to.
type Outcome = Result<Reply, Failure>;

impl Handler {
    pub(crate) fn new(session: Arc<Session>) -> Self {
        let tools = Arc::new(tools(session.allow_debug));
        Self { session, tools, greeted: Arc::default() }
    }

    /// Runs a tool on a thread of its own. A panic there is an answer too.
    fn start(
        &self,
        index: usize,
        given: Arguments,
        cancel: &Cancel,
        progress: UnboundedSender<Progress>,
    ) -> JoinHandle<Outcome> {
        let (session, tools, cancel) = (Arc::clone(&self.session), Arc::clone(&self.tools), cancel.clone());
        let id = session.begin_call(&cancel);
        tokio::task::spawn_blocking(move || {
            let _ending = Ending(&session, id);
            let tell = |done| {
                // Nobody listens any more once the call was answered.
                let _ = progress.send(done);
            };
            let call = Call { id, cancel: &cancel, progress: &tell };
            match tools.get(index) {
                Some(tool) => {
                    let done = session.check_fair(tool.name).and_then(|()| tool.run(given, &session, &call));
                    done.map(|reply| with_unkept(tool, &session, reply))
                }
                None => Err(Failure::new(Code::EngineFailure, "there is no such tool")),
            }
        })
    }

    /// Does what is no tool call on a thread of its own.
    async fn beside<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Session) -> Result<T, ErrorData> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let session = Arc::clone(&self.session);
        let done = tokio::task::spawn_blocking(move || work(&session)).await;
        done.unwrap_or_else(|error| Err(ErrorData::internal_error(format!("internal error: {error}"), None)))
    }

    /// Waits for a call, or answers that it goes on.
    async fn wait(&self, tool: &Tool, mut work: JoinHandle<Outcome>, mut listener: Listener) -> Outcome {
        let deadline = Instant::now() + self.session.limits.wait;
        let waits_on = tool.effect == Effect::Reads;
        loop {
            tokio::select! {
                outcome = &mut work => return settle(tool.name, outcome),
                Some(progress) = listener.progress.recv() => listener.tell(progress).await,
                () = listener.context.ct.cancelled(), if !listener.cancel.is_cancelled() => listener.cancel.cancel(),
                () = tokio::time::sleep_until(deadline), if !waits_on => break,
            }
        }
        let id = self.session.operations.begin(tool.name, &listener.cancel, listener.last);
        let (session, name) = (Arc::clone(&self.session), tool.name);
        tokio::spawn(async move {
            let outcome = loop {
                tokio::select! {
                    outcome = &mut work => break settle(name, outcome),
                    Some(progress) = listener.progress.recv() => session.operations.progress(id, progress),
                }
            };
            session.operations.finish(id, outcome);
        });
        Ok(Reply::default().with("running", true).with("operation", format!("op{id}")))
    }
}

/// Tells of forks that are not kept, where the tool can say so.
fn with_unkept(tool: &Tool, session: &Session, reply: Reply) -> Reply {
    match session.keep_rest() {
        Some(reason) if tool.result.iter().copied().flatten().any(|(name, ..)| *name == NOT_KEPT.0) => {
            reply.with(NOT_KEPT.0, reason)
        }
        _ => reply,
    }
}

/// Strikes a call off the list, however it ends.
struct Ending<'a>(&'a Session, u64);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.end_call(self.1);
    }
}

/// The client's side of a call under way.
struct Listener {
    progress: UnboundedReceiver<Progress>,
    cancel: Cancel,
    context: RequestContext<RoleServer>,
    told: Option<Instant>,
    last: Option<Progress>,
}

impl Listener {
    async fn tell(&mut self, progress: Progress) {
        self.last = Some(progress);
        let Some(token) = self.context.meta.get_progress_token() else { return };
        let now = Instant::now();
        if self.told.is_some_and(|told| now.duration_since(told) < PROGRESS_EVERY) {
            return;
        }
        self.told = Some(now);
        let told = ProgressNotificationParam::new(token, progress.done as f64).with_total(progress.total as f64);
        if let Err(error) = self.context.peer.notify_progress(told).await {
            tracing::debug!(%error, "progress could not be told");
        }
    }
}

fn settle(tool: &str, outcome: Result<Outcome, tokio::task::JoinError>) -> Outcome {
    outcome.unwrap_or_else(|error| {
        let reason = match error.try_into_panic() {
            Ok(panic) => panic_text(panic.as_ref()),
            Err(error) => error.to_string(),
        };
        tracing::error!(tool, reason, "a tool call failed inside the server");
        Err(Failure::new(Code::EngineFailure, format!("internal error in {tool}: {reason}")))
    })
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it panicked".to_owned())
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let implementation = Implementation::new("nethack-lab", env!("CARGO_PKG_VERSION")).with_title("NetHack Lab");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build())
            .with_server_info(implementation)
            .with_instructions(instructions(self.session.fair.is_some()))
    }

    /// The handshake, once for a connection: its version and the client's abilities hold until it ends.
    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        if self.greeted.load(Ordering::Acquire) {
            return Err(ErrorData::invalid_request("the connection is initialized already", None));
        }
        let result = self.negotiate_initialize(&request)?;
        if self.greeted.swap(true, Ordering::AcqRel) {
            return Err(ErrorData::invalid_request("the connection is initialized already", None));
        }
        context.peer.set_peer_info(request);
        Ok(result)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let fair = self.session.fair.is_some();
        let shown = |tool: &&Tool| !fair || !matches!(stance(tool.name), Stance::Off(_));
        Ok(ListToolsResult::with_all_items(self.tools.iter().filter(shown).map(listed).collect()))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::list(&self.session)))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates(&self.session)))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let contents = self.beside(move |session| resources::read(session, &request.uri)).await?;
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(guides::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        Ok(self.beside(move |session| guides::get(session, &request.name, &arguments)).await?.into())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some((index, tool)) = self.tools.iter().enumerate().find(|(_, tool)| tool.name == request.name) else {
            let name: String = request.name.chars().take(60).collect();
            return Err(ErrorData::invalid_params(format!("there is no tool {name:?}"), None));
        };
        let cancel = Cancel::default();
        let (sender, receiver) = mpsc::unbounded_channel();
        let listener = Listener { progress: receiver, cancel: cancel.clone(), context, told: None, last: None };
        let work = self.start(index, request.arguments.unwrap_or_default(), &cancel, sender);
        Ok(result(self.wait(tool, work, listener).await).into())
    }
}

/// A tool as clients see it.
pub(crate) fn listed(tool: &Tool) -> Listed {
    let hints = ToolAnnotations::new().open_world(false);
    let hints = match tool.effect {
        Effect::Reads | Effect::Computes => hints.read_only(true),
        Effect::Adds => hints.read_only(false).destructive(false),
        Effect::Plays => hints.read_only(false).destructive(true),
        Effect::Ends => hints.read_only(false).destructive(true).idempotent(true),
    };
    Listed::new(tool.name, tool.text, tool.input.clone())
        .with_title(tool.title)
        .with_raw_output_schema(Arc::new(tool.output.clone()))
        .with_annotations(hints)
}

/// One object, as structured content and again as text, and what stands beside it.
fn result(outcome: Outcome) -> CallToolResult {
    let (value, blobs, is_error) = match outcome {
        Ok(reply) => (Value::Object(reply.fields), reply.blobs, false),
        Err(failure) => (json!({"error": failure.into_value()}), Vec::new(), true),
    };
    let mut value = value;
    drop_nulls(&mut value);
    let mut content = vec![ContentBlock::text(value.to_string())];
    content.extend(blobs.into_iter().map(|blob| {
        let text = base64::engine::general_purpose::STANDARD.encode(&blob.bytes);
        if blob.media_type.starts_with("image/") {
            return ContentBlock::image(text, blob.media_type);
        }
        let resource = ResourceContents::blob(text, blob.uri).with_mime_type(blob.media_type);
        ContentBlock::Resource(EmbeddedResource::new(resource))
    }));
    let mut result = if is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = Some(value);
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::Blob;

    #[test]
    fn a_panic_is_an_answer() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let outcome = runtime.block_on(async {
            let work: JoinHandle<Outcome> = tokio::task::spawn_blocking(|| panic!("the lamp went out"));
            settle("observe", work.await)
        });
        let failure = outcome.unwrap_err();
        assert_eq!(failure.code, Code::EngineFailure);
        assert!(failure.message.contains("observe") && failure.message.contains("the lamp went out"));
    }

    #[test]
    fn results_are_one_object_twice_and_blobs_beside_it() {
        let mut reply = Reply::default().with("turn", 3).with("ended", Value::Null);
        reply.blobs.push(Blob { uri: "a:b".to_owned(), media_type: "x/y", bytes: vec![0, 255] });
        reply.blobs.push(Blob { uri: "a:c".to_owned(), media_type: "image/png", bytes: vec![0, 255] });
        let told = serde_json::to_value(result(Ok(reply))).unwrap();
        assert_eq!(told["structuredContent"], json!({"turn": 3}));
        assert_eq!(told["content"][0]["text"], json!(r#"{"turn":3}"#));
        assert_eq!(told["content"][1]["resource"], json!({"uri": "a:b", "mimeType": "x/y", "blob": "AP8="}));
        assert_eq!(told["content"][2], json!({"type": "image", "data": "AP8=", "mimeType": "image/png"}));
        assert_eq!(told["isError"], json!(false));
        let told = serde_json::to_value(result(Err(Failure::no_game()))).unwrap();
        assert_eq!(told["isError"], json!(true));
        assert_eq!(told["structuredContent"]["error"]["code"], json!("NO_GAME"));
        assert_eq!(told["content"][0]["text"], json!(told["structuredContent"].to_string()));
    }
}
