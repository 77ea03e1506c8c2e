use std::net::{IpAddr, Ipv6Addr};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::uri::Authority;
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// The longest path with its query, in bytes.
const TARGET_BYTES_MAX: usize = 512;

/// What every answer says: nothing from elsewhere, no guessing of types, no frame around it, no word to others.
const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=()"),
];

/// Who may be asked for: on loopback its names, else any address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hosts {
    pub(crate) public: bool,
}

/// Lets only reads through that name this host, and puts the same headers on every answer.
pub(crate) async fn guard(State(hosts): State<Hosts>, request: Request, next: Next) -> Response {
    let mut response = match refused(hosts, &request) {
        Some(refusal) => refusal,
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

fn refused(hosts: Hosts, request: &Request) -> Option<Response> {
    if !names_this_host(hosts, request) {
        let message = "ask by address, or by localhost where this runs on the same machine";
        return Some(error(StatusCode::MISDIRECTED_REQUEST, "HOST", message));
    }
    if request.method() != Method::GET && request.method() != Method::HEAD {
        let mut response = error(StatusCode::METHOD_NOT_ALLOWED, "METHOD", "this is to be looked at: GET and HEAD");
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET,HEAD"));
        return Some(response);
    }
    let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    if target > TARGET_BYTES_MAX {
        return Some(error(StatusCode::URI_TOO_LONG, "PATH", "no path here is so long"));
    }
    None
}

/// Whether the request is for a name that only this host has. A name of somebody else's that leads here would let that
/// somebody's page read what is shown.
fn names_this_host(hosts: Hosts, request: &Request) -> bool {
    let named: Vec<_> = request.headers().get_all(header::HOST).iter().collect();
    let [host] = named.as_slice() else { return false };
    let host = host.to_str().ok().and_then(|host| host.parse::<Authority>().ok());
    let in_target = request.uri().authority();
    host.is_some_and(|host| is_ours(hosts, &host)) && in_target.is_none_or(|authority| is_ours(hosts, authority))
}

fn is_ours(hosts: Hosts, authority: &Authority) -> bool {
    if authority.as_str().contains('@') {
        return false;
    }
    let host = authority.host();
    if host.eq_ignore_ascii_case("localhost") {
        return true;
    }
    let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let address = match bracketed {
        Some(host) => host.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        None => host.parse::<IpAddr>().ok(),
    };
    address.is_some_and(|address| hosts.public || address.is_loopback())
}

/// An error as an answer.
pub(crate) fn error(status: StatusCode, code: &str, message: &str) -> Response {
    let body = json!({"error": {"code": code, "message": message}}).to_string();
    (status, [(header::CONTENT_TYPE, "application/json")], Body::from(body)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours(public: bool, host: &str) -> bool {
        host.parse().is_ok_and(|authority| is_ours(Hosts { public }, &authority))
    }

    #[test]
    fn only_names_of_this_host_are_let_in() {
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:8080", "127.0.0.2", "[::1]", "[::1]:99"] {
            assert!(ours(false, host), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "10.0.0.1",
            "a@127.0.0.1",
            "127.0.0.1.evil.example",
            "0x7f.1",
            "",
        ] {
            assert!(!ours(false, host), "{host}");
        }
        assert!(ours(true, "10.0.0.1:80") && !ours(true, "evil.example"));
    }
}
