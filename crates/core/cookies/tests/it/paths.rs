//! Sections 5.1.4 and 5.6.4: the paths to which a cookie is sent.

use crate::exchange::check;

fn url(path: &str) -> String {
    format!("http://example.com{path}")
}

#[test]
fn a_path_goes_to_the_paths_below_it() {
    let rows: [(&str, &[&str], &[&str]); 3] = [
        ("/", &["", "/", "/a", "/a/b?c", "?c", "*"], &[]),
        (
            "/a",
            &["/a", "/a/", "/a/b", "/a?b", "/a#b", "/a/../c"],
            &["/", "/ab", "/b/a", "/A", "?/a", ""],
        ),
        ("/a/", &["/a/", "/a/b", "/a//"], &["/a", "/a?/", "/"]),
    ];
    for (path, inside, outside) in rows {
        let sets = [("http://example.com/x/y", &*format!("k=v; Path={path}"))];
        for path in inside {
            check(&sets, &[(&url(path), "k=v")]);
        }
        for path in outside {
            check(&sets, &[(&url(path), "")]);
        }
    }
}

#[test]
fn without_one_it_is_the_folder_of_the_request() {
    let rows = [
        ("", "/"),
        ("/", "/"),
        ("/a", "/"),
        ("/a/", "/a"),
        ("/a/b", "/a"),
        ("/a/b/c?d=/e/f", "/a/b"),
        ("?/a/b", "/"),
        ("//", "/"),
    ];
    for (request, folder) in rows {
        for field in ["k=v", "k=v; Path", "k=v; Path=", "k=v; Path=a/b"] {
            // A cookie with the same path replaces the first one.
            let same = format!("k=w; Path={folder}");
            check(
                &[(&url(request), field), (&url("/"), &same)],
                &[(&url(folder), "k=w")],
            );
        }
    }
}
