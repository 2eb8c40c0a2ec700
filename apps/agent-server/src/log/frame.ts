/** A payload of at least this much makes a frame with a 64-bit length. Bytes. */
const LONG_PAYLOAD = 65_536;

/**
 * A whole WebSocket text frame as a server sends it (unmasked, uncompressed). Built once for an event, and written to
 * every subscriber as it is.
 */
export function textFrame(payload: Buffer): { frame: Buffer; headerLength: number } {
  const headerLength = payload.length < 126 ? 2 : payload.length < LONG_PAYLOAD ? 4 : 10;
  const frame = Buffer.allocUnsafe(headerLength + payload.length);
  frame[0] = 0x81;
  if (headerLength === 2) frame[1] = payload.length;
  else if (headerLength === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(payload.length, 2);
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(payload.length), 2);
  }
  payload.copy(frame, headerLength);
  return { frame, headerLength };
}
