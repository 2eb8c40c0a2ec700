import { crc32 } from 'node:zlib';

/** A message as AWS sends it. Headers are written as text, or are given in bytes as they stand. */
export function writeMessage(headers: Readonly<Record<string, string>> | Buffer, payload: Buffer): Buffer {
  const written = Buffer.isBuffer(headers)
    ? headers
    : Buffer.concat(Object.entries(headers).map(([name, value]) => writeHeader(name, value)));
  const message = Buffer.alloc(12 + written.length + payload.length + 4);
  message.writeUInt32BE(message.length, 0);
  message.writeUInt32BE(written.length, 4);
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8);
  written.copy(message, 12);
  payload.copy(message, 12 + written.length);
  message.writeUInt32BE(crc32(message.subarray(0, -4)), message.length - 4);
  return message;
}

function writeHeader(name: string, value: string): Buffer {
  const [nameBytes, valueBytes] = [Buffer.from(name), Buffer.from(value)];
  const length = Buffer.alloc(2);
  length.writeUInt16BE(valueBytes.length);
  return Buffer.concat([Buffer.from([nameBytes.length]), nameBytes, Buffer.from([7]), length, valueBytes]);
}
