import { encodeBrowserFrame } from '@slipway/contracts/live';
import type { CDPSession } from 'playwright-core';
import type { Frame } from './watcher.js';

/**
 * Frames that Chromium sends before one is acknowledged. What is painted while so many are on their way is never sent.
 */
const CHROMIUM_FRAMES = 3;
/**
 * Least time between two acknowledgements: thirty frames a second, which is what a page under work is worth of a
 * sandbox's processor. Milliseconds.
 */
const ACK_EVERY_MS = 33;
/** Without a further frame for this long the last one stands, and has to be the last that was painted. Milliseconds. */
const QUIET_MS = 150;
/**
 * A screencast that begins while the page is on its way to another process never gives a frame: it is restarted after
 * this long, then after twice as long. Milliseconds.
 */
const FIRST_FRAME_MS = 300;
const LONGEST_WAIT_MS = 2_400;
/** JPEG, of 100. Text stays readable; half the bytes of 80 and more. */
const QUALITY = 70;
/** Largest picture. Pixels. */
const MAX_WIDTH = 1_280;
const MAX_HEIGHT = 1_280;

interface CdpFrame {
  readonly data: string;
  /** The same for all frames of one start, and higher with the next. */
  readonly sessionId: number;
  readonly metadata: { readonly deviceWidth: number; readonly deviceHeight: number; readonly timestamp?: number };
}

/**
 * Pictures of one page, while a viewer can take one. Acknowledging is the pace: as long as no watcher is ready Chromium
 * gets no acknowledgement, and stops painting after three frames.
 */
export class Screencast {
  private sessionId = 0;
  /** Frames of this start not acknowledged to Chromium yet. */
  private owed = 0;
  /** Frames of this start that came. */
  private came = 0;
  /** When Chromium had the newest acknowledgements of this start, each. Milliseconds since 1970. */
  private ackedAt: number[] = [];
  /** Acknowledgements of this start that Chromium had. */
  private acked = 0;
  /** Whether something may have been painted after the last frame that came. */
  private maybeMissed = false;
  private firstFrameMs = FIRST_FRAME_MS;
  /** Whether it was begun and no frame of that has come yet. */
  private awaiting = false;
  private paused = false;
  private over = false;
  private lastAck = 0;
  private ackTimer: NodeJS.Timeout | undefined;
  private quietTimer: NodeJS.Timeout | undefined;

  /**
   * @param nextNumber of the frame after those of screencasts before this one.
   * @param show gives a frame to the watchers. @returns whether one of them can take a further one.
   */
  constructor(
    private readonly session: CDPSession,
    private readonly nextNumber: () => number,
    private readonly show: (frame: Frame) => boolean,
  ) {
    session.on('Page.screencastFrame', this.take);
  }

  async start(): Promise<void> {
    this.awaiting = true;
    this.paintAgainAfter(this.firstFrameMs);
    this.firstFrameMs = Math.min(LONGEST_WAIT_MS, this.firstFrameMs * 2);
    await this.session.send('Page.startScreencast', {
      format: 'jpeg',
      quality: QUALITY,
      maxWidth: MAX_WIDTH,
      maxHeight: MAX_HEIGHT,
    });
  }

  async stop(): Promise<void> {
    this.over = true;
    clearTimeout(this.ackTimer);
    clearTimeout(this.quietTimer);
    this.session.off('Page.screencastFrame', this.take);
    // A page that is closed has ended it by itself.
    await this.session.send('Page.stopScreencast').catch(() => undefined);
  }

  /** The page is another one: what it was painted as last may never have been sent. */
  renew(): void {
    this.maybeMissed = true;
    this.paintAgainAfter(QUIET_MS);
  }

  /** A watcher can take a frame again. */
  goOn(): void {
    this.paused = false;
    this.acknowledgeInTime();
  }

  private readonly take = ({ data, sessionId, metadata }: CdpFrame): void => {
    if (sessionId > this.sessionId) {
      this.sessionId = sessionId;
      this.owed = 0;
      this.came = 0;
      this.acked = 0;
      this.ackedAt = [];
      this.awaiting = false;
    }
    // A late frame of the start before this one does not say that this one gives any.
    if (!this.awaiting) {
      clearTimeout(this.quietTimer);
      this.firstFrameMs = FIRST_FRAME_MS;
    }
    this.owed += 1;
    if (this.onTheirWayAt((metadata.timestamp ?? 0) * 1_000) + 1 >= CHROMIUM_FRAMES) this.maybeMissed = true;
    this.came += 1;
    const number = this.nextNumber();
    const bytes = encodeBrowserFrame({
      number,
      width: Math.round(metadata.deviceWidth),
      height: Math.round(metadata.deviceHeight),
      paintedAt: (metadata.timestamp ?? 0) * 1_000,
      jpeg: Buffer.from(data, 'base64'),
    });
    this.paused = !this.show({ number, bytes });
    this.acknowledgeInTime();
  };

  private acknowledgeInTime(): void {
    if (this.over || this.paused || this.owed === 0 || this.ackTimer !== undefined) return;
    const wait = this.lastAck + ACK_EVERY_MS - performance.now();
    if (wait <= 0) return void this.acknowledge();
    this.ackTimer = setTimeout(() => {
      this.ackTimer = undefined;
      if (!this.paused) void this.acknowledge();
    }, wait).unref();
  }

  private async acknowledge(): Promise<void> {
    if (this.owed === 0) return;
    const { sessionId } = this;
    this.owed -= 1;
    this.lastAck = performance.now();
    this.acknowledgeInTime();
    try {
      await this.session.send('Page.screencastFrameAck', { sessionId });
    } catch {
      // The page is gone, and with it the screencast.
      return;
    }
    if (sessionId !== this.sessionId) return;
    this.acked += 1;
    this.ackedAt = [...this.ackedAt, Date.now()].slice(-CHROMIUM_FRAMES);
    if (this.acked === this.came && this.maybeMissed) this.paintAgainAfter(QUIET_MS);
  }

  /**
   * Frames of this start that Chromium counted as on their way at a moment. Its count begins with the painting, long
   * before a frame comes here when the encoder is slow, so a third one may have been painted, and have kept a fourth
   * back, while only one had come. @param at milliseconds since 1970, by Chromium's clock, which is ours.
   */
  private onTheirWayAt(at: number): number {
    return this.came - this.acked + this.ackedAt.filter((moment) => moment > at).length;
  }

  private paintAgainAfter(milliseconds: number): void {
    clearTimeout(this.quietTimer);
    if (!this.over) this.quietTimer = setTimeout(() => void this.paintAgain(), milliseconds).unref();
  }

  /** A restart gives the current picture of the page. */
  private async paintAgain(): Promise<void> {
    this.maybeMissed = false;
    try {
      await this.session.send('Page.stopScreencast');
      if (!this.over) await this.start();
    } catch {
      // The page is gone, and with it the screencast.
    }
  }
}
