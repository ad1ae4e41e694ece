//! The viewer's server: who is let in, what is refused, and that no page can hold up a scene.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering;

use common::{Stand, TAPE_FRAMES, stand, wait_until};
use tungstenite::Message;

/// The whole answer to a plain request.
fn get(stand: &Stand, path: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(stand.viewer.address()).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\n{headers}\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn host(stand: &Stand) -> String {
    format!("Host: {}\r\n", stand.viewer.address())
}

#[test]
fn only_this_machine_can_connect() {
    let Some(stand) = stand("balls-2") else {
        return;
    };
    assert!(stand.viewer.address().ip().is_loopback());
}

#[test]
fn the_page_is_given_to_its_own_host_only() {
    let Some(stand) = stand("balls-2") else {
        return;
    };
    let port = stand.viewer.address().port();
    let page = get(&stand, "/", &host(&stand));
    assert!(page.starts_with("HTTP/1.1 200 OK") && page.contains("<title>Drystone</title>"));
    assert!(page.contains("frame-ancestors 'none'"));
    // The token is a secret of the address, not of the page.
    assert!(!page.contains(stand.viewer.token()));
    for bad in [
        String::new(),
        "Host: evil.example\r\n".to_owned(),
        format!("Host: evil.example:{port}\r\n"),
        format!("Host: 127.0.0.1.evil.example:{port}\r\n"),
        "Host: 127.0.0.1\r\n".to_owned(),
        format!("Host: 127.0.0.1:{}\r\n", port.wrapping_add(1)),
        format!("Host: 127.0.0.1:{port}\r\nHost: evil.example\r\n"),
    ] {
        let answer = get(&stand, "/", &bad);
        assert!(answer.starts_with("HTTP/1.1 421"), "{bad}: {answer:.60}");
    }
    let missing = get(&stand, "/etc/passwd", &host(&stand));
    assert!(missing.starts_with("HTTP/1.1 404"));
}

#[test]
fn a_socket_needs_the_token_and_its_own_origin() {
    let Some(stand) = stand("balls-2") else {
        return;
    };
    let address = stand.viewer.address();
    let own = address.to_string();
    let origin = format!("http://{own}");
    let path = format!("/live?token={}", stand.viewer.token());
    let mut page = stand
        .knock(&path, &[("Host", &own), ("Origin", &origin)])
        .unwrap_or_else(|status| panic!("{status}"));
    assert_eq!(page.text("hello")["solvers"][0], "a");
    let localhost = format!("localhost:{}", address.port());
    let here = format!("http://{localhost}");
    let named = stand.knock(&path, &[("Host", &localhost), ("Origin", &here)]);
    assert!(named.is_ok());

    let short = &path[..path.len() - 1];
    let wrong = "/live?token=00000000000000000000000000000000";
    for (path, host, origin, status) in [
        (wrong, &own, Some(&origin), 403),
        (short, &own, Some(&origin), 403),
        ("/live", &own, Some(&origin), 403),
        (&path, &own, None, 403),
        (&path, &own, Some(&"http://evil.example".to_owned()), 403),
        (&path, &own, Some(&"null".to_owned()), 403),
        (&path, &own, Some(&format!("https://{own}")), 403),
        (&path, &own, Some(&here), 403),
        (&path, &"evil.example".to_owned(), Some(&origin), 421),
    ] {
        let mut headers = vec![("Host", host.as_str())];
        headers.extend(origin.map(|origin| ("Origin", origin.as_str())));
        let refused = stand.knock(path, &headers).err();
        assert_eq!(refused, Some(status), "{path} {headers:?}");
    }
    stand.wait_for_log("another origin");
    stand.wait_for_log("token");
}

#[test]
fn pictures_of_scenes_need_the_token() {
    let Some(stand) = stand("balls-2") else {
        return;
    };
    let path = format!("/thumbnail/balls-2?token={}", stand.viewer.token());
    assert!(get(&stand, &path, &host(&stand)).ends_with("picture"));
    let open = get(&stand, "/thumbnail/balls-2", &host(&stand));
    assert!(open.starts_with("HTTP/1.1 403"));
    let unknown = path.replace("balls-2", "other");
    assert!(get(&stand, &unknown, &host(&stand)).starts_with("HTTP/1.1 404"));
}

#[test]
fn malformed_messages_are_refused_and_logged_and_the_page_stays() {
    let Some(stand) = stand("balls-2") else {
        return;
    };
    let mut page = stand.page();
    for bad in [
        "nonsense",
        "{}",
        r#"{"do":"explode"}"#,
        r#"{"do":"seek","time":"late"}"#,
        r#"{"do":"set","change":{"friction":-1}}"#,
        r#"{"do":"open","scene":"../../etc/passwd"}"#,
    ] {
        page.say(bad);
        let answer = page.text("trouble");
        assert!(!answer["text"].as_str().unwrap().is_empty(), "{bad}");
    }
    page.socket.send(Message::binary(vec![1, 2, 3])).unwrap();
    page.text("trouble");
    stand.wait_for_log("explode");
    stand.wait_for_log("not text");
    page.say(r#"{"do":"step"}"#);
    assert_eq!(page.frame_of_step(1.0).2, 2);
}

#[test]
fn a_message_of_more_than_a_mebibyte_ends_the_connection() {
    let Some(stand) = stand("balls-2") else {
        return;
    };
    let mut page = stand.page();
    page.text("hello");
    let just_fits = format!(
        r#"{{"do":"open","scene":"{}"}}"#,
        "x".repeat((1 << 20) - 40)
    );
    page.say(&just_fits);
    page.text("trouble");
    // The server may hang up before all of it is written.
    let _ = page.socket.send(Message::text("x".repeat((1 << 20) + 1)));
    stand.wait_for_log("refused");
    wait_until(|| {
        let log = stand.log.lock().unwrap();
        log.iter()
            .any(|line| line.contains("too long") || line.contains("Message"))
    });
    loop {
        if page.socket.read().is_err() {
            break;
        }
    }
    // Others are not disturbed.
    assert_eq!(stand.page().text("hello")["type"], "hello");
}

#[test]
fn a_dead_page_holds_up_nothing() {
    // Frames of a megabyte: what a socket can hold is full after a few.
    let Some(stand) = stand("balls-20000") else {
        return;
    };
    let dead: Vec<_> = (0..3).map(|_| stand.page()).collect();
    let mut alive = stand.page();
    alive.text("hello");
    alive.say(r#"{"do":"play","on":true}"#);
    wait_until(|| stand.steps.load(Ordering::SeqCst) > 300);
    // The page that reads still gets frames, and the newest ones.
    let seen = alive.frame(0).0;
    let later = (0..20).map(|_| alive.frame(0).0).fold(seen, f64::max);
    assert!(later > seen);
    drop(dead);
}

#[test]
fn pausing_stepping_and_seeking_do_what_they_say() {
    let Some(stand) = stand("balls-2") else {
        return;
    };
    let mut page = stand.page();
    assert_eq!(page.frame(0).0, 0.0);
    for step in 1..=5 {
        page.say(r#"{"do":"step"}"#);
        page.frame_of_step(f64::from(step));
    }
    assert_eq!(stand.steps.load(Ordering::SeqCst), 5);
    page.say(r#"{"do":"seek","time":0.021}"#);
    assert_eq!(page.frame_of_step(2.0).1, 0.02);
    page.say(r#"{"do":"back"}"#);
    page.frame_of_step(1.0);
    // Playing on goes through what is known and then beyond.
    page.say(r#"{"do":"play","on":true}"#);
    wait_until(|| stand.steps.load(Ordering::SeqCst) > 10);
    page.say(r#"{"do":"play","on":false}"#);
    loop {
        let state = page.text("state");
        if state["playing"] == false {
            break;
        }
    }
    let paused = stand.steps.load(Ordering::SeqCst);
    page.say(r#"{"do":"restart"}"#);
    page.text("stage");
    page.frame_of_step(0.0);
    assert_eq!(stand.steps.load(Ordering::SeqCst), paused);
}

#[test]
fn changes_take_effect_and_survive_a_restart() {
    let Some(stand) = stand("balls-2") else {
        return;
    };
    let mut page = stand.page();
    page.text("settings");
    page.say(r#"{"do":"set","change":{"friction":0.25}}"#);
    assert_eq!(page.text("settings")["lanes"][0]["friction"], 0.25);
    page.say(r#"{"do":"restart"}"#);
    assert_eq!(page.text("settings")["lanes"][0]["friction"], 0.25);
    page.say(r#"{"do":"open","scene":"balls-3"}"#);
    assert_eq!(page.text("settings")["lanes"][0]["friction"], 0.0);
}

#[test]
fn a_race_runs_in_step_with_a_solver_each() {
    let Some(stand) = stand("balls-2") else {
        return;
    };
    let mut page = stand.page();
    page.text("settings");
    page.say(r#"{"do":"race","racers":["a","b"]}"#);
    let settings = page.text("settings");
    assert_eq!(settings["lanes"][0]["solver"], "a");
    assert_eq!(settings["lanes"][1]["solver"], "b");
    page.say(r#"{"do":"step"}"#);
    page.frame_of_step(1.0);
    assert_eq!(page.frame(1).0, 1.0);
    page.say(r#"{"do":"race","racers":[]}"#);
    assert_eq!(page.text("settings")["lanes"].as_array().unwrap().len(), 1);
}

#[test]
fn a_hand_pulls_and_a_ball_is_thrown() {
    let Some(stand) = stand("balls-2") else {
        return;
    };
    let mut page = stand.page();
    page.say(r#"{"do":"grab","grip":{"object":0,"point":[0,0,0],"target":[7,8,9]}}"#);
    page.say(r#"{"do":"step"}"#);
    page.frame_of_step(1.0);
    page.say(r#"{"do":"release"}"#);
    page.say(r#"{"do":"throw","throw":{"position":[0,0,0],"velocity":[1,0,0],"radius":0.1}}"#);
    while page.text("stage")["stage"]["objects"]
        .as_array()
        .unwrap()
        .len()
        != 3
    {}
}

#[test]
fn a_recording_is_shown_and_never_stepped() {
    let Some(stand) = stand("tape-2") else {
        return;
    };
    let last = (TAPE_FRAMES - 1) as f64;
    let mut page = stand.page();
    assert_eq!(page.frame(0).0, 0.0);
    // All of it can be shown at once, before it was played.
    page.say(r#"{"do":"seek","time":0.5}"#);
    page.frame_of_step(50.0);
    page.say(r#"{"do":"step"}"#);
    page.frame_of_step(51.0);
    page.say(r#"{"do":"back"}"#);
    page.frame_of_step(50.0);
    page.say(r#"{"do":"seek","time":99}"#);
    page.frame_of_step(last);
    // At its end, playing begins anew and stops at the end again.
    page.say(r#"{"do":"speed","factor":20}"#);
    page.say(r#"{"do":"play","on":true}"#);
    while page.text("state")["playing"] != true {}
    while page.text("state")["playing"] != false {}
    page.say(r#"{"do":"restart"}"#);
    page.frame_of_step(0.0);
    assert_eq!(stand.steps.load(Ordering::SeqCst), 0);
}

#[test]
fn a_recording_can_not_be_changed() {
    let Some(stand) = stand("tape-2") else {
        return;
    };
    let mut page = stand.page();
    for change in [
        r#"{"do":"set","change":{"friction":0.1}}"#,
        r#"{"do":"grab","grip":{"object":0,"point":[0,0,0],"target":[0,0,0]}}"#,
        r#"{"do":"throw","throw":{"position":[0,0,0],"velocity":[0,0,0],"radius":1}}"#,
        r#"{"do":"race","racers":["a","b"]}"#,
        r#"{"do":"matrix"}"#,
    ] {
        page.say(change);
        let reason = page.text("trouble");
        let reason = reason["text"].as_str().unwrap();
        assert!(reason.contains("recording"), "{change}: {reason}");
    }
    // Another scene can be opened from here.
    page.say(r#"{"do":"open","scene":"balls-2"}"#);
    while page.text("stage")["about"]["name"] != "balls-2" {}
    wait_until(|| stand.steps.load(Ordering::SeqCst) > 0);
}
