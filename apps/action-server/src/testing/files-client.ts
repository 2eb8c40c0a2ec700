import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { FilesLiveMessage, type FilesLiveRequest } from '@slipway/contracts/live';
import { createLogger } from '@slipway/telemetry';
import { until } from '@slipway/testing';
import { WebSocket } from 'ws';
import type { z } from 'zod';
import { OneAtATime } from '../editor/one-at-a-time.js';
import { createHttpServer } from '../http/server.js';
import { ShellEnvironment } from '../terminal/shell-environment.js';
import { filesChannel } from '../tree/files-channel.js';
import { TOKEN } from './running-server.js';

type Request = z.input<typeof FilesLiveRequest>;
type Message = z.output<typeof FilesLiveMessage>;
type Asked<T = Request> = T extends { id: number } ? Omit<T, 'id'> : never;

/** A user's side of the channel `files`. */
export class FilesClient {
  readonly messages: Message[] = [];
  #next = 1;

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data) => void this.messages.push(FilesLiveMessage.parse(JSON.parse(String(data)))));
  }

  static async connect(url: string): Promise<FilesClient> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/live/files`, {
      headers: { 'x-session-api-key': TOKEN },
    });
    const client = new FilesClient(socket);
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    return client;
  }

  /** The one answer to a request. */
  async ask(request: Asked): Promise<Message> {
    const id = this.#next++;
    this.send({ ...request, id } as Request);
    return until(
      `an answer to ${request.type}`,
      () => this.messages.find((message) => 'id' in message && message.id === id),
      20_000,
    );
  }

  send(message: Request): void {
    this.socket.send(JSON.stringify(message));
  }

  /** Unsolicited messages about this path, in order. */
  unsolicited(wanted: string): Message[] {
    return this.messages.filter(
      (message) =>
        'path' in message &&
        message.path === wanted &&
        (message.type === 'directory-changed' || (message.type === 'file' && message.id === null)),
    );
  }
}

/** A workspace and a server that has only the channel `files`, over real sockets. */
export async function startFilesServer(): Promise<{
  readonly workspace: string;
  readonly url: string;
  close(): Promise<void>;
}> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-tree-'));
  const environment = new ShellEnvironment({ PATH: process.env['PATH'], HOME: folder });
  const live = { files: filesChannel({ workspace: folder, environment, turns: new OneAtATime() }) };
  const server = createHttpServer({}, live, { token: TOKEN, logger: createLogger('action-server', 'warn') });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    workspace: folder,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
