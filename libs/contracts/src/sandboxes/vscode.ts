import { z } from 'zod';

/** VS Code in the browser, where the sandbox's image has it. */

/** `POST /vscode/open` of action-server: starts it unless it runs. */
export const OpenVscodeRequest = z.object({
  /** Address to listen on: where sandbox-gateway finds agent-server, it finds this. */
  host: z.string().min(1).max(100),
});
/**
 * `port: null` with the reason: this image has none, or it does not start. Whoever has the token and reaches the port
 * has the sandbox.
 */
export const OpenVscodeResponse = z.discriminatedUnion('open', [
  z.object({ open: z.literal(true), port: z.int(), token: z.string() }),
  z.object({ open: z.literal(false), reason: z.string() }),
]);
export type OpenVscodeResponse = z.infer<typeof OpenVscodeResponse>;

/** `GET /api/vscode/status`. `message` says why it is not enabled. */
export const VscodeStatus = z.object({ running: z.boolean(), enabled: z.boolean(), message: z.string().optional() });
export type VscodeStatus = z.infer<typeof VscodeStatus>;

/** `GET /api/vscode/url`; OpenHands' clients know the first alone. */
export const VscodeUrl = z.object({ url: z.string().nullable(), reason: z.string().nullable() });

/** `POST …/editor` of the app. */
export const OpenEditor = z.object({
  /**
   * To be opened on the port's own origin, with an access to it (`POST …/sandbox-access`); it holds the editor's token.
   * `null`: there is no editor.
   */
  path: z.string().nullable(),
  port: z.int(),
  /** Why there is none. A sentence. */
  reason: z.string().nullable(),
});
export type OpenEditor = z.infer<typeof OpenEditor>;
