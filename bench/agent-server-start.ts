// agent-server: process start to the first 200, its CPU until then, and what a blank one holds in memory.
import { setTimeout as wait } from 'node:timers/promises';
import { startAgentServer } from './measure/agent-server.ts';
import { percentile } from './measure/percentile.ts';
import { cpuMs, rssMiB } from './measure/process-usage.ts';
import type { Report } from './measure/report.ts';
import { startScript } from './measure/service-process.ts';

const N = 15;
/** A blank sandbox has settled by then. Milliseconds. */
const SETTLE_MS = 2_000;
/** OpenHands agent-server 1.58.0 on such a machine: median of five cold starts, and RSS idle (facts/peers-measured.md 2). */
const PEER = { wall: 12_300, cpu: 12_200, idle: 338 };

export default async function run(report: Report): Promise<void> {
  const walls: number[] = [];
  const cpus: number[] = [];
  const memories: number[] = [];
  const floors: number[] = [];
  for (let index = 0; index < N; index += 1) {
    const bare = performance.now();
    // The least that Node does: a script that imports node:http and listens.
    const script = await startScript('./stub-upstream.ts');
    floors.push(performance.now() - bare);
    await script.stop();
    const began = performance.now();
    const server = await startAgentServer();
    const answer = await fetch(`${server.url}/alive`);
    await answer.arrayBuffer();
    walls.push(performance.now() - began);
    cpus.push(await cpuMs(server.process.pid));
    if (index < 3) {
      await wait(SETTLE_MS);
      memories.push(await rssMiB(server.process.pid));
    }
    await server.stop();
  }
  report.figure({ figure: 'wall', value: percentile(walls, 0.5), unit: 'ms', floor: percentile(floors, 0.5), peer: PEER.wall, n: N });
  report.figure({ figure: 'wall-max', value: percentile(walls, 1), unit: 'ms', n: N });
  report.figure({ figure: 'cpu', value: percentile(cpus, 0.5), unit: 'ms', peer: PEER.cpu, n: N });
  report.figure({ figure: 'idle', value: percentile(memories, 0.5), unit: 'MiB', peer: PEER.idle, n: memories.length });
}
