/** For calls of the system: a path of bytes, one a character. Plain text costs less, where it is the same. */
export function diskPath(path: string): string | Buffer {
  for (let at = 0; at < path.length; at += 1) if (path.charCodeAt(at) > 0x7f) return Buffer.from(path, 'latin1');
  return path;
}

/** The bytes of a path that a configuration has as text. */
export function bytesOfPath(path: string): string {
  return Buffer.from(path).toString('latin1');
}
