import { z } from 'zod';

/**
 * The live channel `terminal`. Without a query it is the list of shells, JSON both ways (`TerminalLive…`). With
 * `?shell=ID` it is one of them (`ShellLive…`): binary frames are what it writes, beginning with what is kept of it,
 * and what is typed. A shell outlives every socket; it ends by itself, by `close-shell`, or with the sandbox.
 */

/** Most shells of people at once, and most of the agent's that are shown. */
export const MAX_SHELLS = 8;
/** What is kept of each shell's output, and shown to whoever comes. Bytes. */
export const SHELL_SCROLLBACK_BYTES = 512 * 1024;
/** What is sent of a shell's output before the reader says that it has shown it. Bytes. */
export const SHELL_WINDOW_BYTES = 256 * 1024;
/** Longest input that waits for a program that does not read. Bytes. */
export const MAX_SHELL_INPUT_BYTES = 1024 * 1024;

const size = { cols: z.int().min(2).max(1000), rows: z.int().min(1).max(500) };

export const LiveShell = z.object({
  id: z.string(),
  /** Read-only for the agent's terminal, whose size is fixed. */
  owner: z.enum(['person', 'agent']),
  title: z.string(),
  ...size,
  /** `null` while it runs; 128 + n for signal n. */
  exitCode: z.int().nullable(),
});
export type LiveShell = z.infer<typeof LiveShell>;

/** User → sandbox, on the list. */
export const TerminalLiveRequest = z.discriminatedUnion('type', [
  /** Answered by `opened` or `not-opened`. */
  z.object({ type: z.literal('open-shell'), ...size }),
  /** Ends it, with what it runs, and takes it off the list. */
  z.object({ type: z.literal('close-shell'), shell: z.string() }),
]);
export type TerminalLiveRequest = z.infer<typeof TerminalLiveRequest>;

/** Sandbox → user, on the list. */
export const TerminalLiveMessage = z.discriminatedUnion('type', [
  /** All of them: at first, and after each change. */
  z.object({ type: z.literal('shells'), shells: z.array(LiveShell) }),
  z.object({ type: z.literal('opened'), shell: z.string() }),
  z.object({ type: z.literal('not-opened'), reason: z.string() }),
]);
export type TerminalLiveMessage = z.infer<typeof TerminalLiveMessage>;

/** User → sandbox, on one shell. */
export const ShellLiveRequest = z.discriminatedUnion('type', [
  /** One size for all viewers: the last request sets it. */
  z.object({ type: z.literal('resize'), ...size }),
  /** Ctrl-C to the program in the foreground, also to one that has turned the key off. */
  z.object({ type: z.literal('interrupt') }),
  /** Everything before the `mark` with this number is on the screen. */
  z.object({ type: z.literal('seen'), at: z.int().nonnegative() }),
]);
export type ShellLiveRequest = z.infer<typeof ShellLiveRequest>;

/** Sandbox → user, on one shell. */
export const ShellLiveMessage = z.discriminatedUnion('type', [
  /** First. Begin with an empty screen; what is kept comes next. `cut`: there was more before that. */
  z.object({ type: z.literal('attached'), shell: LiveShell, cut: z.boolean() }),
  /**
   * What was kept has been sent: what follows happens now. Until then the terminal must answer nothing that the bytes
   * ask of it.
   */
  z.object({ type: z.literal('caught-up') }),
  /** Between bytes: answer with `seen` once those before it are on the screen. How many have been sent so far. */
  z.object({ type: z.literal('mark'), at: z.int().nonnegative() }),
  /** This reader was slower than what is kept: so many bytes are left out here. */
  z.object({ type: z.literal('skipped'), bytes: z.int().nonnegative() }),
  z.object({ type: z.literal('resized'), ...size }),
  /** What was typed was thrown away, all of this frame. */
  z.object({ type: z.literal('not-typed'), reason: z.string() }),
  /** After its last byte. */
  z.object({ type: z.literal('ended'), exitCode: z.int() }),
]);
export type ShellLiveMessage = z.infer<typeof ShellLiveMessage>;
