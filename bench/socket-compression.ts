// What permessage-deflate would cost a server for each reader of 10,000 events, and save its line: as one stream with a
// flush after each frame, as `ws` does it.
import { constants, createDeflateRaw } from 'node:zlib';
import { percentile } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import { sampleLog } from './web/sample-log.ts';

const EVENTS = quick(10_000, 400);
/** As app-server sends history; agent-server sends one a frame. */
const PAGE = 200;
const RUNS = quick(5, 1);

/** CPU of this process, with zlib's threads, in milliseconds, and the bytes that come out. */
async function deflated(frames: readonly Buffer[], level: number): Promise<{ cpuMs: number; bytes: number }> {
  const stream = createDeflateRaw({ level });
  let bytes = 0;
  stream.on('data', (part: Buffer) => {
    bytes += part.length;
  });
  const before = process.cpuUsage();
  for (const frame of frames) {
    stream.write(frame);
    await new Promise<void>((resolve) => stream.flush(constants.Z_SYNC_FLUSH, resolve));
  }
  const { user, system } = process.cpuUsage(before);
  stream.close();
  return { cpuMs: (user + system) / 1_000, bytes };
}

export default async function run(report: Report): Promise<void> {
  const lines = sampleLog('01930000-0000-7000-8000-000000000000', EVENTS, Date.UTC(2026, 0, 1)).map((logged) =>
    JSON.stringify(logged),
  );
  const pages = Array.from(
    { length: Math.ceil(lines.length / PAGE) },
    (_, page) => `[${lines.slice(page * PAGE, (page + 1) * PAGE).join(',')}]`,
  );
  const plain = lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0);
  report.figure({ figure: 'plain', value: plain / 2 ** 20, unit: 'MiB', n: EVENTS });
  for (const [shape, texts] of [
    ['event', lines],
    ['page', pages],
  ] as const) {
    const frames = texts.map((text) => Buffer.from(text));
    for (const level of [1, 6]) {
      const runs: Array<Awaited<ReturnType<typeof deflated>>> = [];
      for (let index = 0; index <= RUNS; index += 1) runs.push(await deflated(frames, level));
      const measured = runs.slice(1);
      const cpu = percentile(
        measured.map(({ cpuMs }) => cpuMs),
        0.5,
      );
      report.figure({ figure: `${shape}-level-${level}-cpu`, value: cpu, unit: 'ms', n: RUNS });
      report.figure({
        figure: `${shape}-level-${level}-bytes`,
        value: (measured[0]?.bytes ?? 0) / 2 ** 20,
        unit: 'MiB',
        n: EVENTS,
      });
    }
  }
}
