// agent-server: process start to the first 200, its CPU until then, and what a blank one holds in memory.
import { setTimeout as wait } from 'node:timers/promises';
import { startAgentServer } from './measure/agent-server.ts';
import { openhandsServerEnvironment, startOpenHandsServer } from './measure/openhands-server.ts';
import { percentile } from './measure/percentile.ts';
import { cpuMs, rssMiB } from './measure/process-usage.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import { startScript } from './measure/service-process.ts';

const N = quick(15, 2);
/** A blank sandbox has settled by then. Milliseconds. */
const SETTLE_MS = quick(2_000, 100);
/** The peer takes seconds for each. */
const PEER_STARTS = 3;
/**
 * OpenHands agent-server 1.58.0 on such a machine, where it cannot be installed: median of five cold starts, and RSS
 * idle.
 */
const RECORDED = { wall: 12_300, cpu: 12_200, idle: 338 };

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
  const peer = await peerStart();
  report.figure({
    figure: 'wall',
    value: percentile(walls, 0.5),
    unit: 'ms',
    floor: percentile(floors, 0.5),
    peer: peer.wall,
    n: N,
  });
  report.figure({ figure: 'wall-max', value: percentile(walls, 1), unit: 'ms', n: N });
  report.figure({ figure: 'cpu', value: percentile(cpus, 0.5), unit: 'ms', peer: peer.cpu, n: N });
  report.figure({ figure: 'idle', value: percentile(memories, 0.5), unit: 'MiB', peer: peer.idle, n: memories.length });
}

/** The same of OpenHands' agent server, from PyPI: medians. */
async function peerStart(): Promise<typeof RECORDED> {
  const environment = await openhandsServerEnvironment();
  if ('missing' in environment) {
    console.log(`The peer's figures are those that were recorded elsewhere. ${environment.missing}`);
    return RECORDED;
  }
  const samples: Array<typeof RECORDED> = [];
  for (let index = 0; index < PEER_STARTS; index += 1) {
    const server = await startOpenHandsServer(environment);
    const wall = server.wallMs;
    const cpu = await cpuMs(server.process.pid);
    await wait(SETTLE_MS);
    samples.push({ wall, cpu, idle: await rssMiB(server.process.pid) });
    await server.stop();
  }
  const median = (of: (sample: typeof RECORDED) => number): number => percentile(samples.map(of), 0.5);
  return { wall: median(({ wall }) => wall), cpu: median(({ cpu }) => cpu), idle: median(({ idle }) => idle) };
}
