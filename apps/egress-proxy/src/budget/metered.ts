import { Transform, type Writable } from 'node:stream';
import type { Allowance, Refusal } from './allowance.js';

/**
 * Where to write what a sandbox sends: `to` itself without a budget, else a stream before it that passes on what is
 * reserved. At the first byte that is not, nothing more passes.
 */
export function metered(allowance: Allowance | null, to: Writable, onRefused: (refusal: Refusal) => void): Writable {
  if (allowance === null) return to;
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (allowance.tryTake(chunk.length)) return done(null, chunk);
      allowance.take(chunk.length).then((refusal) => {
        if (refusal === null) return done(null, chunk);
        onRefused(refusal);
        // Never called: nothing after it passes either.
      }, done);
    },
  });
  meter.on('error', () => to.destroy());
  meter.pipe(to);
  return meter;
}
