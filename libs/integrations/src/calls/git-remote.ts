import type { Outgoing } from './provider-client.js';
import { ProviderRefusal, refusalOf } from './provider-refusal.js';

export type GitOutgoing = Omit<Outgoing, 'body'> & { readonly body?: Uint8Array };

export interface GitRemoteOptions {
  /** Of the repository, as people clone it. */
  readonly url: string;
  /** The value of `authorization`: the credential goes nowhere else. */
  readonly authorization: string;
  /** As `Dispatch`, for bytes. */
  readonly dispatch: (url: string, request: GitOutgoing) => Promise<Response>;
  readonly now: () => Date;
}

export interface Push {
  readonly branch: string;
  /** What the branch must be at, for the push to happen; `null`: it must not be there. */
  readonly from: string | null;
  readonly to: string;
  /** Including every object that the remote may miss. */
  readonly pack: Buffer;
}

const REFS_TIMEOUT_MS = 30_000;
const PUSH_TIMEOUT_MS = 120_000;
/** Names and hashes of 300,000 branches and tags. Bytes. */
const MAX_REFS_BYTES = 32 * 1024 * 1024;
const MAX_REPORT_BYTES = 1024 * 1024;
const SAID = 600;
const NOBODY = '0'.repeat(40);

/**
 * The push side of one repository, by git's own protocol over HTTP (version 0). No git program takes part, and no
 * redirect is followed.
 */
export class GitRemote {
  constructor(private readonly options: GitRemoteOptions) {}

  /** Branches and tags that are there, by their full names. @throws ProviderRefusal. */
  async refs(): Promise<ReadonlyMap<string, string>> {
    const response = await this.send('GET', '/info/refs?service=git-receive-pack', undefined, {
      timeoutMs: REFS_TIMEOUT_MS,
      maxBytes: MAX_REFS_BYTES,
    });
    const refs = new Map<string, string>();
    for (const line of pktLines(response)) {
      const [, hash, name] = /^([0-9a-f]{40}) ([^\0\n]+)/.exec(line.toString('utf8')) ?? [];
      if (hash !== undefined && name !== undefined && hash !== NOBODY) refs.set(name, hash);
    }
    if (!response.subarray(4, 32).toString('latin1').startsWith('# service=git-receive-pack'))
      throw unreadable('what answers there is no git server');
    return refs;
  }

  /**
   * Moves one branch, or makes it. The remote compares `from` under its own lock.
   * @throws ProviderRefusal `conflict` with the remote's words when it refuses; with `outcomeUnknown` when it may have
   * happened.
   */
  async push({ branch, from, to, pack }: Push): Promise<void> {
    const ref = `refs/heads/${branch}`;
    const command = pkt(`${from ?? NOBODY} ${to} ${ref}\0 report-status side-band-64k agent=slipway`);
    const answer = await this.send('POST', '/git-receive-pack', Buffer.concat([command, Buffer.from('0000'), pack]), {
      timeoutMs: PUSH_TIMEOUT_MS,
      maxBytes: MAX_REPORT_BYTES,
    });
    const { report, said } = reportOf(answer);
    const unpacked = report.find((line) => line.startsWith('unpack '));
    const outcome = report.find((line) => line === `ok ${ref}` || line.startsWith(`ng ${ref} `));
    if (unpacked === 'unpack ok' && outcome === `ok ${ref}`) return;
    const why = [outcome?.slice(`ng ${ref} `.length) ?? unpacked?.slice('unpack '.length), said]
      .filter(Boolean)
      .join('. ')
      .slice(0, SAID);
    const kind = outcome === undefined && unpacked === undefined ? 'unreadable' : 'conflict';
    throw new ProviderRefusal(why === '' ? 'the git host gave no reason' : why, {
      kind,
      status: 200,
      retryAt: null,
      outcomeUnknown: kind === 'unreadable',
    });
  }

  private async send(
    method: 'GET' | 'POST',
    path: string,
    body: Buffer | undefined,
    limits: { timeoutMs: number; maxBytes: number },
  ): Promise<Buffer> {
    const { url, authorization, dispatch, now } = this.options;
    const what = `${method} ${path.split('?', 1)[0]}`;
    const writes = method === 'POST';
    let response: Response;
    let answer: Buffer | null;
    try {
      response = await dispatch(`${url}${path}`, {
        method,
        headers: {
          authorization,
          ...(body === undefined ? {} : { 'content-type': 'application/x-git-receive-pack-request' }),
        },
        redirect: 'manual',
        signal: AbortSignal.timeout(limits.timeoutMs),
        ...(body === undefined ? {} : { body }),
      });
      answer = await bounded(response, limits.maxBytes);
    } catch (error) {
      throw new ProviderRefusal(
        `${what}: no answer`,
        { kind: 'unavailable', status: null, retryAt: null, outcomeUnknown: writes },
        { cause: error },
      );
    }
    if (response.status !== 200) {
      const said = (answer ?? Buffer.alloc(0)).toString('utf8').slice(0, SAID);
      throw new ProviderRefusal(`${what}: ${response.status} ${said}`, refusalOf(response, said, writes, now()));
    }
    if (answer === null) throw unreadable(`${what}: the answer is too long`);
    return answer;
  }
}

function unreadable(message: string): ProviderRefusal {
  return new ProviderRefusal(message, { kind: 'unreadable', status: 200, retryAt: null, outcomeUnknown: false });
}

function pkt(text: string): Buffer {
  return Buffer.from(`${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`);
}

/** What stands between the lengths; ends at the first that is none. */
function* pktLines(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at + 4 <= bytes.length; ) {
    const length = /^[0-9a-f]{4}$/.test(bytes.toString('latin1', at, at + 4))
      ? Number.parseInt(bytes.toString('latin1', at, at + 4), 16)
      : -1;
    if (length < 0 || (length > 0 && length < 4) || at + length > bytes.length) return;
    if (length > 4) yield bytes.subarray(at + 4, at + length);
    at += Math.max(length, 4);
  }
}

/** The lines of the report, and the end of the remote's messages. */
function reportOf(answer: Buffer): { report: readonly string[]; said: string } {
  const bands: Record<number, Buffer[]> = { 1: [], 2: [], 3: [] };
  for (const line of pktLines(answer)) bands[line[0] ?? 0]?.push(line.subarray(1));
  const report = [...pktLines(Buffer.concat(bands[1] ?? []))].map((line) => line.toString('utf8').trimEnd());
  const said = Buffer.concat([...(bands[3] ?? []), ...(bands[2] ?? [])]).toString('utf8');
  return {
    report,
    said: said
      .replaceAll(/[^\P{C}\n]/gu, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim()
      .slice(-SAID),
  };
}

async function bounded(response: Response, maxBytes: number): Promise<Buffer | null> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > maxBytes) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}
