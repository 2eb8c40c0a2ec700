import { FilesLiveMessage, type FilesLiveRequest } from '@slipway/contracts/live';
import type { Translate } from '../../messages/translate.ts';

type Request = FilesLiveRequest;
type Without<T> = T extends { id: number } ? Omit<T, 'id'> : never;
/** A request that is answered; the id is given here. `list` says its page. */
export type Asked = Without<Request>;
type Answered = Exclude<FilesLiveMessage, { type: 'directory-changed' | 'failed' }>;

/** What the sandbox said of a request, or that nobody knows what became of it. */
export class RequestFailed extends Error {
  readonly lost: boolean;

  constructor(detail: string, how: 'refused' | 'lost') {
    super(detail);
    this.lost = how === 'lost';
  }
}

/** Requests over the channel `files` and their answers; what comes unasked goes to `unsolicited`. */
export class LiveRequests {
  private readonly waiting = new Map<
    number,
    { resolve: (message: Answered) => void; reject: (error: RequestFailed) => void }
  >();
  private next = 1;
  private send: (message: Request) => boolean = () => false;

  private readonly unsolicited: (message: FilesLiveMessage) => void;
  private readonly t: Translate;

  constructor(unsolicited: (message: FilesLiveMessage) => void, t: Translate) {
    this.unsolicited = unsolicited;
    this.t = t;
  }

  /** From here on requests go this way. */
  over(send: (message: Request) => boolean): void {
    this.send = send;
  }

  /** @throws RequestFailed. */
  async ask<T extends Answered['type']>(request: Asked, ...wanted: T[]): Promise<Extract<Answered, { type: T }>> {
    const id = this.next;
    this.next += 1;
    const answer = await new Promise<Answered>((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      if (this.send({ ...request, id } as Request)) return;
      this.waiting.delete(id);
      reject(new RequestFailed(this.t('files.sandboxNotConnected'), 'lost'));
    });
    if (!(wanted as string[]).includes(answer.type)) throw new RequestFailed(this.t('files.unexpectedAnswer'), 'lost');
    return answer as Extract<Answered, { type: T }>;
  }

  /** Needs no answer; a connection that is not there has nothing to let go. */
  letGo(path: string, of: 'directory' | 'file'): void {
    this.send({ type: 'let-go', path, of });
  }

  receive(message: unknown): void {
    const parsed = FilesLiveMessage.safeParse(message);
    // A newer sandbox may say what this page does not know.
    if (!parsed.success) return;
    const { data } = parsed;
    const waiting = 'id' in data && data.id !== null ? this.waiting.get(data.id) : undefined;
    if (waiting === undefined) {
      this.unsolicited(data);
      return;
    }
    this.waiting.delete((data as { id: number }).id);
    if (data.type === 'failed') waiting.reject(new RequestFailed(data.detail, 'refused'));
    else if (data.type !== 'directory-changed') waiting.resolve(data);
  }

  /** Nobody answers any more what was asked. */
  lost(): void {
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const { reject } of waiting) reject(new RequestFailed(this.t('files.theConnectionToTheSandbox'), 'lost'));
  }
}
