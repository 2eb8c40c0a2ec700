import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { connect as connectTls } from 'node:tls';
import { freePort, until } from '@slipway/testing';
import { type PythonEnvironment, pythonEnvironment } from '@slipway/testing/programs';
import { startProcess } from './child-process.ts';
import { NOT_QUICK, QUICK } from './quick.ts';

const VERSION = '11.0.2';
const START_MS = 60_000;
/** What the broker does at a place: the request gets a header, nothing is kept. */
const ADDON = `class Bearer:
    def request(self, flow):
        flow.request.headers["authorization"] = "Bearer of-the-bench"

addons = [Bearer()]
`;

export interface Mitmproxy {
  /** TLS to the host as the peer ends it. */
  open(host: string): Promise<Socket>;
  stop(): Promise<void>;
}

/** mitmproxy from PyPI, kept outside of the checkout. @returns it, or a sentence that says why it is not here. */
export async function mitmproxyEnvironment(): Promise<PythonEnvironment | { readonly missing: string }> {
  if (QUICK) return { missing: `${NOT_QUICK}.` };
  return pythonEnvironment({
    name: `mitmproxy/${VERSION}`,
    packages: [`mitmproxy==${VERSION}`],
    oldest: [3, 11],
    installMs: 300_000,
  });
}

/**
 * Started as what stands before one host, so that it has no CONNECT to read; the host's certificate is not verified.
 * Both are less work than the broker's. @param port of the host, on loopback.
 */
export async function startMitmproxy(environment: PythonEnvironment, leadsTo: number): Promise<Mitmproxy> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'mitmproxy-'));
  const port = await freePort();
  const addon = path.join(folder, 'bearer.py');
  await writeFile(addon, ADDON);
  const running = startProcess(
    environment.program('mitmdump'),
    [
      ...['--listen-host', '127.0.0.1', '--listen-port', String(port), '--quiet', '--scripts', addon],
      ...['--mode', `reverse:https://127.0.0.1:${leadsTo}`, '--set', 'keep_host_header=true'],
      ...['--set', `confdir=${folder}`, '--set', 'http2=false', '--set', 'ssl_insecure=true'],
    ],
    { PATH: process.env['PATH'] ?? '', HOME: folder },
  );
  const authority = path.join(folder, 'mitmproxy-ca-cert.pem');
  const open = async (host: string): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const secure = connectTls({ socket, servername: host, ca: await readFile(authority, 'utf8') });
    await once(secure, 'secureConnect');
    secure.on('error', () => {});
    return secure;
  };
  try {
    await until(
      'mitmproxy answers',
      () =>
        open('ready.example.com')
          .then((socket) => !!socket.destroy())
          .catch(() => false),
      START_MS,
    );
  } catch (error) {
    await running.stop();
    throw error;
  }
  return {
    open,
    stop: async () => {
      await running.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
