use std::sync::Arc;

use lab::{Boundary, Urgency};
use render::{Scale, Symbols};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::arguments::within;
use crate::failure::{Code, Failure};
use crate::output::sha256;
use crate::reply::{self, Blob, Call, RUNNING, Reply, STANDING};
use crate::schema::{Field, Kind};
use crate::session::Session;
use crate::tool::{Effect, ToolArguments};

/// `screenshot`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Screenshot {
    /// "main" (default) or a fork's id.
    machine: Option<String>,
    /// 1: 640 × 384 pixels. 2 (default): 1280 × 768.
    #[schemars(range(min = 1, max = 2))]
    scale: Option<u64>,
    /// An earlier one; now without it.
    #[schemars(range(min = 0))]
    boundary: Option<u64>,
}

const PICTURE: &[Field] =
    &[("width", Kind::Integer, "Pixels."), ("height", Kind::Integer, ""), ("sha256", Kind::Text, "The picture's.")];

impl ToolArguments for Screenshot {
    const NAME: &'static str = "screenshot";
    const TITLE: &'static str = "A picture of the terminal";
    const TEXT: &'static str = "The terminal of a machine as a PNG image with colours and cursor, now or at an earlier \
        boundary. observe gives the same as text, which costs less to read.";
    const EFFECT: Effect = Effect::Computes;
    const RESULT: &'static [&'static [Field]] = &[PICTURE, STANDING, RUNNING];

    fn call(self, session: &Session, call: &Call<'_>) -> Result<Reply, Failure> {
        let scale = match within("scale", self.scale.unwrap_or(2), 1, 2)? {
            1 => Scale::One,
            _ => Scale::Two,
        };
        let machine = session.machine(self.machine.as_deref())?;
        let snapshot = session.snapshot(machine)?;
        let name = session.name_of(machine);
        let last = snapshot.boundary.0;
        let boundary = within("boundary", self.boundary.unwrap_or(last), 0, last);
        let boundary = boundary.map_err(|failure| failure.at(&name, &snapshot))?;
        let frame = if boundary == last {
            Arc::clone(&snapshot.frame)
        } else {
            let frame = session.lab.frame_at(machine, Boundary(boundary), &call.control(Urgency::Bulk));
            frame.map_err(|error| session.failure(error, Some(machine)))?
        };
        let bytes = render::png(&frame.screen, Symbols::of(&snapshot.power_on), scale)
            .map_err(|error| Failure::new(Code::EngineFailure, error.to_string()))?;
        let digest = sha256(&bytes);
        let (width, height) = scale.pixels();
        let mut reply = Reply::default()
            .extend(reply::standing(session, &snapshot))
            .with("boundary", boundary)
            .with("width", width)
            .with("height", height)
            .with("sha256", digest.as_str());
        let uri = format!("nethack-lab://png/{digest}");
        reply.blobs.push(Blob { uri, media_type: "image/png", bytes });
        Ok(reply)
    }
}
