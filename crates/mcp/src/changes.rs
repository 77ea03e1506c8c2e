use serde_json::{Map, Value, json};
use wire::{Frame, ROWS};

/// What of a frame is not as it was: the rows of the screen and the fields that differ. Without the earlier frame, all
/// rows and fields, and `complete` says so.
pub(crate) fn since(revision: u64, before: Option<&Frame>, now: &Frame) -> Value {
    let rows: Vec<Value> = (0..ROWS)
        .map(|row| (row, now.screen.row(row)))
        .filter(|(row, text)| before.is_none_or(|before| before.screen.row(*row) != *text))
        .map(|(row, text)| json!({"row": row, "text": text.trim_end()}))
        .collect();
    let status = fields(before, now, |frame| serde_json::to_value(&frame.status).unwrap_or_default());
    let differs = |same: fn(&Frame, &Frame) -> bool| before.is_none_or(|before| !same(before, now));
    json!({
        "since": revision,
        "complete": before.is_none().then_some(true),
        "rows": rows,
        "status": (!status.is_empty()).then_some(status),
        "cursor": differs(|a, b| a.screen.cursor == b.screen.cursor)
            .then(|| json!({"row": now.screen.cursor.row, "column": now.screen.cursor.column})),
        "turns": before.map(|before| now.turn - before.turn),
        "inventory_changed": differs(|a, b| a.inventory == b.inventory),
        "pending_changed": differs(|a, b| a.pending == b.pending),
    })
}

/// The fields of an object whose values differ; those that are gone have an empty text, so that they can be told.
fn fields(before: Option<&Frame>, now: &Frame, object: fn(&Frame) -> Value) -> Map<String, Value> {
    let (old, new) = (before.map(object).unwrap_or_default(), object(now));
    let Value::Object(new) = new else {
        return Map::new();
    };
    new.into_iter()
        .filter(|(name, value)| old.get(name).unwrap_or(&Value::Null) != value)
        .map(|(name, value)| if value.is_null() { (name, json!("")) } else { (name, value) })
        .collect()
}

#[cfg(test)]
mod tests {
    use wire::Status;

    use super::*;

    #[test]
    fn only_what_differs_is_told() {
        let before = Frame {
            status: Some(Status { hp: 12, hunger: Some("Hungry".to_owned()), ..Status::default() }),
            ..Frame::default()
        };
        let mut now = before.clone();
        now.turn = 3;
        now.screen.chars[80] = b'x';
        now.status = Some(Status { hp: 10, ..Status::default() });
        let told = since(7, Some(&before), &now);
        assert_eq!(told["rows"], json!([{"row": 1, "text": "x"}]));
        assert_eq!(told["status"], json!({"hp": 10, "hunger": ""}));
        assert_eq!(told["turns"], json!(3));
        assert_eq!(told["cursor"], Value::Null);
        let all = since(7, None, &now);
        assert_eq!(all["rows"].as_array().unwrap().len(), ROWS);
        assert_eq!(all["complete"], json!(true));
    }
}
