//! Bytes of terminals, and bytes that no terminal sends.

use crossterm::event::{KeyEventKind, MouseButton, MouseEvent, MouseEventKind};

use super::*;

fn key(code: KeyCode, with: KeyModifiers) -> Typed {
    Typed::Event(Event::Key(KeyEvent::new(code, with)))
}

fn plain(code: KeyCode) -> Typed {
    key(code, KeyModifiers::NONE)
}

fn mouse(kind: MouseEventKind, column: u16, row: u16, modifiers: KeyModifiers) -> Typed {
    Typed::Event(Event::Mouse(MouseEvent { kind, column, row, modifiers }))
}

/// Returns the keys among the input.
fn keys(parser: &mut Parser) -> Vec<Typed> {
    all(parser).into_iter().filter(|typed| matches!(typed, Typed::Event(Event::Key(_)))).collect()
}

fn all(parser: &mut Parser) -> Vec<Typed> {
    std::iter::from_fn(|| parser.next()).collect()
}

/// Returns what a parser makes of bytes that come at once, and then of silence.
fn typed(bytes: &[u8]) -> Vec<Typed> {
    let mut parser = Parser::default();
    parser.advance(bytes);
    while parser.ends().is_some() {
        parser.time_out();
    }
    all(&mut parser)
}

#[test]
fn keys_and_sequences_are_those_of_xterm() {
    let shift = KeyModifiers::SHIFT;
    let (alt, control) = (KeyModifiers::ALT, KeyModifiers::CONTROL);
    for (bytes, expected) in [
        ("q", plain(KeyCode::Char('q'))),
        ("G", key(KeyCode::Char('G'), shift)),
        ("é", plain(KeyCode::Char('é'))),
        ("😀", plain(KeyCode::Char('😀'))),
        ("\r", plain(KeyCode::Enter)),
        ("\n", key(KeyCode::Char('j'), control)),
        ("\0", key(KeyCode::Char(' '), control)),
        ("\x1f", key(KeyCode::Char('7'), control)),
        ("\x7f", plain(KeyCode::Backspace)),
        ("\x1b", plain(KeyCode::Esc)),
        ("\x1bx", key(KeyCode::Char('x'), alt)),
        ("\x1bé", key(KeyCode::Char('é'), alt)),
        ("\x1b\x7f", key(KeyCode::Backspace, alt)),
        ("\x1b[", key(KeyCode::Char('['), alt)),
        ("\x1bO", key(KeyCode::Char('O'), alt | shift)),
        ("\x1bOA", plain(KeyCode::Up)),
        ("\x1bOS", plain(KeyCode::F(4))),
        ("\x1b[B", plain(KeyCode::Down)),
        ("\x1b[1;5C", key(KeyCode::Right, control)),
        ("\x1b[5D", key(KeyCode::Left, control)),
        ("\x1b[Z", key(KeyCode::BackTab, shift)),
        ("\x1b[[E", plain(KeyCode::F(5))),
        ("\x1b[5~", plain(KeyCode::PageUp)),
        ("\x1b[3;2~", key(KeyCode::Delete, shift)),
        ("\x1b[24~", plain(KeyCode::F(12))),
        ("\x1b[27;5;97~", key(KeyCode::Char('a'), control)),
        ("\x1b[97;5u", key(KeyCode::Char('a'), control)),
        ("\x1b[97:65;2u", plain(KeyCode::Char('A'))),
        ("\x1b[27u", plain(KeyCode::Esc)),
        ("\x1b[I", Typed::Event(Event::FocusGained)),
        ("\x1b[<0;20;10M", mouse(MouseEventKind::Down(MouseButton::Left), 19, 9, KeyModifiers::NONE)),
        ("\x1b[<0;20;10m", mouse(MouseEventKind::Up(MouseButton::Left), 19, 9, KeyModifiers::NONE)),
        ("\x1b[<65;1;1M", mouse(MouseEventKind::ScrollDown, 0, 0, KeyModifiers::NONE)),
        ("\x1b[<35;3;4M", mouse(MouseEventKind::Moved, 2, 3, KeyModifiers::NONE)),
        ("\x1b[64;30;40M", mouse(MouseEventKind::Drag(MouseButton::Left), 29, 39, KeyModifiers::NONE)),
        ("\x1b[M0\x60\x70", mouse(MouseEventKind::Down(MouseButton::Left), 63, 79, control)),
        ("\x1b[200~on\x1b[2D\nand on\x1b[201~", Typed::Event(Event::Paste("on\x1b[2D\nand on".to_owned()))),
    ] {
        assert_eq!(typed(bytes.as_bytes()), [expected], "{bytes:?}");
    }
    let released = KeyEvent::new_with_kind(KeyCode::Char('a'), KeyModifiers::NONE, KeyEventKind::Release);
    assert_eq!(typed(b"\x1b[97;1:3u"), [Typed::Event(Event::Key(released))]);
    assert_eq!(typed(b"\x1b\x1b[A"), [plain(KeyCode::Esc), plain(KeyCode::Up)]);
}

#[test]
fn sequences_without_a_meaning_are_dropped_whole() {
    for bytes in [
        &b"\x1b[<0;20M"[..],
        b"\x1b[<0;0;0M",
        b"\x1b[<999;1;1M",
        b"\x1b[<0;99999;1M",
        b"\x1b[M   ",
        b"\x1b[31;1;1M",
        b"\x1b[99~",
        b"\x1b[?1;2c",
        b"\x1b[1;1$y",
        b"\x1b[57358u",
        b"\x1b[1114112u",
        b"\xff\xfe\x80\xc0\xf5",
        b"\xed\xa0\x80",
    ] {
        assert_eq!([typed(bytes), typed(&[bytes, b"q"].concat())], [vec![], vec![plain(KeyCode::Char('q'))]], "{bytes:?}");
    }
}

/// Beginnings of sequences.
const UNFINISHED: &[&[u8]] = &[
    b"\x1b",
    b"\x1b[",
    b"\x1bO",
    b"\x1b[<",
    b"\x1b[<0;1",
    b"\x1b[M",
    b"\x1b[M  ",
    b"\x1b[1;",
    b"\x1b[[",
    b"\x1b[?",
    b"\x1b[200",
    b"\x1b[200~",
    b"\x1b[200~text",
    b"\x1b[200~text\x1b",
    b"\x1b[200~text\x1b[201",
    b"\xc3",
    b"\xf0\x9f",
    b"\x1b\xf0",
];

#[test]
fn an_unfinished_sequence_is_over_after_some_time_and_ctrl_c_ends_it_at_once() {
    let control_c = key(KeyCode::Char('c'), KeyModifiers::CONTROL);
    for begun in UNFINISHED {
        let mut parser = Parser::default();
        parser.advance(begun);
        let wait = parser.wait().unwrap_or_else(|| panic!("{begun:?} is finished"));
        assert!(wait <= PASTE_WAIT && parser.ends().is_some(), "{begun:?}");
        parser.time_out();
        assert_eq!(parser.ends(), None, "{begun:?}");
        all(&mut parser);
        parser.advance(b"q");
        assert_eq!(all(&mut parser), [plain(KeyCode::Char('q'))], "{begun:?}");
        parser.advance(begun);
        parser.advance(b"\x03");
        assert_eq!((keys(&mut parser).last(), parser.ends()), (Some(&control_c), None), "{begun:?}");
        // Esc is a key after the time of a sequence, and ends a paste.
        parser.advance(begun);
        parser.advance(b"\x1b");
        assert!(parser.wait() <= Some(SEQUENCE_WAIT), "{begun:?}");
        parser.time_out();
        assert_eq!((keys(&mut parser).last(), parser.ends()), (Some(&plain(KeyCode::Esc)), None), "{begun:?}");
    }
}

#[test]
fn escape_alone_is_a_key_after_a_moment() {
    let mut parser = Parser::default();
    parser.advance(b"\x1b");
    assert_eq!((parser.wait(), parser.next()), (Some(ESCAPE_WAIT), None));
    // The rest of an arrow key comes a little later.
    parser.advance(b"[");
    assert_eq!((parser.wait(), parser.next()), (Some(SEQUENCE_WAIT), None));
    parser.advance(b"A");
    assert_eq!((parser.wait(), parser.next()), (None, Some(plain(KeyCode::Up))));
    // Esc and a letter come as Alt with the letter if they come at once.
    for (bytes, expected) in [
        (&[&b"\x1b"[..], b"q"][..], vec![plain(KeyCode::Esc), plain(KeyCode::Char('q'))]),
        (&[b"\x1bq"], vec![key(KeyCode::Char('q'), KeyModifiers::ALT)]),
    ] {
        for bytes in bytes {
            parser.advance(bytes);
        }
        assert_eq!(all(&mut parser), expected);
    }
}

#[test]
fn a_sequence_of_too_many_bytes_is_dropped() {
    for (count, expected) in [(SEQUENCE - 5, vec![key(KeyCode::Up, KeyModifiers::CONTROL)]), (SEQUENCE - 4, vec![]), (1_000_000, vec![])] {
        let mut parser = Parser::default();
        parser.advance(b"\x1b[1");
        parser.advance(&vec![b'0'; count]);
        parser.advance(b";5:1A");
        assert!(parser.bytes.capacity() <= 4 * SEQUENCE, "{count}");
        assert_eq!(all(&mut parser), expected, "{count}");
    }
}

#[test]
fn a_paste_of_too_many_bytes_is_dropped_and_costs_no_more_memory() {
    for (count, expected) in [(PASTE, None), (PASTE + 1, Some(DroppedPaste::TooLong)), (20 * PASTE, Some(DroppedPaste::TooLong))] {
        let mut parser = Parser::default();
        parser.advance(b"\x1b[200~");
        let mut largest = 0;
        for chunk in vec![b'x'; count].chunks(4096) {
            parser.advance(chunk);
            largest = largest.max(parser.bytes.capacity());
        }
        parser.advance(b"\x1b[201~q");
        let expected = expected.map_or_else(|| Typed::Event(Event::Paste("x".repeat(count))), Typed::Dropped);
        assert!(largest <= 2 * (PASTE + PASTE_END.len()), "{largest}");
        assert!(all(&mut parser) == [expected, plain(KeyCode::Char('q'))], "{count}");
    }
}

#[test]
fn a_paste_that_does_not_end_is_over_after_silence() {
    let mut parser = Parser::default();
    parser.advance(b"\x1b[200~some text");
    assert_eq!((parser.wait(), parser.next()), (Some(PASTE_WAIT), None));
    parser.time_out();
    parser.advance(b"j");
    assert_eq!(all(&mut parser), [Typed::Dropped(DroppedPaste::Unfinished), plain(KeyCode::Char('j'))]);
}

proptest::proptest! {
    /// After any bytes and some silence, a key is itself, and nothing has grown.
    #[test]
    fn no_bytes_make_it_deaf(bytes in proptest::collection::vec(proptest::sample::select(&b"\x1b\x1b[[[]OM<;;~02019?umA\x03\x9b\xf0\x9f\xe2 q\x00"[..]), 0..200)) {
        let mut parser = Parser::default();
        parser.advance(&bytes);
        parser.time_out();
        assert_eq!(parser.ends(), None);
        assert!(all(&mut parser).len() <= bytes.len() + 1);
        parser.advance(b"q");
        assert_eq!(all(&mut parser), [plain(KeyCode::Char('q'))]);
    }
}
