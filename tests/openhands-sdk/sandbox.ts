import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type ModelScript, type ModelServer, startModelServer } from '@slipway/testing';
import { TestSandbox } from '../../apps/agent-server/dist/testing/sandbox.js';

/** A sandbox as OpenHands' clients get it. */
export interface SandboxArgs {
  readonly url: string;
  readonly key: string;
  /** What Slipway's own services show beside the key; no client has it. */
  readonly appKey: string;
  readonly directory: string;
  /** Base URL of the model. */
  readonly model: string;
}

/** A real agent-server and action-server, a scripted model, and a wire to the first that can be cut. */
export class SdkSandbox {
  readonly sandbox: TestSandbox;
  readonly model: ModelServer;
  private readonly wire: CutWire;

  private constructor(sandbox: TestSandbox, model: ModelServer, wire: CutWire) {
    this.sandbox = sandbox;
    this.model = model;
    this.wire = wire;
  }

  static async start(): Promise<SdkSandbox> {
    const [sandbox, model] = await Promise.all([TestSandbox.start(), startModelServer({ script: [] })]);
    return new SdkSandbox(sandbox, model, await CutWire.to(Number(new URL(sandbox.url).port)));
  }

  /** @param script what the model says from now on. */
  playing(script: ModelScript): SandboxArgs {
    this.model.use(script);
    return {
      url: this.wire.url,
      key: this.sandbox.sessionKey,
      appKey: this.sandbox.appKey,
      directory: this.sandbox.workspace,
      model: this.model.url,
    };
  }

  /** Breaks every connection that stands now; new ones are let through. */
  cut(): void {
    this.wire.cut();
  }

  async close(): Promise<void> {
    await this.wire.close();
    await this.model.close();
    await this.sandbox.close();
  }
}

/** Hands bytes on between a port of its own and another. */
class CutWire {
  private readonly port: number;
  private readonly ends = new Set<Socket>();
  url = '';
  private readonly server = createServer((near) => {
    const far = connect(this.port, '127.0.0.1');
    for (const end of [near, far]) {
      this.ends.add(end);
      end.on('error', () => {});
      end.once('close', () => {
        this.ends.delete(end);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far).pipe(near);
  });

  private constructor(port: number) {
    this.port = port;
  }

  static async to(port: number): Promise<CutWire> {
    const wire = new CutWire(port);
    await new Promise<void>((resolve) => wire.server.listen(0, '127.0.0.1', resolve));
    wire.url = `http://127.0.0.1:${(wire.server.address() as AddressInfo).port}`;
    return wire;
  }

  cut(): void {
    for (const end of this.ends) end.destroy();
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.cut();
    await closed;
  }
}
