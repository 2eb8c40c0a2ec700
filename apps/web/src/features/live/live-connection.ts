import { LIVE_OPEN } from '@slipway/contracts/live';
import { failureOf } from '../../api/failure.ts';
import type { Translate } from '../../messages/translate.ts';
import type { LiveListener, LiveState } from './live-state.ts';
import type { SandboxWay } from './sandbox-way.ts';

/**
 * First wait before it comes back, doubled each time up to the longest; half of each is left to chance. Milliseconds.
 */
const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 10_000;
/** A connection that stood this long was a good one: the next wait is the first again. Milliseconds. */
const GOOD_AFTER_MS = 5_000;
/** Longest wait until a connection stands. Milliseconds. */
const STAND_MS = 20_000;
/** With this much unsent nothing more is sent. Bytes. */
const MAX_UNSENT = 4 * 1024 * 1024;

export interface LiveConnectionOptions {
  /** `terminal?shell=x`: the channel, with its query. */
  readonly address: string;
  readonly t: Translate;
  readonly way: () => Promise<SandboxWay>;
  /** The way does not hold any more. */
  readonly forget: () => void;
  readonly listener: LiveListener;
  readonly changed: (state: LiveState) => void;
}

/** One live channel, connected again whenever it was cut, until it is closed. */
export class LiveConnection {
  private socket: WebSocket | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private wait = FIRST_WAIT_MS;
  private stoodAt: number | null = null;
  /** The way was asked for anew, since the one before was refused. */
  private renewed = false;
  private closed = false;
  /** Changes with each try: what an older one still has to say is not heard. */
  private turn = 0;

  private readonly options: LiveConnectionOptions;

  constructor(options: LiveConnectionOptions) {
    this.options = options;
    window.addEventListener('online', this.retry);
    void this.connect();
  }

  send(message: object): boolean {
    return this.write(JSON.stringify(message));
  }

  sendBytes(bytes: Uint8Array<ArrayBuffer>): boolean {
    return this.write(bytes);
  }

  readonly retry = (): void => {
    if (this.closed || this.stoodAt !== null) return;
    this.wait = FIRST_WAIT_MS;
    this.renewed = false;
    void this.connect();
  };

  close(): void {
    this.closed = true;
    window.removeEventListener('online', this.retry);
    this.drop();
  }

  private write(data: string | Uint8Array<ArrayBuffer>): boolean {
    const { socket } = this;
    if (
      socket === null ||
      this.stoodAt === null ||
      socket.readyState !== WebSocket.OPEN ||
      socket.bufferedAmount > MAX_UNSENT
    )
      return false;
    socket.send(data);
    return true;
  }

  private drop(): void {
    this.turn += 1;
    clearTimeout(this.timer);
    this.socket?.close();
    this.socket = null;
    this.stoodAt = null;
  }

  private async connect(): Promise<void> {
    this.drop();
    const { turn } = this;
    const { way, address, changed } = this.options;
    changed({ phase: 'connecting' });
    try {
      const { url, token } = await way();
      if (turn !== this.turn) return;
      this.open(`${url}/sockets/live/${address}`, token, turn);
    } catch (error) {
      if (turn !== this.turn) return;
      const failure = failureOf(error);
      const reason = failure.detail || failure.title;
      if (failure.retry === 'never' && failure.code !== 'internal.unexpected') this.stay(reason);
      else this.comeBack(reason);
    }
  }

  private open(url: string, token: string, turn: number): void {
    const socket = new WebSocket(url);
    this.socket = socket;
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => socket.send(JSON.stringify({ type: 'auth', session_api_key: token }));
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (turn === this.turn) this.receive(data);
    };
    socket.onclose = ({ code, reason }) => {
      if (turn === this.turn) this.lost(code, reason);
    };
    this.timer = setTimeout(() => {
      this.drop();
      this.comeBack(this.options.t('live.noAnswer'));
    }, STAND_MS);
  }

  private receive(data: string | ArrayBuffer): void {
    const { listener, changed } = this.options;
    if (typeof data !== 'string') {
      listener.onBytes?.(new Uint8Array(data));
      return;
    }
    const message = parsed(data);
    if (this.stoodAt !== null) {
      listener.onMessage?.(message);
      return;
    }
    if ((message as { type?: unknown } | null)?.type !== LIVE_OPEN.type) return;
    clearTimeout(this.timer);
    this.stoodAt = performance.now();
    this.renewed = false;
    changed({ phase: 'open' });
    listener.onOpen?.();
  }

  private lost(code: number, reason: string): void {
    const stood = this.stoodAt;
    this.drop();
    if (stood !== null && performance.now() - stood > GOOD_AFTER_MS) this.wait = FIRST_WAIT_MS;
    if (code === 4001) this.refused(stood !== null);
    else if (code === 4004) this.stay(this.options.t('live.olderSandbox'));
    else if (code === 1008 || (code >= 4000 && code < 5000)) this.stay(sentence(this.options.t, reason));
    else this.comeBack(sentence(this.options.t, reason));
  }

  /**
   * A proof that is too old is asked for again, once. An access that had been let in was ended by somebody on purpose.
   */
  private refused(stood: boolean): void {
    this.options.forget();
    if (stood || this.renewed) {
      this.stay(this.options.t('live.accessEnded'));
      return;
    }
    this.renewed = true;
    void this.connect();
  }

  private stay(reason: string): void {
    this.options.changed({ phase: 'refused', reason });
  }

  private comeBack(reason: string): void {
    const ms = this.wait * (0.5 + Math.random() / 2);
    this.wait = Math.min(LONGEST_WAIT_MS, this.wait * 2);
    this.timer = setTimeout(() => void this.connect(), ms);
    this.options.changed({ phase: 'away', reason });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The words of a close frame as a user reads them: this client does by itself what they ask a client to do. */
function sentence(t: Translate, words: string): string {
  const reason = words.replace(/; connect again\.?$/, '');
  if (reason === '') return t('live.theConnectionWasLost');
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}${/[.!?]$/.test(reason) ? '' : '.'}`;
}
