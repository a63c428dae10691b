//! Archives: members with any name and content, complete or cut off, under misleading names.
#![no_main]

use libfuzzer_sys::fuzz_target;
use schedscope::source::{Input, load};

fuzz_target!(|input: (&str, Vec<(Vec<u8>, Vec<u8>)>, u16)| {
    let (name, members, cut) = input;
    let mut builder = tar::Builder::new(Vec::new());
    for (path, content) in &members {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        let field = &mut header.as_old_mut().name;
        let length = path.len().min(field.len());
        field[..length].copy_from_slice(&path[..length]);
        header.set_cksum();
        let _ = builder.append(&header, content.as_slice());
    }
    let mut bytes = builder.into_inner().unwrap_or_default();
    bytes.truncate(bytes.len().saturating_sub(usize::from(cut)));
    let loaded = load(&[Input::Bytes { name: name.to_owned(), bytes: bytes.into() }]);
    drop(loaded.cluster());
});
