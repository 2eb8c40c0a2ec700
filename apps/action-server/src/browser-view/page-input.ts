import type { BrowserLiveRequest } from '@slipway/contracts/live';
import type { CDPSession } from 'playwright-core';

type Input<T extends BrowserLiveRequest['type'] = 'pointer' | 'wheel' | 'key' | 'insert'> = Extract<
  BrowserLiveRequest,
  { type: T }
>;

/** Most that waits for a slow page, moves and turns of the wheel joined. */
const MAX_WAITING = 100;
/** Most that is taken in a second: four times what two hands do. */
const MAX_A_SECOND = 200;
/** A page that takes longer for one event hangs; what waits is dropped. Milliseconds. */
const ANSWER_MS = 5_000;

const BUTTON_BITS = { none: 0, left: 1, right: 2, middle: 4 } as const;
/** Control, Meta: with these a letter is a command and no text. */
const COMMAND_MODIFIERS = 2 + 4;

/**
 * Sends a user's mouse, wheel and keyboard input to one page in order, one after the other.
 *
 * @remarks Chromium answers an event when the page has handled it, so the page sets the pace.
 */
export class PageInput {
  private readonly waiting: Input[] = [];
  private readonly keys = new Map<string, Input<'key'>>();
  private pointer: Input<'pointer'> | undefined;
  private busy = false;
  private over = false;
  private second = { began: 0, count: 0 };

  /** @param failed called with a sentence for the user when input was not applied. */
  constructor(
    private readonly session: CDPSession,
    private readonly viewport: () => { width: number; height: number },
    private readonly failed: (reason: string) => void,
  ) {}

  add(input: Input): void {
    if (this.over || this.joined(input)) return;
    // What is pressed has to be let go of, so that is taken longer than anything else.
    const release = 'act' in input && input.act === 'release';
    if (!release && !this.inTime()) this.failed('That was too much at once; some of it was left out.');
    else if (this.waiting.length >= (release ? 2 : 1) * MAX_WAITING)
      this.failed('The page is slow; some of what you did was left out.');
    else {
      this.waiting.push(input);
      if (!this.busy) void this.work();
    }
  }

  /** Releases held keys and buttons, and drops pending input: no user is left to do it. */
  letGo(): void {
    this.waiting.length = 0;
    for (const key of this.keys.values())
      void this.dispatch({ ...key, act: 'release', modifiers: 0 }).catch(() => undefined);
    const { pointer } = this;
    if (pointer === undefined) return;
    for (const button of ['left', 'right', 'middle'] as const)
      if (pointer.buttons & BUTTON_BITS[button])
        void this.dispatch({ ...pointer, act: 'release', button, buttons: 0, modifiers: 0 }).catch(() => undefined);
  }

  end(): void {
    this.over = true;
    this.letGo();
  }

  /** A move after a move, or a turn of the wheel after one, is one of both: only where it ends counts. */
  private joined(input: Input): boolean {
    const last = this.waiting.at(-1);
    if (last === undefined || !('modifiers' in last) || !('modifiers' in input) || last.modifiers !== input.modifiers)
      return false;
    if (last.type === 'wheel' && input.type === 'wheel') {
      this.waiting[this.waiting.length - 1] = { ...input, dx: last.dx + input.dx, dy: last.dy + input.dy };
      return true;
    }
    const moves =
      last.type === 'pointer' &&
      input.type === 'pointer' &&
      last.act === 'move' &&
      input.act === 'move' &&
      last.buttons === input.buttons;
    if (moves) this.waiting[this.waiting.length - 1] = input;
    return moves;
  }

  private inTime(): boolean {
    const now = performance.now();
    if (now - this.second.began > 1_000) this.second = { began: now, count: 0 };
    this.second.count += 1;
    return this.second.count <= MAX_A_SECOND;
  }

  private async work(): Promise<void> {
    this.busy = true;
    for (let input = this.waiting.shift(); input !== undefined; input = this.waiting.shift()) {
      try {
        await inTime(this.dispatch(input));
      } catch (error) {
        this.waiting.length = 0;
        if (!this.over)
          this.failed(error === LATE ? 'The page does not answer. Reload it, or open another.' : 'The page is gone.');
      }
    }
    this.busy = false;
  }

  private dispatch(input: Input): Promise<unknown> {
    switch (input.type) {
      case 'pointer':
        this.pointer = input;
        return this.session.send('Input.dispatchMouseEvent', {
          type: ({ move: 'mouseMoved', press: 'mousePressed', release: 'mouseReleased' } as const)[input.act],
          ...this.inside(input),
          button: input.button,
          buttons: input.buttons,
          clickCount: input.clicks,
          modifiers: input.modifiers,
        });
      case 'wheel':
        return this.session.send('Input.dispatchMouseEvent', {
          type: 'mouseWheel',
          ...this.inside(input),
          deltaX: input.dx,
          deltaY: input.dy,
          modifiers: input.modifiers,
        });
      case 'key':
        return this.key(input);
      case 'insert':
        return this.session.send('Input.insertText', { text: input.text });
    }
  }

  private key(input: Input<'key'>): Promise<unknown> {
    const { act, key, code, keyCode, location, modifiers } = input;
    const held = this.keys.has(code);
    if (act === 'press') this.keys.set(code, input);
    else this.keys.delete(code);
    const text =
      act === 'release' || modifiers & COMMAND_MODIFIERS
        ? ''
        : key === 'Enter'
          ? '\r'
          : [...key].length === 1
            ? key
            : '';
    return this.session.send('Input.dispatchKeyEvent', {
      type: act === 'release' ? 'keyUp' : text === '' ? 'rawKeyDown' : 'keyDown',
      key,
      code,
      windowsVirtualKeyCode: keyCode,
      location,
      isKeypad: location === 3,
      autoRepeat: act === 'press' && held,
      modifiers,
      ...(text === '' ? {} : { text, unmodifiedText: text }),
    });
  }

  private inside({ x, y }: { x: number; y: number }): { x: number; y: number } {
    const { width, height } = this.viewport();
    return {
      x: Math.min(Math.max(x, 0), Math.max(width - 1, 0)),
      y: Math.min(Math.max(y, 0), Math.max(height - 1, 0)),
    };
  }
}

const LATE = new Error('the page did not answer in time');

async function inTime(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(LATE), ANSWER_MS);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
