import type { ProviderClient } from '../calls/provider-client.js';

/** Webhooks of a connection's app at its provider, as of the last check. */
export interface AppHookState {
  readonly ids: readonly string[];
  /** What they are limited to, in the provider's words. */
  readonly filter: string;
  /** `null`: there are none. */
  readonly expiresAt: string | null;
  /** Why there are none, or not those that should be; `null`: all is well. */
  readonly problem: string | null;
}

/** How the webhooks of an app are kept where they end by themselves. */
export interface AppHooks {
  /** The scheme that they are signed by: connections that require another have none. */
  readonly signature: string;
  /** Of the API that takes the connection's token. */
  readonly apiUrl: (baseUrl: string) => string;
  readonly authorization: (token: string) => string;
  /**
   * Makes what is missing, renews what ends soon, removes what is too many. Repeatable. @param known of the previous
   * check. @throws ProviderRefusal
   */
  readonly keep: (
    api: ProviderClient,
    wanted: { readonly url: string; readonly known: AppHookState | null; readonly now: Date },
  ) => Promise<AppHookState>;
}
