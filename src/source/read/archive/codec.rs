//! Decompresses streams: gzip, xz, zstd and bzip2.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use bzip2::read::MultiBzDecoder;
use flate2::bufread::GzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::FrameDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};

use super::{BoxRead, Compression};
use crate::limits::sources::UNPACK_WINDOW;

/// The memory of an xz stream besides its window, in KiB.
const XZ_BESIDES_WINDOW: u32 = 256;

/// Returns the decompressed text of a stream.
pub(super) fn decoder<'a>(compression: Compression, below: impl Read + Send + 'a) -> BoxRead<'a> {
    match compression {
        Compression::Gzip => Box::new(Gzip { member: Some(GzDecoder::new(BufReader::new(below))) }),
        Compression::Xz => Box::new(XzReader::new_mem_limit(below, true, (UNPACK_WINDOW >> 10) as u32 + XZ_BESIDES_WINDOW)),
        Compression::Zstd => Box::new(Zstd::new(below)),
        Compression::Bzip2 => Box::new(MultiBzDecoder::new(below)),
    }
}

/// The members of a gzip stream, one after another. Zeros after a member are ignored: tapes and block devices are padded with them.
struct Gzip<R> {
    /// `None` at the end of the stream.
    member: Option<GzDecoder<BufReader<R>>>,
}

impl<R: Read> Read for Gzip<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        while let Some(member) = &mut self.member {
            let count = member.read(buf)?;
            if count > 0 {
                return Ok(count);
            }
            let mut rest = self.member.take().map(GzDecoder::into_inner).into_iter();
            self.member = rest.try_fold(None, |_, rest| next_member(rest))?;
        }
        Ok(0)
    }
}

/// Returns the member of a gzip stream that follows; `None` at its end.
fn next_member<R: Read>(mut rest: BufReader<R>) -> io::Result<Option<GzDecoder<BufReader<R>>>> {
    loop {
        let bytes = rest.fill_buf()?;
        if bytes.is_empty() {
            return Ok(None);
        }
        match bytes.iter().position(|byte| *byte != 0) {
            None => {
                let count = bytes.len();
                rest.consume(count);
            }
            Some(0) if bytes[0] == 0x1f => return Ok(Some(GzDecoder::new(rest))),
            Some(_) => return Err(io::Error::other("bytes that are not gzip's follow what was compressed")),
        }
    }
}

/// The frames of a zstd stream, one after another.
struct Zstd<R> {
    source: R,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl<R: Read> Zstd<R> {
    fn new(source: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(UNPACK_WINDOW);
        Self { source, decoder, in_frame: false }
    }

    /// Starts the next frame; returns false at the end of the stream.
    fn next_frame(&mut self) -> io::Result<bool> {
        let mut first = [0; 1];
        if self.source.read(&mut first)? == 0 {
            return Ok(false);
        }
        match self.decoder.init(Cursor::new(first).chain(&mut self.source)) {
            Ok(()) => self.in_frame = true,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                io::copy(&mut self.source.by_ref().take(u64::from(length)), &mut io::sink())?;
            }
            Err(error) => return Err(io::Error::other(error.to_string())),
        }
        Ok(true)
    }
}

impl<R: Read> Read for Zstd<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.in_frame {
                if !self.next_frame()? {
                    return Ok(0);
                }
                continue;
            }
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(out);
            }
            if self.decoder.is_finished() {
                self.in_frame = false;
                continue;
            }
            let strategy = ruzstd::decoding::BlockDecodingStrategy::UptoBlocks(1);
            self.decoder.decode_blocks(&mut self.source, strategy).map_err(|e| io::Error::other(e.to_string()))?;
        }
    }
}
