import { type BrowserAction, type BrowserObservation } from '@slipway/contracts/actions';
import { BrowserLiveRequest, type BrowserState } from '@slipway/contracts/live';
import { SlipwayError } from '@slipway/errors';
import { addressOf, placeOf } from '../browser/address.js';
import type { Browser } from '../browser/browser.js';
import type { LiveChannel, LiveConnection } from '../http/live.js';
import { HandOver, type HandOverTimes } from './hand-over.js';
import { Sight } from './sight.js';
import { Watcher } from './watcher.js';

/** Interval over which changes are sent together. Milliseconds; below what a user notices. */
const STATE_DELAY_MS = 40;
/** Longest start of a browser that a user asks for. Milliseconds. */
const START_MS = 60_000;

/** Whether an action finds out by itself what the page is like. The others go by what the agent saw before. */
const LOOKS: Record<BrowserAction['kind'], boolean> = {
  BrowserNavigateAction: true,
  BrowserGetStateAction: true,
  BrowserGetContentAction: true,
  BrowserScrollAction: true,
  BrowserListTabsAction: true,
  BrowserGetStorageAction: true,
  BrowserSetStorageAction: true,
  BrowserStartRecordingAction: true,
  BrowserStopRecordingAction: true,
  BrowserClickAction: false,
  BrowserTypeAction: false,
  BrowserGoBackAction: false,
  BrowserSwitchTabAction: false,
  BrowserCloseTabAction: false,
};

/** What only who has the browser may ask for. */
type Deed = Exclude<BrowserLiveRequest, { type: 'seen' | 'take' }>;

/** The user's view of the agent's browser, live channel `browser`: its picture for viewers, and who has control. */
export class BrowserView {
  private readonly watchers = new Map<LiveConnection, Watcher>();
  private readonly sight: Sight;
  private readonly handOver: HandOver;
  private state: BrowserState;
  private stateText = '';
  private pendingState: NodeJS.Timeout | undefined;

  constructor(
    private readonly browser: Browser,
    times: HandOverTimes = {},
  ) {
    this.sight = new Sight(browser, {
      changed: () => {
        this.pendingState ??= setTimeout(() => this.sendState(), STATE_DELAY_MS);
      },
      painted: () => {
        for (const [connection, watcher] of this.watchers) this.update(connection, watcher);
        return this.someReady;
      },
      notice: (text) => {
        for (const [connection, watcher] of this.watchers) if (this.handOver.has(connection)) watcher.notice(text);
      },
    });
    this.handOver = new HandOver(() => this.handedOver(), times);
    this.state = this.stateNow();
  }

  /**
   * One action of the agent, run when no user has control. @throws SlipwayError `browser.taken`; the signal's reason.
   */
  execute(action: BrowserAction, signal: AbortSignal): Promise<BrowserObservation> {
    return this.handOver.agentActs(LOOKS[action.kind], signal, (own) => this.browser.execute(action, own));
  }

  readonly channel: LiveChannel = (connection) => {
    const watcher = new Watcher(connection);
    this.watchers.set(connection, watcher);
    connection.signal.addEventListener('abort', () => {
      this.watchers.delete(connection);
      this.handOver.gone(connection);
      this.watch();
    });
    connection.onDrain(() => this.update(connection, watcher));
    connection.onMessage((message) => {
      const request = BrowserLiveRequest.safeParse(message);
      if (!request.success) throw new Error('this channel takes no such message');
      this.handle(connection, watcher, request.data);
    });
    this.sendState();
    this.watch();
  };

  close(): void {
    clearTimeout(this.pendingState);
    this.handOver.close();
    this.sight.close();
  }

  private handle(connection: LiveConnection, watcher: Watcher, request: BrowserLiveRequest): void {
    if (request.type === 'take') {
      const refused = this.handOver.take(connection, request);
      if (refused !== null) watcher.notice(refused);
    } else if (request.type === 'seen') {
      watcher.seen(request.frame);
      this.update(connection, watcher);
    } else if (this.handOver.has(connection)) {
      this.handOver.used();
      void this.act(request).catch((error: unknown) => {
        watcher.notice(
          error instanceof SlipwayError
            ? error.detail
            : 'That could not be done: the page is gone, or does not answer.',
        );
      });
    } else watcher.notice('Take the browser first.');
  }

  private async act(request: Deed): Promise<void> {
    switch (request.type) {
      case 'hand-back':
        return this.handOver.handBack(request.note);
      case 'go':
        return this.go(request.address);
      case 'history':
        return this.sight.shown?.history(request.step);
      case 'tab': {
        const tabs = this.browser.running?.tabs;
        const tab = tabs?.named(request.id);
        if (tab !== undefined) await (request.act === 'show' ? tabs?.show(tab) : tabs?.close(tab));
        return;
      }
      default:
        // A user's action is not a page that blocks the agent.
        this.browser.current()?.forgive();
        this.sight.shown?.input.add(request);
    }
  }

  /** A user may also be the first to open the browser. */
  private async go(address: string): Promise<void> {
    const url = await addressOf(address, this.browser.options.workspace);
    await this.browser.open(placeOf(url), AbortSignal.timeout(START_MS));
    await this.sight.look();
    await this.sight.shown?.go(url);
  }

  private handedOver(): void {
    const { holder } = this.handOver;
    if (holder === null || holder.away) this.sight.shown?.input.letGo();
    this.watch();
    this.sendState();
  }

  private watch(): void {
    this.sight.watch(this.watchers.size > 0, this.handOver.holder !== null);
  }

  private sendState(): void {
    clearTimeout(this.pendingState);
    this.pendingState = undefined;
    const state = this.stateNow();
    const text = JSON.stringify(state);
    // The same object says that nothing is another.
    if (text !== this.stateText) this.state = state;
    this.stateText = text;
    for (const [connection, watcher] of this.watchers) this.update(connection, watcher);
  }

  /** Sends this viewer what is new to it; if it can take more, the page is asked for more. */
  private update(connection: LiveConnection, watcher: Watcher): void {
    const { errors, frame, shown } = this.sight;
    watcher.update({ frame, state: this.state, yours: this.handOver.has(connection), errors });
    if (watcher.ready) shown?.goOn();
  }

  private get someReady(): boolean {
    return [...this.watchers.values()].some(({ ready }) => ready);
  }

  private stateNow(): BrowserState {
    const { holder } = this.handOver;
    return {
      type: 'state',
      ...this.sight.facts,
      holder: holder === null ? null : { name: holder.name, away: holder.away, since: holder.since.toISOString() },
      yours: false,
    };
  }
}
