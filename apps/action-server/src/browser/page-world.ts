import { SlipwayError } from '@slipway/errors';
import type { CDPSession, Frame } from 'playwright-core';
import type { Tab } from './tab.js';
import { within } from './within.js';

/** Name of our world in each document. */
const WORLD = 'slipway';
/** Most frames of a page that are read. */
const MAX_FRAMES = 12;
/** Longest that one script of ours may take before it is ended. Milliseconds. */
const SCRIPT_MS = 5_000;

const HANGS = 'The page does not answer: its script, or its size, keeps it busy.';

/** Where the frame stands in the window. CSS pixels. */
export interface Offset {
  readonly x: number;
  readonly y: number;
}

/** One document of a page, with a JavaScript world that is ours alone: it ends with the document. */
export class PageWorld {
  constructor(
    private readonly session: CDPSession,
    private readonly contextId: number,
    /** Of a frame that has a process, and so coordinates, of its own. */
    private readonly offset: (signal: AbortSignal) => Promise<Offset>,
    private readonly tab: Tab,
  ) {}

  /**
   * What the function answers for the argument, as JSON. @throws SlipwayError `browser.page-hangs`,
   * `browser.element-gone` when the document is no more.
   */
  async ask<T>(script: string, argument: unknown, signal: AbortSignal): Promise<T> {
    return answerOf<T>(await this.#evaluate(script, argument, true, signal));
  }

  /** An element by what the function answers; `null` when that is `null`. */
  async element(script: string, argument: unknown, signal: AbortSignal): Promise<PageElement | null> {
    const { objectId } = (await this.#evaluate(script, argument, false, signal)).result;
    return objectId === undefined ? null : new PageElement(this.session, objectId, this.offset, this.tab, signal);
  }

  #evaluate(script: string, argument: unknown, returnByValue: boolean, signal: AbortSignal): Promise<Evaluated> {
    const expression = `(${script})(${JSON.stringify(argument)})`;
    return sent(
      this.session.send('Runtime.evaluate', {
        expression,
        contextId: this.contextId,
        returnByValue,
        timeout: SCRIPT_MS,
      }),
      this.tab,
      signal,
    );
  }
}

/** One element of a page. */
export class PageElement {
  constructor(
    private readonly session: CDPSession,
    private readonly objectId: string,
    private readonly offset: (signal: AbortSignal) => Promise<Offset>,
    private readonly tab: Tab,
    private readonly signal: AbortSignal,
  ) {}

  /** What the function answers with the element as `this`. */
  async ask<T>(script: string, ...values: unknown[]): Promise<T> {
    const answer = await sent(
      this.session.send('Runtime.callFunctionOn', {
        functionDeclaration: script,
        objectId: this.objectId,
        arguments: values.map((value) => ({ value })),
        returnByValue: true,
        userGesture: true,
      }),
      this.tab,
      this.signal,
    );
    return answerOf<T>(answer);
  }

  /** Its middle in the window, scrolled to. @throws SlipwayError `browser.element-gone` when it is not shown. */
  async middle(): Promise<Offset> {
    const { objectId } = this;
    try {
      await sent(this.session.send('DOM.scrollIntoViewIfNeeded', { objectId }), this.tab, this.signal);
      const { quads } = await sent(this.session.send('DOM.getContentQuads', { objectId }), this.tab, this.signal);
      const [x1 = 0, y1 = 0, x2 = 0, y2 = 0, x3 = 0, y3 = 0, x4 = 0, y4 = 0] = quads[0] ?? [];
      if (quads.length > 0) {
        const { x, y } = await this.offset(this.signal);
        return { x: x + (x1 + x2 + x3 + x4) / 4, y: y + (y1 + y2 + y3 + y4) / 4 };
      }
    } catch (error) {
      if (error instanceof SlipwayError || this.signal.aborted) throw error;
    }
    throw new SlipwayError('browser.element-gone', 'The element is not shown on the page now. Read the state again.');
  }

  async setFile(file: string): Promise<void> {
    await sent(
      this.session.send('DOM.setFileInputFiles', { files: [file], objectId: this.objectId }),
      this.tab,
      this.signal,
    );
  }
}

/** The page's documents, the main one first: those of its own process, and frames of other sites, which have theirs. */
export async function worldsOf(tab: Tab, signal: AbortSignal): Promise<PageWorld[]> {
  const main = await tab.session();
  const worlds = await worldsIn(tab, main, async () => ({ x: 0, y: 0 }), signal);
  for (const frame of tab.page.frames().slice(1, MAX_FRAMES)) {
    if (worlds.length >= MAX_FRAMES) break;
    const session = await sessionOf(frame, tab, signal);
    if (session === null) continue;
    const offset = async (until: AbortSignal): Promise<Offset> => {
      const element = frame.frameElement();
      const box = await sent(
        element.then((owner) => owner.boundingBox()),
        tab,
        until,
      );
      return { x: box?.x ?? 0, y: box?.y ?? 0 };
    };
    const found = await unlessGone(worldsIn(tab, session, offset, signal), true);
    if (found === null) sessions.delete(frame);
    else worlds.push(...found);
  }
  return worlds.slice(0, MAX_FRAMES);
}

/** Answer of a document; `null` for a frame that vanishes meanwhile, which does not fail the page. */
export async function unlessGone<T>(work: Promise<T>, isFrame: boolean): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (isFrame && error instanceof SlipwayError && error.code === 'browser.element-gone') return null;
    throw error;
  }
}

/** Of frames with a process of their own, while they have it: each is asked for once. */
const sessions = new WeakMap<Frame, CDPSession>();

/** `null` for a frame of the page's own process, which is among the first. */
async function sessionOf(frame: Frame, tab: Tab, signal: AbortSignal): Promise<CDPSession | null> {
  const known = sessions.get(frame);
  if (known !== undefined) return known;
  try {
    const session = await sent(tab.page.context().newCDPSession(frame), tab, signal);
    sessions.set(frame, session);
    session.once('close', () => sessions.delete(frame));
    return session;
  } catch (error) {
    if (error instanceof SlipwayError || signal.aborted) throw error;
    return null;
  }
}

async function worldsIn(
  tab: Tab,
  session: CDPSession,
  offset: (signal: AbortSignal) => Promise<Offset>,
  signal: AbortSignal,
): Promise<PageWorld[]> {
  const { frameTree } = await sent(session.send('Page.getFrameTree'), tab, signal);
  const worlds: PageWorld[] = [];
  const visit = async (tree: typeof frameTree): Promise<void> => {
    if (worlds.length >= MAX_FRAMES) return;
    const made = await sent(
      session.send('Page.createIsolatedWorld', { frameId: tree.frame.id, worldName: WORLD }),
      tab,
      signal,
    ).catch((error) => {
      if ((error instanceof SlipwayError && error.code === 'browser.page-hangs') || signal.aborted) throw error;
      return null;
    });
    if (made !== null) worlds.push(new PageWorld(session, made.executionContextId, offset, tab));
    for (const child of tree.childFrames ?? []) await visit(child);
  };
  await visit(frameTree);
  return worlds;
}

interface Evaluated {
  readonly result: { readonly value?: unknown; readonly objectId?: string };
  readonly exceptionDetails?: unknown;
}

function answerOf<T>({ result, exceptionDetails }: Evaluated): T {
  if (exceptionDetails !== undefined)
    throw new SlipwayError('browser.page-failed', 'The page is too large to be read.');
  return result.value as T;
}

/** With a bound in time, and with the failure of a document that has gone as our own. */
async function sent<T>(work: Promise<T>, tab: Tab, signal: AbortSignal): Promise<T> {
  try {
    return await within(work, tab.patienceMs, signal, HANGS);
  } catch (error) {
    if (error instanceof SlipwayError || signal.aborted) throw error;
    const said = error instanceof Error ? error.message : String(error);
    if (/terminated/i.test(said))
      throw new SlipwayError('browser.page-failed', 'The page is too large to be read.', { cause: error });
    if (
      /Cannot find context|Execution context|Could not find (?:node|object)|Cannot find object|detached|navigat|has been closed/i.test(
        said,
      )
    )
      throw new SlipwayError(
        'browser.element-gone',
        'The page has changed since its state was read. Read the state again, and use the numbers of that.',
        {
          cause: error,
        },
      );
    throw error;
  }
}
