import { execFile } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '@slipway/testing';
import { startProcess, waitForHttp } from './child-process.ts';
import { LINKS, LimitedLinks } from './limited-links.ts';
import { cpuMs } from './process-usage.ts';
import { startService } from './service-process.ts';

const script = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
/** Downloads on one connection; the first is its warm-up. */
const EACH = 3;

export interface Downloads {
  /** Of the whole body. Milliseconds. */
  readonly direct: number[];
  readonly gateway: number[];
  /** CPU of the gateway for one body. Milliseconds. */
  readonly gatewayCpuMs: number;
}

/**
 * Downloads of /big from a sandbox, straight and through the gateway, over links of `mbits` Mbit/s (`LimitedLinks`),
 * one after another.
 * @param rounds of two downloads each way.
 * @returns why it cannot be done on this machine, in words.
 */
export async function downloadOverLinks(
  mbits: number,
  rounds: number,
  gatewayEnv: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
): Promise<Downloads | string> {
  const links = await LimitedLinks.open(mbits);
  if (typeof links === 'string') return links;
  const stops: Array<() => Promise<void>> = [() => links.close()];
  try {
    const port = await freePort();
    const address = LINKS.pod.gateway;
    const sandbox = startProcess(
      ...links.within('pod', process.execPath, [script('./sandbox-stub.ts'), String(port), address, '0.0.0.0']),
      {},
    );
    stops.unshift(() => sandbox.stop());
    await waitForHttp(`http://${address}:${port}`, sandbox);
    const gateway = await startService('sandbox-gateway', {
      ...gatewayEnv,
      RUNTIME_API_URL: `http://${address}:${port}`,
      HOST: LINKS.gateway.client,
    });
    stops.unshift(() => gateway.stop());
    const download = async (url: string): Promise<number[]> => {
      const [command, argv] = links.within('client', process.execPath, [
        script('./download-client.ts'),
        `${url}/big`,
        String(EACH),
        JSON.stringify(headers),
      ]);
      const { stdout } = await promisify(execFile)(command, argv, { cwd: path.dirname(script('.')) });
      return (JSON.parse(stdout) as number[]).slice(1);
    };
    const took: { direct: number[]; gateway: number[] } = { direct: [], gateway: [] };
    const before = await cpuMs(gateway.pid);
    for (let round = 0; round < rounds; round += 1) {
      took.direct.push(...(await download(`http://${LINKS.pod.client}:${port}`)));
      took.gateway.push(...(await download(gateway.url)));
    }
    return { ...took, gatewayCpuMs: ((await cpuMs(gateway.pid)) - before) / (rounds * EACH) };
  } finally {
    for (const stop of stops) await stop();
  }
}
