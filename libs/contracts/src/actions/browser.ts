import { z } from 'zod';
import { baseObservation } from './observation.js';
import type { ToolContract } from './tool-contract.js';

/** Longest address that the browser is sent to. UTF-16 code units. */
export const MAX_BROWSER_URL_LENGTH = 8_192;
/** Longest text that one action types. UTF-16 code units. */
export const MAX_TYPED_LENGTH = 100_000;

/** Of an element in the last state. */
const index = z.int().min(0).max(1_000_000);
/** Four characters, as the list of tabs shows it. */
const tabId = z.string().min(1).max(40);

export const BrowserNavigateAction = z.looseObject({
  kind: z.literal('BrowserNavigateAction'),
  /** http, https, or `file:` of the workspace; without a scheme https, and http for this machine. */
  url: z.string().min(1).max(MAX_BROWSER_URL_LENGTH),
  new_tab: z.boolean().default(false),
});
/**
 * In any action of a browser: `false` takes no file that a page gives, until another action does without it. Set by us,
 * never by a model.
 */
export const KEEPS_DOWNLOADS = 'keeps_downloads';
export const BrowserClickAction = z.looseObject({
  kind: z.literal('BrowserClickAction'),
  index,
  new_tab: z.boolean().default(false),
});
export const BrowserTypeAction = z.looseObject({
  kind: z.literal('BrowserTypeAction'),
  index,
  /**
   * Takes the place of what is there; a line feed is the Enter key. For a list its option, for a file field a path in
   * the workspace. `<secret>NAME</secret>` stands for the value of that secret, where its site takes it.
   */
  text: z.string().max(MAX_TYPED_LENGTH),
});
export const BrowserGetStateAction = z.looseObject({
  kind: z.literal('BrowserGetStateAction'),
  include_screenshot: z.boolean().default(false),
});
export const BrowserGetContentAction = z.looseObject({
  kind: z.literal('BrowserGetContentAction'),
  extract_links: z.boolean().default(false),
  start_from_char: z.int().min(0).default(0),
});
export const BrowserScrollAction = z.looseObject({
  kind: z.literal('BrowserScrollAction'),
  direction: z.enum(['up', 'down']).default('down'),
});
export const BrowserGoBackAction = z.looseObject({ kind: z.literal('BrowserGoBackAction') });
export const BrowserListTabsAction = z.looseObject({ kind: z.literal('BrowserListTabsAction') });
export const BrowserSwitchTabAction = z.looseObject({ kind: z.literal('BrowserSwitchTabAction'), tab_id: tabId });
export const BrowserCloseTabAction = z.looseObject({ kind: z.literal('BrowserCloseTabAction'), tab_id: tabId });
export const BrowserGetStorageAction = z.looseObject({ kind: z.literal('BrowserGetStorageAction') });

/**
 * What a browser is signed in as: cookies, and what sites have stored. In the form of `BrowserGetStorageAction`'s
 * answer.
 */
export const BrowserStorage = z.object({
  cookies: z
    .array(
      z.object({
        name: z.string().max(4_096),
        value: z.string().max(4_096),
        domain: z.string().min(1).max(253),
        path: z.string().max(1_024).default('/'),
        /** Unix time in seconds; -1: with the browser. */
        expires: z.number().default(-1),
        httpOnly: z.boolean().default(false),
        secure: z.boolean().default(false),
        sameSite: z.enum(['Strict', 'Lax', 'None']).default('Lax'),
      }),
    )
    .max(1_000)
    .default([]),
  origins: z
    .array(
      z.object({
        origin: z.string().max(1_024),
        localStorage: z
          .array(z.object({ name: z.string().max(100_000), value: z.string().max(1_000_000) }))
          .max(1_000)
          .default([]),
      }),
    )
    .max(20)
    .default([]),
});
export type BrowserStorage = z.output<typeof BrowserStorage>;
export const BrowserSetStorageAction = z.looseObject({
  kind: z.literal('BrowserSetStorageAction'),
  storage_state: BrowserStorage,
});
/**
 * What the tabs show, as rrweb's events, in `downloads/` of the workspace until it is stopped, is full or is too old.
 */
export const BrowserStartRecordingAction = z.looseObject({ kind: z.literal('BrowserStartRecordingAction') });
export const BrowserStopRecordingAction = z.looseObject({ kind: z.literal('BrowserStopRecordingAction') });

/** What the browser can be asked to do. One browser a sandbox; its actions are done one after another. */
export const BROWSER_ACTIONS = [
  BrowserNavigateAction,
  BrowserClickAction,
  BrowserTypeAction,
  BrowserGetStateAction,
  BrowserGetContentAction,
  BrowserScrollAction,
  BrowserGoBackAction,
  BrowserListTabsAction,
  BrowserSwitchTabAction,
  BrowserCloseTabAction,
  BrowserGetStorageAction,
  BrowserSetStorageAction,
  BrowserStartRecordingAction,
  BrowserStopRecordingAction,
] as const;
export const BrowserAction = z.discriminatedUnion('kind', BROWSER_ACTIONS);
export type BrowserAction = z.output<typeof BrowserAction>;

export const BrowserObservation = baseObservation.extend({
  kind: z.literal('BrowserObservation'),
  /**
   * JPEG in base64, as OpenHands' clients read it; the model and the screen have it from `content`. `null` in the log.
   */
  screenshot_data: z.string().nullable(),
  full_output_save_dir: z.string().nullable(),
  /** Where the browser is after the action; `null` when it does not run. */
  page: z.object({ url: z.string(), title: z.string(), tab_id: z.string() }).nullable(),
});
export type BrowserObservation = z.infer<typeof BrowserObservation>;

export const BROWSER_TOOLS = BROWSER_ACTIONS.map(
  <A extends (typeof BROWSER_ACTIONS)[number]>(action: A) =>
    ({
      action,
      observation: BrowserObservation,
      runsIn: 'sandbox',
      activity: 'browser',
      openhands: {
        action: Object.keys(action.shape).filter((field) => field !== 'kind'),
        observation: ['screenshot_data', 'full_output_save_dir'],
      },
    }) as const satisfies ToolContract,
);
