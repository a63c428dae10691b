//! Bytes on a connection, for the little that is said to proxies.

use std::io;

use tokio::net::TcpStream;

pub(super) async fn write(stream: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        stream.writable().await?;
        match stream.try_write(bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads exactly `COUNT` bytes.
pub(super) async fn read<const COUNT: usize>(stream: &TcpStream) -> io::Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    let mut at = 0;
    while at < COUNT {
        stream.readable().await?;
        match stream.try_read(&mut bytes[at..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => at += read,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(bytes)
}
