import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Delivery {
  /**
   * `X-Gitea-Event-Type`, which distinguishes a label from the opening of an issue; `X-Gitea-Event` says `issues` for
   * both.
   */
  readonly event: string;
  readonly headers: IncomingHttpHeaders;
  /** As it came: a signature holds for these bytes only. */
  readonly body: Buffer;
}

/** A server at a loopback port that keeps what webhooks send, and answers 204. */
export class WebhookListener {
  readonly deliveries: Delivery[] = [];
  private readonly server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    this.deliveries.push({
      event: String(request.headers['x-gitea-event-type']),
      headers: request.headers,
      body: Buffer.concat(chunks),
    });
    response.writeHead(204).end();
  });

  static async open(): Promise<WebhookListener> {
    const listener = new WebhookListener();
    await new Promise<void>((resolve, reject) => listener.server.once('error', reject).listen(0, '127.0.0.1', resolve));
    return listener;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/hook`;
  }

  /** The first of an event. */
  of(event: string): Delivery | undefined {
    return this.deliveries.find((delivery) => delivery.event === event);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** `X-Gitea-Signature`: HMAC-SHA256 of the raw body in hex. */
export function isSigned(headers: IncomingHttpHeaders, body: Buffer, secret: string): boolean {
  const given = Buffer.from(String(headers['x-gitea-signature'] ?? ''), 'hex');
  const right = createHmac('sha256', secret).update(body).digest();
  return given.length === right.length && timingSafeEqual(given, right);
}
