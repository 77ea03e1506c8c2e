//! The private apt source is derived from each way to write the machine's own.

#[path = "../build/debian_sources.rs"]
mod debian_sources;

use debian_sources::{from_deb822, from_one_line};

const HEAD: &str = "Types: deb-src\nURIs: http://mirror.example/debian\nSuites: trixie\nComponents: main\n";

#[test]
fn deb822_keeps_mirror_and_key() {
    let text = "# a comment\nTypes: deb\n# another\nURIs: http://mirror.example/debian\nSuites: bookworm bookworm-updates\n\
                Components: main contrib\nArchitectures: amd64\nSigned-By: /keys/debian.gpg\n\n\
                Types: deb\nURIs: http://mirror.example/debian-security\nSuites: bookworm-security\nComponents: main\n";
    let texts: Vec<String> = from_deb822(text).into_iter().map(|source| source.0).collect();
    assert_eq!(texts, [format!("{HEAD}Signed-By: /keys/debian.gpg\n")]);
}

#[test]
fn deb822_keeps_an_embedded_key() {
    let text = "Types: deb\nURIs:\n http://mirror.example/debian\nSuites: trixie\nComponents: main\n\
                Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc=\n -----END PGP PUBLIC KEY BLOCK-----\n";
    let key = "Signed-By: \n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc=\n -----END PGP PUBLIC KEY BLOCK-----\n";
    assert_eq!(from_deb822(text)[0].0, format!("{HEAD}{key}"));
}

#[test]
fn one_line_keeps_mirror_and_options() {
    for (line, options) in [
        ("deb http://mirror.example/debian bookworm main contrib", ""),
        ("  deb-src  http://mirror.example/debian  stable  main # text", ""),
        (
            "deb\t[arch=amd64 signed-by=/keys/debian.gpg] http://mirror.example/debian sid main",
            "Signed-By: /keys/debian.gpg\n",
        ),
        ("deb [ trusted=yes ] http://mirror.example/debian trixie main", "Trusted: yes\n"),
    ] {
        let texts: Vec<String> = from_one_line(line).into_iter().map(|source| source.0).collect();
        assert_eq!(texts, [format!("{HEAD}{options}")], "{line}");
    }
}

#[test]
fn what_is_not_a_debian_mirror_is_left_out() {
    for line in [
        "",
        "# deb http://mirror.example/debian bookworm main",
        "deb http://mirror.example/debian bookworm-updates main",
        "deb http://mirror.example/debian bookworm contrib",
        "deb https://tools.example/apt tools-bookworm main",
        "deb [broken http://mirror.example/debian bookworm main",
        "debug http://mirror.example/debian bookworm main",
        "deb http://mirror.example/debian",
    ] {
        assert_eq!(from_one_line(line), [], "{line}");
    }
    for stanza in [
        "Types: deb\nURIs: http://mirror.example/debian\nSuites: bookworm\nComponents: main\nEnabled: no\n",
        "Types: deb\nURIs: https://tools.example/node\nSuites: nodistro\nComponents: main\n",
        "Types: deb\nSuites: bookworm\nComponents: main\n",
        " continued from nowhere\n",
        "no colon here\n",
    ] {
        assert_eq!(from_deb822(stanza), [], "{stanza}");
    }
}
