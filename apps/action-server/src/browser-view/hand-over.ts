import type { SandboxObservation } from '@slipway/contracts/actions';
import { BROWSER_AWAY_MS } from '@slipway/contracts/live';
import { SlipwayError } from '@slipway/errors';
import { untilAborted } from '../browser/until-aborted.js';

/** How long an action of the agent waits for the browser to be handed back, before it is refused. Milliseconds. */
const WAIT_MS = 60_000;
/**
 * A user who does nothing with the browser for this long loses control: a forgotten window must not block the agent for
 * ever. Milliseconds.
 */
const IDLE_MS = 10 * 60_000;

/** Each is read when it starts to count. Absent: as above, and `BROWSER_AWAY_MS`. */
export interface HandOverTimes {
  readonly awayMs?: number;
  readonly waitMs?: number;
  readonly idleMs?: number;
}

interface Holder {
  readonly name: string;
  readonly hold: string;
  readonly since: Date;
  /** `null` while the user's connection is gone. */
  by: object | null;
  /** Ends the hold of who is away or does nothing. */
  timer: NodeJS.Timeout;
}

/**
 * Control of the browser: by the agent, or by one user.
 *
 * While a user has control, an action of the agent waits for a minute and is then refused. It does not wait for longer,
 * because an endless tool call cannot be distinguished from a hung one and keeps the agent from other work. It is not
 * refused at once either: a model asks again at once, and a user who only presses one button would find an agent that
 * has given up. Actions that the agent chose by an outdated page are refused (`looks`).
 */
export class HandOver {
  private current: Holder | null = null;
  /** Notice for the agent's next action; `null` when it has it. */
  private pendingNotice: string | null = null;
  /** Aborts the agent's action when a user takes control. */
  private taken = new AbortController();
  private readonly waiting = new Set<() => void>();

  /** @param changed called after each change of who has it. */
  constructor(
    private readonly changed: () => void,
    private readonly times: HandOverTimes = {},
  ) {}

  get holder(): { name: string; away: boolean; since: Date } | null {
    return this.current === null
      ? null
      : { name: this.current.name, away: this.current.by === null, since: this.current.since };
  }

  has(by: object): boolean {
    return this.current?.by === by;
  }

  /** Gives control to a user, or back to a disconnected one. @returns why not, in a sentence, or `null`. */
  take(by: object, { name, hold }: { name: string; hold: string }): string | null {
    const { current } = this;
    if (current !== null && current.hold !== hold)
      return `${current.name} has the browser${current.by === null ? ', and is away for the moment' : ''}.`;
    clearTimeout(current?.timer);
    this.current = {
      name: oneLine(name),
      hold,
      since: current?.since ?? new Date(),
      by,
      timer: this.endAfter(this.times.idleMs ?? IDLE_MS),
    };
    if (current === null) this.taken.abort();
    this.changed();
    return null;
  }

  /** A user's action restarts the idle time of the control. */
  used(): void {
    this.current?.timer.refresh();
  }

  /** This connection is over. Its user keeps control for a while. */
  gone(by: object): void {
    if (this.current?.by !== by) return;
    clearTimeout(this.current.timer);
    this.current.by = null;
    this.current.timer = this.endAfter(this.times.awayMs ?? BROWSER_AWAY_MS);
    this.changed();
  }

  handBack(note: string | undefined): void {
    if (this.current === null) return;
    clearTimeout(this.current.timer);
    const { name } = this.current;
    const said = note?.trim() ? `, with this note:\n${note.trim()}\n` : '. ';
    // A second user may have had control before the agent's next action: its notice names both.
    this.pendingNotice = `${this.pendingNotice === null ? '' : `${this.pendingNotice}\n`}${name} had the browser and has handed it back${said}The page may be another one than you saw last.`;
    this.current = null;
    this.taken = new AbortController();
    for (const wake of this.waiting) wake();
    this.changed();
  }

  /**
   * One action of the agent. Its observation begins with the notice about the hand-over.
   *
   * @param looks whether the action reads the page itself; others are refused once after each hand-over.
   * @throws SlipwayError `browser.taken`: a user has control, took it meanwhile, or had it.
   */
  async agentActs<T extends SandboxObservation>(
    looks: boolean,
    signal: AbortSignal,
    act: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    while (this.current !== null) await this.handedBack(signal);
    const notice = this.pendingNotice;
    this.pendingNotice = null;
    if (notice !== null && !looks)
      throw new SlipwayError('browser.taken', `${notice} This was not done: look at the page first.`);
    const { signal: taken } = this.taken;
    try {
      const observation = await untilAborted(act(AbortSignal.any([signal, taken])), taken);
      return notice === null
        ? observation
        : { ...observation, content: [{ type: 'text', text: notice }, ...observation.content] };
    } catch (error) {
      if (notice !== null)
        this.pendingNotice = this.pendingNotice === null ? notice : `${notice}\n${this.pendingNotice}`;
      if (!taken.aborted || signal.aborted) throw error;
      throw new SlipwayError(
        'browser.taken',
        `${this.holder?.name ?? 'A user'} took control of the browser meanwhile; the action may be done, half done, or not done. Look at the page once you have control again.`,
      );
    }
  }

  close(): void {
    clearTimeout(this.current?.timer);
  }

  /** Resolves when no user has control. */
  private handedBack(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (result: () => void): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', aborted);
        this.waiting.delete(free);
        result();
      };
      const free = (): void => end(resolve);
      const aborted = (): void => end(() => reject(signal.reason));
      const timer = setTimeout(
        () => end(() => reject(new SlipwayError('browser.taken', this.stillTaken()))),
        this.times.waitMs ?? WAIT_MS,
      );
      this.waiting.add(free);
      signal.addEventListener('abort', aborted, { once: true });
      if (signal.aborted) aborted();
    });
  }

  private stillTaken(): string {
    return `A user has control of the browser: ${this.current?.name}. Nothing was done. Go on with what needs no browser; if there is nothing, say that you wait for it, and finish.`;
  }

  private endAfter(milliseconds: number): NodeJS.Timeout {
    return setTimeout(() => this.handBack(undefined), milliseconds).unref();
  }
}

/** A name is one line wherever it is read. */
function oneLine(name: string): string {
  return name.replaceAll(/\s+/gu, ' ').trim();
}
