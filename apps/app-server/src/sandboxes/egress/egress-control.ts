import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { InternalSignature, SIGNATURE_HEADER } from '@slipway/auth/internal-signature';
import { EgressQuestion } from '@slipway/contracts/sandboxes';
import type { Clock } from '@slipway/domain';
import type { Logger } from '@slipway/telemetry';
import type { Config } from '../../config.js';
import { CLOCK, CONFIG, LOGGER } from '../../platform/tokens.js';
import { EgressChanges } from './egress-changes.js';
import { EgressDecisionsService } from './egress-decisions.service.js';

export const DECIDE_PATH = '/internal/egress/v1/decide';
export const CHANGES_PATH = '/internal/egress/v1/changes';
/** Largest question. Bytes. */
const MAX_BODY_BYTES = 8 * 1024;
const REQUEST_MS = 10_000;

/**
 * Where egress-proxy asks: a port of its own, which no ingress and no sandbox reaches, for requests signed with
 * EGRESS_CONTROL_SECRET. Absent without that secret.
 */
@Injectable()
export class EgressControl implements OnApplicationBootstrap, OnApplicationShutdown {
  private server: Server | null = null;
  private changes: EgressChanges | null = null;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly decisions: EgressDecisionsService,
  ) {}

  /** Where it listens; `null` without a secret. */
  get url(): string | null {
    const address = this.server?.address() as AddressInfo | null | undefined;
    return address == null ? null : `http://127.0.0.1:${address.port}`;
  }

  async onApplicationBootstrap(): Promise<void> {
    const { EGRESS_CONTROL_SECRET: secret, INTERNAL_PORT, HOST, DATABASE_URL } = this.config;
    if (secret === undefined) return;
    const signature = new InternalSignature(secret, 'slipway-egress-control');
    this.changes = new EgressChanges({ databaseUrl: DATABASE_URL, logger: this.logger });
    const server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS }, (request, response) => {
      this.serve(signature, request, response).catch((err: unknown) => {
        this.logger.error({ err }, 'a question of egress-proxy was not answered');
        if (response.headersSent) response.destroy();
        else response.writeHead(500).end();
      });
    });
    this.server = server;
    await new Promise<void>((resolve, reject) =>
      server.once('error', reject).listen(INTERNAL_PORT, HOST, () => resolve()),
    );
  }

  async onApplicationShutdown(): Promise<void> {
    await this.changes?.close();
    this.server?.closeAllConnections();
    this.server?.close();
  }

  private async serve(signature: InternalSignature, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '' } = request;
    const body = await bodyOf(request);
    if (body === null) return void response.writeHead(413, { connection: 'close' }).end();
    const header = request.headers[SIGNATURE_HEADER];
    const signed = typeof header === 'string' ? header : '';
    if (!signature.accepts(signed, { method, path, body }, this.clock.now())) return void response.writeHead(403).end();
    if (method === 'GET' && path === CHANGES_PATH) {
      const sign = (text: string): string => signature.signAnswer(signed, text);
      if (this.changes?.add(response, sign) !== true) response.writeHead(503, { 'retry-after': '1' }).end();
      return;
    }
    if (method !== 'POST' || path !== DECIDE_PATH) return void response.writeHead(404).end();
    const question = questionOf(body);
    if (question === null) return void response.writeHead(400).end();
    const answer = JSON.stringify(await this.decisions.decide(question));
    response
      .writeHead(200, { 'content-type': 'application/json', [SIGNATURE_HEADER]: signature.signAnswer(signed, answer) })
      .end(answer);
  }
}

async function bodyOf(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function questionOf(body: string): EgressQuestion | null {
  try {
    return EgressQuestion.parse(JSON.parse(body));
  } catch {
    return null;
  }
}
