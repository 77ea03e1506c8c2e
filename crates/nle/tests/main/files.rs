use nle::{NleError, Trajectory};

use crate::{lines, zipped};

/// Reads a file to its end or its error.
fn read(bytes: &[u8]) -> Result<u64, NleError> {
    let mut trajectory = Trajectory::read(bytes)?;
    let mut steps = 0;
    while trajectory.step()?.is_some() {
        steps += 1;
    }
    Ok(steps)
}

fn refused(bytes: &[u8], words: &str) {
    let error = read(bytes).expect_err(words).to_string();
    assert!(error.contains(words), "{error:?} does not say {words:?}");
}

fn text(lines: &[String]) -> Vec<u8> {
    zipped(lines.join("\n").as_bytes())
}

/// The recording with its header changed.
fn with_header(from: &str, to: &str) -> Vec<u8> {
    let mut lines = lines("valkyrie");
    assert!(lines[0].contains(from), "{from}");
    lines[0] = lines[0].replacen(from, to, 1);
    text(&lines)
}

#[test]
fn foreign_files_are_refused() {
    refused(b"", "not whole gzip data");
    refused(b"{\"type\":\"header\"}\n", "not whole gzip data");
    refused(&zipped(b""), "a trajectory begins with a header");
    refused(&zipped(b"hello\n"), "line 1");
    refused(&zipped(b"[1,2]\n"), "line 1");
    refused(&zipped(b"\xff\xfe\n"), "line 1");
    refused(&zipped(b"{\"type\":\"step\",\"i\":0,\"k\":null}\n"), "begins with a header");
    refused(&zipped(b"{\"type\":\"header\"}\n"), "missing field");
}

#[test]
fn every_cut_is_noticed() {
    let whole = text(&lines("valkyrie"));
    assert_eq!(read(&whole).unwrap(), 601);
    for length in (0..whole.len()).step_by(whole.len() / 200) {
        read(&whole[..length]).expect_err("a cut file");
    }
    let lines = lines("valkyrie");
    for kept in [1, 2, 3, 100, lines.len() - 1] {
        refused(&text(&lines[..kept]), "it has no end");
    }
}

#[test]
fn damaged_bytes_are_noticed_or_harmless() {
    let whole = text(&lines("tourist"));
    for place in (0..whole.len()).step_by(11) {
        let mut other = whole.clone();
        other[place] ^= 0x10;
        // What a flipped bit leaves readable is still a trajectory; nothing panics.
        let _ = read(&other);
    }
}

#[test]
fn oversized_lines_are_refused_without_reading_them() {
    let mut bomb = lines("valkyrie")[0].clone().into_bytes();
    bomb.push(b'\n');
    bomb.extend(std::iter::repeat_n(b' ', 200 << 20));
    let bomb = zipped(&bomb);
    assert!(bomb.len() < 2 << 20);
    refused(&bomb, "the line is longer than 1 MiB");
}

#[test]
fn headers_that_can_not_be_played_are_refused() {
    refused(&with_header("\"format\":1", "\"format\":2"), "format 2 is unknown");
    refused(&with_header("\"nle\":\"1.3.0\"", "\"nle\":\"1.0.0\""), "NLE 1.0.0");
    refused(&with_header("\"spawn_monsters\":true", "\"spawn_monsters\":false"), "spawn_monsters");
    refused(&with_header("\"frozen\":true", "\"frozen\":false"), "a clock that runs");
    refused(&with_header("\"epoch\":978436800.0", "\"epoch\":1e300"), "the clock");
    refused(&with_header("\"core\":11", "\"core\":-1"), "line 1");
    refused(&with_header("\"core\":11", "\"core\":18446744073709551616"), "line 1");
    refused(&with_header("autopickup,", "windowtype:curses,"), "windowtype");
    refused(&with_header("autopickup,", "autopickup,playmode:debug,"), "debug");
    refused(&with_header("\"glyphs\",\"chars\"", "\"glyphs\",\"smells\""), "smells");
    refused(&with_header("\"terminal\":[24,80]", "\"terminal\":[30,100]"), "24 × 80");
    refused(&with_header("\"terminal\":[24,80]", "\"dtypes\":{\"glyphs\":\"int32\"}"), "another type or shape");
}

#[test]
fn lines_out_of_order_are_refused() {
    let recorded = lines("valkyrie");
    let change = |change: &dyn Fn(&mut Vec<String>)| {
        let mut lines = recorded.clone();
        change(&mut lines);
        text(&lines)
    };
    let step = recorded.iter().position(|line| line.contains("\"i\":50,")).unwrap();
    refused(&change(&|lines| lines.swap(step, step + 1)), "stands where step 50 belongs");
    refused(&change(&|lines| drop(lines.remove(step))), "stands where step 50 belongs");
    refused(&change(&|lines| lines.insert(step, lines[0].clone())), "a second header");
    refused(&change(&|lines| lines.push(lines[step].clone())), "a line follows the end");
    refused(&change(&|lines| lines[step] = lines[step].replacen("\"k\":", "\"k\":1000,\"q\":", 1)), "1000 is no key");
    refused(&change(&|lines| lines[step] = lines[step].replacen("\"k\":", "\"k\":null,\"q\":", 1)), "has a key");
    refused(
        &change(&|lines| lines[step] = "{\"type\":\"step\",\"i\":50,\"k\":1,\"h\":{\"glyphs\":\"00\"}}".into()),
        "64 lower-case",
    );
    refused(&change(&|lines| lines[step] = "{\"type\":\"dance\"}".into()), "unknown variant");
    refused(
        &change(&|lines| lines[1] = "{\"type\":\"step\",\"i\":0,\"k\":null,\"h\":{}}".into()),
        "the first step lacks arrays",
    );
    let last = recorded.len() - 1;
    refused(&change(&|lines| lines[last] = "{\"type\":\"end\",\"steps\":3}".into()), "3 steps are told");
}
