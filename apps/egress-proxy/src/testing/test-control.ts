import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { InternalSignature, SIGNATURE_HEADER } from '@slipway/auth/internal-signature';
import type { EgressDecision, EgressQuestion, EgressTallyBatch } from '@slipway/contracts/sandboxes';

export const CONTROL_SECRET = 'control-secret-of-tests-0123456789abcdef';

/** app-server's internal port as egress-proxy sees it: signed answers of the test's own, and the stream of changes. */
export class TestControl {
  /** What was asked, in turn. */
  readonly questions: EgressQuestion[] = [];
  /** Counts that it was sent, in turn; of those that it did not answer too. */
  readonly batches: EgressTallyBatch[] = [];
  /** `false`: counts are taken, and the answer is lost. */
  answersCounts = true;
  /** By host: what differs from a plain yes for what is listed. */
  readonly answers = new Map<string, Partial<EgressDecision>>();
  /** `false`: every question and the stream fail. */
  here = true;
  private readonly signature = new InternalSignature(CONTROL_SECRET, 'slipway-egress-control');
  private readonly streams = new Map<ServerResponse, (change: object) => void>();

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(): Promise<TestControl> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const control = new TestControl(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.on('request', async (request, response) => {
      const signed = String(request.headers[SIGNATURE_HEADER]);
      const body = await text(request);
      control.answer({ method: request.method ?? '', path: request.url ?? '', body }, signed, response);
    });
    return control;
  }

  get hears(): boolean {
    return this.streams.size > 0;
  }

  changed(org: string): void {
    for (const say of this.streams.values()) say({ org });
  }

  /** Ends what is open, and answers nothing more until `here` is true again. */
  leave(): void {
    this.here = false;
    for (const stream of this.streams.keys()) stream.destroy();
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
  }

  private answer(
    asked: { readonly method: string; readonly path: string; readonly body: string },
    signed: string,
    response: ServerResponse,
  ): void {
    if (!this.here) return void response.writeHead(503).end();
    if (!this.signature.accepts(signed, asked, new Date())) return void response.writeHead(403).end();
    if (asked.method === 'GET') {
      let count = 0;
      const say = (change: object): void => {
        const line = JSON.stringify(change);
        response.write(`${this.signature.signAnswer(signed, `${count++} ${line}`)} ${line}\n`);
      };
      this.streams.set(response, say);
      response.once('close', () => this.streams.delete(response));
      say({});
      return;
    }
    const reply = (body: object): void => {
      const said = JSON.stringify(body);
      response.writeHead(200, { [SIGNATURE_HEADER]: this.signature.signAnswer(signed, said) }).end(said);
    };
    if (asked.path.endsWith('/bytes'))
      return void reply({ limited: false, bytes: 0, over: null, renewsAt: '2026-01-01T00:00:00.000Z' });
    if (asked.path.endsWith('/tallies')) {
      this.batches.push(JSON.parse(asked.body) as EgressTallyBatch);
      return void (this.answersCounts ? reply({}) : response.destroy());
    }
    const question = JSON.parse(asked.body) as EgressQuestion;
    this.questions.push(question);
    const decision: EgressDecision = {
      decision: question.listed ? 'allow' : 'deny',
      rule: null,
      ttlMs: 5_000,
      request: null,
      brokered: false,
      ...this.answers.get(question.host),
    };
    reply(decision);
  }
}
