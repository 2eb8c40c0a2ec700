import { z } from 'zod';

/**
 * The live channel `browser`: a user views the agent's browser, and may take control. Text frames are these messages,
 * either way; binary frames from the server are pictures of the page (`decodeBrowserFrame`).
 */

/** Frames that may be on their way to one watcher: so many, and then one for each that it says it has `seen`. */
export const BROWSER_FRAMES_UNSEEN = 3;
/** How long a disconnected user keeps control of the browser. Milliseconds. */
export const BROWSER_AWAY_MS = 60_000;
/** Errors of pages that are kept and shown, the newest. */
export const MAX_BROWSER_ERRORS = 100;
/** Longest text of one of them, and of a title; UTF-16 code units. */
export const MAX_BROWSER_TEXT = 1_000;
/** Longest address that is shown or taken. UTF-16 code units. */
export const MAX_BROWSER_ADDRESS = 4_096;
/** Longest text that is pasted at once. UTF-16 code units. */
export const MAX_BROWSER_PASTE = 100_000;
export const MAX_BROWSER_NOTE = 2_000;

/** In CSS pixels of the page's viewport. A place outside of it is taken as its edge. */
const place = { x: z.number().min(-10_000).max(100_000), y: z.number().min(-10_000).max(100_000) };
/** 1 Alt, 2 Control, 4 Meta, 8 Shift. */
const modifiers = z.int().min(0).max(15);

/** User → browser. All but `seen` and `take` is refused to users without control. */
export const BrowserLiveRequest = z.discriminatedUnion('type', [
  /** This frame is on the screen. */
  z.object({ type: z.literal('seen'), frame: z.int().nonnegative() }),
  /**
   * `hold` is a secret of this user's page: after a disconnection it takes control again. `name` is
   * what the others see.
   */
  z.object({ type: z.literal('take'), name: z.string().trim().min(1).max(100), hold: z.uuid() }),
  /** `note` is for the agent, which reads it with what it sees next of the browser. */
  z.object({ type: z.literal('hand-back'), note: z.string().max(MAX_BROWSER_NOTE).optional() }),
  /** What a user types as an address. */
  z.object({ type: z.literal('go'), address: z.string().min(1).max(MAX_BROWSER_ADDRESS) }),
  z.object({ type: z.literal('history'), step: z.enum(['back', 'forward', 'reload']) }),
  z.object({ type: z.literal('tab'), id: z.string().min(1).max(100), act: z.enum(['show', 'close']) }),
  z.object({
    type: z.literal('pointer'),
    act: z.enum(['move', 'press', 'release']),
    ...place,
    /** Which button was pressed or released; `none` for a move. */
    button: z.enum(['none', 'left', 'middle', 'right']),
    /** Which are held now: 1 left, 2 right, 4 middle. */
    buttons: z.int().min(0).max(7),
    /** 2 is a double click. */
    clicks: z.int().min(0).max(3),
    modifiers,
  }),
  z.object({
    type: z.literal('wheel'),
    ...place,
    dx: z.number().min(-10_000).max(10_000),
    dy: z.number().min(-10_000).max(10_000),
    modifiers,
  }),
  z.object({
    type: z.literal('key'),
    act: z.enum(['press', 'release']),
    /** `key`, `code`, `keyCode` and `location` as in the DOM's `KeyboardEvent`. */
    key: z.string().min(1).max(40),
    code: z.string().max(40),
    keyCode: z.int().min(0).max(255),
    location: z.int().min(0).max(3),
    modifiers,
  }),
  /** Text that no key stands for: pasted, or made by an input method. */
  z.object({ type: z.literal('insert'), text: z.string().min(1).max(MAX_BROWSER_PASTE) }),
]);
export type BrowserLiveRequest = z.infer<typeof BrowserLiveRequest>;

export const BrowserTab = z.object({ id: z.string(), title: z.string(), address: z.string(), shown: z.boolean() });
export type BrowserTab = z.infer<typeof BrowserTab>;

export const BrowserPageError = z.object({
  /** Counts up over the lifetime of the browser. */
  number: z.int().positive(),
  /** Where it came from: the page's console, an exception that nothing caught, or a page that broke. */
  kind: z.enum(['console', 'exception', 'crash']),
  text: z.string(),
  /** Address of the page. */
  page: z.string(),
  at: z.iso.datetime(),
});
export type BrowserPageError = z.infer<typeof BrowserPageError>;

/** All that is known but the errors; sent whole when any of it changes, and to a newcomer. */
export const BrowserState = z.object({
  type: z.literal('state'),
  /** `lacking`: the image has no browser. `closed`: the agent has not opened it, or it has ended. */
  phase: z.enum(['lacking', 'closed', 'open']),
  /** Why there is none, in a sentence; `null` unless `lacking`. */
  missing: z.string().nullable(),
  address: z.string(),
  title: z.string(),
  loading: z.boolean(),
  /** In the order in which they were opened. */
  tabs: z.array(BrowserTab),
  /** CSS pixels. */
  viewport: z.object({ width: z.int().nonnegative(), height: z.int().nonnegative() }),
  /** User in control; `away` when that user is disconnected. `null`: the agent has it. */
  holder: z.object({ name: z.string(), away: z.boolean(), since: z.iso.datetime() }).nullable(),
  /** Whether that is this connection. */
  yours: z.boolean(),
});
export type BrowserState = z.infer<typeof BrowserState>;

/** Browser → user. */
export const BrowserLiveMessage = z.discriminatedUnion('type', [
  BrowserState,
  /** What came since the last such message; to a newcomer, all that are kept. */
  z.object({ type: z.literal('errors'), errors: z.array(BrowserPageError) }),
  /**
   * For this user alone, in a sentence: a request that was not carried out, or a prompt of the page that was dismissed.
   */
  z.object({ type: z.literal('notice'), text: z.string() }),
]);
export type BrowserLiveMessage = z.infer<typeof BrowserLiveMessage>;

/** Number, width, height, time of the paint. */
const HEADER_BYTES = 4 + 2 + 2 + 8;

export interface BrowserFrame {
  /** Counts up over the lifetime of the browser; sent back as `seen`. */
  readonly number: number;
  /** Of the page's viewport, in CSS pixels; the picture itself may be smaller. */
  readonly width: number;
  readonly height: number;
  /** When the page was painted, by the sandbox's clock. Milliseconds since 1970. */
  readonly paintedAt: number;
  readonly jpeg: Uint8Array<ArrayBuffer>;
}

export function encodeBrowserFrame({ number, width, height, paintedAt, jpeg }: BrowserFrame): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(HEADER_BYTES + jpeg.length);
  const header = new DataView(bytes.buffer);
  header.setUint32(0, number);
  header.setUint16(4, width);
  header.setUint16(6, height);
  header.setFloat64(8, paintedAt);
  bytes.set(jpeg, HEADER_BYTES);
  return bytes;
}

/** `null` for what is no frame. The picture is a view of `bytes`. */
export function decodeBrowserFrame(bytes: Uint8Array<ArrayBuffer>): BrowserFrame | null {
  if (bytes.length <= HEADER_BYTES) return null;
  const header = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
  return {
    number: header.getUint32(0),
    width: header.getUint16(4),
    height: header.getUint16(6),
    paintedAt: header.getFloat64(8),
    jpeg: bytes.subarray(HEADER_BYTES),
  };
}
