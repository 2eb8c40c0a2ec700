import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { BUNDLE_REF } from '@slipway/contracts/repositories';

const WHO = 'A <a@example> 1760000000 +0000';
const hashOf = (type: string, content: Buffer): string =>
  createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex');

/** A bundle of one commit on `base`, with one file of this text. @returns its head too. */
export function madeBundle(base: string, text: string): { readonly head: string; readonly bytes: Buffer } {
  const blob = Buffer.from(text);
  const tree = Buffer.concat([Buffer.from('100644 total.js\0'), Buffer.from(hashOf('blob', blob), 'hex')]);
  const commit = Buffer.from(
    `tree ${hashOf('tree', tree)}\nparent ${base}\nauthor ${WHO}\ncommitter ${WHO}\n\n${text}\n`,
  );
  const head = hashOf('commit', commit);
  const begin = Buffer.alloc(12);
  begin.write('PACK');
  begin.writeUInt32BE(2, 4);
  begin.writeUInt32BE(3, 8);
  const pack = Buffer.concat([begin, entry(1, commit), entry(2, tree), entry(3, blob)]);
  const whole = Buffer.concat([pack, createHash('sha1').update(pack).digest()]);
  return { head, bytes: Buffer.concat([Buffer.from(`# v2 git bundle\n-${base}\n${head} ${BUNDLE_REF}\n\n`), whole]) };
}

function entry(type: number, content: Buffer): Buffer {
  const head: number[] = [];
  let byte = (type << 4) | (content.length & 15);
  for (let rest = Math.floor(content.length / 16); rest > 0; rest = Math.floor(rest / 128)) {
    head.push(byte | 128);
    byte = rest & 127;
  }
  return Buffer.concat([Buffer.from([...head, byte]), deflateSync(content)]);
}
