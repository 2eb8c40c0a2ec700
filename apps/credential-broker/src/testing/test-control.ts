import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { InternalSignature, SIGNATURE_HEADER } from '@slipway/auth/internal-signature';
import { SecretBox } from '@slipway/auth/secret-box';
import {
  CredentialQuestion,
  CredentialTallyBatch,
  type CredentialUseDecision,
  CredentialUseQuestion,
  type OpenedCredential,
  type OpenedCredentials,
  type OpenedRule,
  ReflectedCredential,
  type RenewalAnswer,
  RenewalOutcome,
  RenewalQuestion,
  RotatedCredential,
} from '@slipway/contracts/credentials';
import { EgressBodyBatch, WorkspacePrintsQuestion } from '@slipway/contracts/sandboxes';

/** app-server's internal port as far as the broker speaks with it: signed, sealed, and with a stream of changes. */
export class TestControl {
  readonly asked: CredentialQuestion[] = [];
  readonly reflected: ReflectedCredential[] = [];
  readonly renewals: RenewalQuestion[] = [];
  readonly rotated: Array<{ readonly credential: string; readonly lease: string; readonly outcome: RenewalOutcome }> =
    [];
  readonly uses: CredentialUseQuestion[] = [];
  readonly tallies: CredentialTallyBatch[] = [];
  /** What a question for a use is answered. */
  decide: (question: CredentialUseQuestion) => CredentialUseDecision = () => ({ decision: 'pass', request: null });
  /** What a question for an access token is answered. */
  renew: () => RenewalAnswer = () => ({ state: 'resting' });
  /** Whether a report is kept; one that throws is answered 500. */
  keeps: () => boolean = () => true;
  /** Holds answers to reports until it is resolved. */
  keeping: Promise<void> | null = null;
  /** What is said of a workspace; the answer waits for it. */
  prints: () => unknown = () => null;
  readonly bodies: EgressBodyBatch[] = [];
  credentials: OpenedCredential[] = [];
  resting: string[] = [];
  /** Of the conversation, about the host that is asked about. */
  rules: OpenedRule[] = [];
  observes = false;
  ttlMs = 60_000;
  /** Answers 503 to everything. */
  away = false;
  /** Holds answers to questions until it is resolved. */
  held: Promise<void> | null = null;
  private readonly streams = new Map<ServerResponse, (org?: string) => void>();
  private readonly signature: InternalSignature;
  private readonly box: SecretBox;
  private readonly server = createServer((request, response) => {
    this.serve(request, response).catch(() => response.destroy());
  });

  private constructor(secret: string) {
    this.signature = new InternalSignature(secret, 'slipway-credentials');
    this.box = new SecretBox(secret);
  }

  static async start(secret: string): Promise<TestControl> {
    const control = new TestControl(secret);
    control.server.listen(0, '127.0.0.1');
    await once(control.server, 'listening');
    return control;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get listeners(): number {
    return this.streams.size;
  }

  /** Says that something of an organization has changed. */
  change(org: string): void {
    for (const send of this.streams.values()) send(org);
  }

  /** Ends every stream of changes. */
  lose(): void {
    for (const response of this.streams.keys()) response.destroy();
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '' } = request;
    const body = await text(request);
    const signed = String(request.headers[SIGNATURE_HEADER]);
    if (!this.signature.accepts(signed, { method, path, body }, new Date())) return void response.writeHead(403).end();
    if (this.away) return void response.writeHead(503).end();
    const name = path.replace('/internal/credentials/v1/', '');
    if (name === 'changes') return this.stream(response, signed);
    const answer = await this.answer(name, body, signed);
    if (answer === null) return void response.writeHead(500).end();
    response.writeHead(200, { [SIGNATURE_HEADER]: this.signature.signAnswer(signed, answer) }).end(answer);
  }

  private async answer(name: string, body: string, signed: string): Promise<string | null> {
    if (name === 'open') return this.open(body, signed);
    if (name === 'prints') {
      WorkspacePrintsQuestion.parse(JSON.parse(body));
      return JSON.stringify({ prints: await this.prints() });
    }
    if (name === 'bodies') {
      this.bodies.push(EgressBodyBatch.parse(JSON.parse(body)));
      return '{}';
    }
    if (name === 'tallies') {
      this.tallies.push(CredentialTallyBatch.parse(JSON.parse(body)));
      return '{}';
    }
    if (name === 'use') {
      const question = CredentialUseQuestion.parse(JSON.parse(body));
      this.uses.push(question);
      return JSON.stringify(this.decide(question));
    }
    if (name === 'renew') {
      this.renewals.push(RenewalQuestion.parse(JSON.parse(body)));
      return this.box.encrypt(JSON.stringify(this.renew()), `renewal:${signed}`).toString('base64');
    }
    return name === 'rotated' ? this.keep(body) : this.rest(body);
  }

  private async keep(body: string): Promise<string | null> {
    const { credential, lease, sealed } = RotatedCredential.parse(JSON.parse(body));
    const text = this.box.decrypt(Buffer.from(sealed, 'base64'), `rotated:${lease}`);
    this.rotated.push({ credential, lease, outcome: RenewalOutcome.parse(JSON.parse(text)) });
    await this.keeping;
    try {
      return JSON.stringify({ kept: this.keeps() });
    } catch {
      return null;
    }
  }

  private async open(body: string, signed: string): Promise<string> {
    const question = CredentialQuestion.parse(JSON.parse(body));
    this.asked.push(question);
    const answer: OpenedCredentials = {
      credentials: this.credentials
        .map((each) => ({
          ...each,
          use: {
            ...each.use,
            places: each.use.places.filter(({ host, port }) => host === question.host && port === question.port),
          },
        }))
        .filter(({ use }) => use.places.length > 0),
      resting: this.resting,
      rules: this.rules,
      observes: this.observes,
      ttlMs: this.ttlMs,
    };
    await this.held;
    return this.box.encrypt(JSON.stringify(answer), `opened:${signed}`).toString('base64');
  }

  private rest(body: string): string {
    this.reflected.push(ReflectedCredential.parse(JSON.parse(body)));
    return '{}';
  }

  private stream(response: ServerResponse, signed: string): void {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    let count = 0;
    const send = (org?: string): void => {
      const line = JSON.stringify(org === undefined ? {} : { org });
      response.write(`${this.signature.signAnswer(signed, `${count} ${line}`)} ${line}\n`);
      count += 1;
    };
    const beat = setInterval(send, 2_000).unref();
    response.once('close', () => {
      clearInterval(beat);
      this.streams.delete(response);
    });
    this.streams.set(response, send);
    send();
  }
}
