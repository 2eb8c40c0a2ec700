import { randomBytes } from 'node:crypto';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { InternalSignature, SIGNATURE_HEADER } from '@slipway/auth/internal-signature';
import { SecretBox } from '@slipway/auth/secret-box';
import { type CredentialQuestion, OpenedCredentials, type ReflectedCredential } from '@slipway/contracts/credentials';
import { EgressChange } from '@slipway/contracts/sandboxes';

const OPEN_PATH = '/internal/credentials/v1/open';
const REFLECTED_PATH = '/internal/credentials/v1/reflected';
const CHANGES_PATH = '/internal/credentials/v1/changes';
/** Longest wait for one answer. Milliseconds. */
const ANSWER_MS = 3_000;
/** Longest silence of the stream of changes, whose other end says every 2 s that it lives. Milliseconds. */
const SILENCE_MS = 6_000;
/** Largest answer, and longest line of the stream. Bytes. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const MAX_LINE_BYTES = 8 * 1024;
const CONNECTIONS = 64;

/** Calls app-server's internal port. Every question is signed, and so is every answer; values are sealed within it. */
export class ControlClient {
  private readonly signature: InternalSignature;
  private readonly box: SecretBox;
  private readonly agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });

  /** @param url of app-server's internal port. @param secret CREDENTIAL_CONTROL_SECRET. */
  constructor(
    private readonly url: string,
    secret: string,
  ) {
    this.signature = new InternalSignature(secret, 'slipway-credentials');
    this.box = new SecretBox(secret);
  }

  /** @throws Error when app-server cannot be reached, or its answer is not sealed for this question. */
  async open(question: CredentialQuestion): Promise<OpenedCredentials> {
    const { signed, answer } = await this.ask(OPEN_PATH, question);
    const text = this.box.decrypt(Buffer.from(answer, 'base64'), `opened:${signed}`);
    return OpenedCredentials.parse(JSON.parse(text));
  }

  /** @throws Error when app-server cannot be reached, or does not take it. */
  async reflected(body: ReflectedCredential): Promise<void> {
    await this.ask(REFLECTED_PATH, body);
  }

  /**
   * Hears which organizations have changed, until the stream ends or is silent.
   * @param opened called once from when on nothing is missed.
   * @throws Error when it ended.
   */
  async changes(opened: () => void, heard: (change: EgressChange) => void, signal: AbortSignal): Promise<never> {
    const signed = this.sign('GET', CHANGES_PATH, '');
    const response = await this.send('GET', CHANGES_PATH, { body: '', signed, signal });
    if (response.statusCode !== 200) {
      response.destroy();
      throw new Error(`app-server answered ${response.statusCode}`);
    }
    let count = 0;
    for await (const line of linesOf(response)) {
      // `<signature> <JSON>`; the count makes of each line one that cannot be left out or said again.
      const at = line.indexOf(' ');
      const text = line.slice(at + 1);
      if (!this.signature.acceptsAnswer(signed, `${count} ${text}`, line.slice(0, at)))
        throw new Error('a line is not signed by app-server');
      const change = EgressChange.parse(JSON.parse(text));
      if (count === 0) opened();
      count += 1;
      heard(change);
    }
    throw new Error('the stream has ended');
  }

  close(): void {
    this.agent.destroy();
  }

  private async ask(path: string, question: unknown): Promise<{ signed: string; answer: string }> {
    const body = JSON.stringify(question);
    const signed = this.sign('POST', path, body);
    const response = await this.send('POST', path, { body, signed, signal: AbortSignal.timeout(ANSWER_MS) });
    const answer = await textOf(response);
    const given = response.headers[SIGNATURE_HEADER];
    if (response.statusCode !== 200) throw new Error(`app-server answered ${response.statusCode}`);
    if (!this.signature.acceptsAnswer(signed, answer, typeof given === 'string' ? given : null))
      throw new Error('the answer is not signed by app-server');
    return { signed, answer };
  }

  private sign(method: string, path: string, body: string): string {
    return this.signature.sign({ method, path, body }, new Date(), randomBytes(16).toString('base64url'));
  }

  private send(
    method: string,
    path: string,
    { body, signed, signal }: { readonly body: string; readonly signed: string; readonly signal: AbortSignal },
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const request = httpRequest(new URL(path, this.url), {
        method,
        signal,
        headers: { [SIGNATURE_HEADER]: signed, 'content-length': Buffer.byteLength(body) },
        // A stream keeps its connection for itself.
        ...(method === 'GET' ? { agent: false as const } : { agent: this.agent }),
      });
      request.setTimeout(SILENCE_MS, () => request.destroy(new Error('app-server is silent')));
      request.once('response', resolve).once('error', reject).end(body);
    });
  }
}

/** @throws Error at a line that is too long. */
async function* linesOf(response: IncomingMessage): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
    if (rest.length > MAX_LINE_BYTES) throw new Error('a line of app-server is too long');
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_ANSWER_BYTES) throw new Error('the answer of app-server is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
